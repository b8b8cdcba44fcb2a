/** Who this browser is: the token of the server and the key of a seat, which addresses have behind the #. */

import { keep, keeps, recall } from "./kept.js";

const TOKEN = "token";

const given = new URLSearchParams(location.hash.slice(1));
if (given.has(TOKEN)) keep(TOKEN, given.get(TOKEN) ?? "");

/** The token that the server printed; empty where it needs none. */
export const token = recall(TOKEN, "");

/** The key of the seat for which this address was made; empty for seats that need none. */
export const key = given.get("key") ?? "";

/** Whether this page was opened by a name that means this machine, on every machine another one. */
export const onThisMachine = /^(localhost|127\.[\d.]+|\[::1?\]|0\.0\.0\.0)$/.test(location.hostname);

/**
 * Return the whole address of a seat, for somebody else to open.
 *
 * @param {string} link  as the server gave it, with the key behind the #
 */
export function addressOf(link) {
  return location.origin + withToken(link);
}

/**
 * Return an address of this server with the token in it.
 *
 * @param {string} address
 */
function withToken(address) {
  if (!token) return address;
  return `${address}${address.includes("#") ? "&" : "#"}${TOKEN}=${encodeURIComponent(token)}`;
}

/**
 * Return an address of this server so that its page knows the token: if the browser keeps none, the address has it.
 *
 * @param {string} address
 */
export function pageOf(address) {
  return keeps ? address : withToken(address);
}

if (!keeps && token) {
  // Links of the page itself cannot have the token before somebody follows them, in whichever way.
  for (const event of ["click", "auxclick", "contextmenu"]) {
    document.addEventListener(event, ({ target }) => {
      const link = target instanceof Element ? target.closest("a") : null;
      if (link && link.origin === location.origin && !link.hash) link.href = withToken(link.href);
    }, true);
  }
}

/** The server cannot be reached; it may come back. */
export class Unreachable extends Error {
  constructor() {
    super("The server does not answer. Check that it is running and that this device has a network, then try again.");
  }
}

/** What the server would not do: its sentence, and all else that it said. */
export class Refused extends Error {
  /** @param {{error?: string, place?: import("./protocol.js").Place | null}} answer */
  constructor(answer) {
    super(answer.error);
    this.place = answer.place ?? null;
  }
}

/**
 * Ask the server for something.
 *
 * @param {"GET" | "POST" | "DELETE"} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<any>}
 * @throws {Refused} with the sentence in which the server says what is wrong
 * @throws {Unreachable} if there is no answer
 */
export async function ask(method, path, body) {
  const answer = await send(method, path, body === undefined ? null : JSON.stringify(body), "application/json");
  return answer.json();
}

/**
 * Send the server something as it is.
 *
 * @param {"GET" | "POST" | "DELETE"} method
 * @param {string} path
 * @param {BodyInit | null} body
 * @param {string} type  of the body
 * @returns {Promise<Response>}
 * @throws {Refused} with the sentence in which the server says what is wrong
 * @throws {Unreachable} if there is no answer
 */
export async function send(method, path, body = null, type = "application/octet-stream") {
  /** @type {Record<string, string>} */
  const headers = body === null ? {} : { "content-type": type };
  if (token) headers.authorization = `Bearer ${token}`;
  const answer = await fetch(path, { method, headers, body }).catch(() => {
    throw new Unreachable();
  });
  if (answer.ok) return answer;
  const unsaid = { error: `the server answered ${answer.status}` };
  throw new Refused({ ...unsaid, ...(await answer.json().catch(() => unsaid)) });
}

/** Requests to the server, and the credentials in the URL fragment: the server's token and the key of a seat. */

import { keep, keeps, recall } from "./kept.js";
import { t } from "./language.js";

const TOKEN = "token";

const given = new URLSearchParams(location.hash.slice(1));
if (given.has(TOKEN)) keep(TOKEN, given.get(TOKEN) ?? "");

/** The token that the server printed; empty if the server requires none. */
export const token = recall(TOKEN, "");

/** The key of the seat in this URL; empty if the seat requires none. */
export const key = given.get("key") ?? "";

/** Whether the URL of this page works only on this machine. */
const onThisMachine = /^(localhost|127\.[\d.]+|\[::1?\]|0\.0\.0\.0)$/.test(location.hostname);

/**
 * Return the complete URL of a seat, for another person.
 *
 * @param {string} link  from the server, with the key after the #
 * @param {string} origin  of the server for that person
 */
export function addressOf(link, origin) {
  return origin + withToken(link);
}

/**
 * Return a URL on this server that contains the token.
 *
 * @param {string} address
 */
function withToken(address) {
  if (!token) return address;
  return `${address}${address.includes("#") ? "&" : "#"}${TOKEN}=${encodeURIComponent(token)}`;
}

/**
 * Return a URL on this server for a page that needs the token, which is added if the browser does not store it.
 *
 * @param {string} address
 */
export function pageOf(address) {
  return keeps ? address : withToken(address);
}

if (!keeps && token) {
  // Add the token to links of the page when the user follows them.
  for (const event of ["click", "auxclick", "contextmenu"]) {
    document.addEventListener(event, ({ target }) => {
      const link = target instanceof Element ? target.closest("a") : null;
      if (link && link.origin === location.origin && !link.hash) link.href = withToken(link.href);
    }, true);
  }
}

/** The server cannot be reached; it may become available again. */
export class Unreachable extends Error {
  constructor() {
    super(t("The server does not respond. Check that it is running and that this device is online, then try again."));
  }
}

/** An error response from the server. */
export class Refused extends Error {
  /** @param {{error?: string, place?: import("./protocol.js").Place | null}} answer */
  constructor(answer) {
    super(answer.error);
    this.place = answer.place ?? null;
  }
}

/**
 * Send a JSON request and return the JSON response.
 *
 * @param {"GET" | "POST" | "DELETE"} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<any>}
 * @throws {Refused} with the error message of the server
 * @throws {Unreachable} if there is no answer
 */
export async function ask(method, path, body) {
  const answer = await send(method, path, body === undefined ? null : JSON.stringify(body), "application/json");
  return answer.json();
}

/**
 * Return part of a list from the server, and the total number of entries.
 *
 * @param {string} path  without `offset` and `limit`
 * @param {number} offset
 * @param {number} limit
 * @returns {Promise<{part: any[], total: number}>}
 */
export async function askPart(path, offset, limit) {
  const answer = await send("GET", `${path}${path.includes("?") ? "&" : "?"}offset=${offset}&limit=${limit}`);
  return { part: await answer.json(), total: Number(answer.headers.get("x-total-count")) };
}

/**
 * Send a request and return the response.
 *
 * @param {"GET" | "POST" | "DELETE"} method
 * @param {string} path
 * @param {BodyInit | null} body
 * @param {string} type  of the body
 * @returns {Promise<Response>}
 * @throws {Refused} with the error message of the server
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
  const unsaid = { error: t(`The server responded with status ${answer.status}.`) };
  throw new Refused({ ...unsaid, ...(await answer.json().catch(() => unsaid)) });
}

/**
 * Return the URL of the server for other machines; empty if only this machine can reach it.
 *
 * @returns {Promise<string>}
 */
export async function networkAddress() {
  return onThisMachine ? (await ask("GET", "/api/host")).address : location.origin;
}

/** Who this browser is: the token of the server and the key of a seat, which addresses have behind the #. */

const TOKEN = "token";

const given = new URLSearchParams(location.hash.slice(1));
if (given.has(TOKEN)) sessionStorage.setItem(TOKEN, given.get(TOKEN) ?? "");

/** The token that the server printed; empty where it needs none. */
export const token = sessionStorage.getItem(TOKEN) ?? "";

/** The key of the seat for which this address was made; empty for seats that need none. */
export const key = given.get("key") ?? "";

/**
 * Return the whole address of a seat, for somebody else to open.
 *
 * @param {string} link  as the server gave it, with the key behind the #
 */
export function addressOf(link) {
  return location.origin + link + (token ? `&${TOKEN}=${encodeURIComponent(token)}` : "");
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
 */
export async function send(method, path, body = null, type = "application/octet-stream") {
  /** @type {Record<string, string>} */
  const headers = body === null ? {} : { "content-type": type };
  if (token) headers.authorization = `Bearer ${token}`;
  const answer = await fetch(path, { method, headers, body });
  if (answer.ok) return answer;
  const unsaid = { error: `the server answered ${answer.status}` };
  throw new Refused({ ...unsaid, ...(await answer.json().catch(() => unsaid)) });
}

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

/**
 * Ask the server for something.
 *
 * @param {"GET" | "POST" | "DELETE"} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<any>}
 * @throws {Error} with the sentence in which the server says what is wrong
 */
export async function ask(method, path, body) {
  /** @type {Record<string, string>} */
  const headers = body === undefined ? {} : { "content-type": "application/json" };
  if (token) headers.authorization = `Bearer ${token}`;
  const answer = await fetch(path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
  const found = await answer.json().catch(() => ({ error: `the server answered ${answer.status}` }));
  if (!answer.ok) throw new Error(found.error ?? `the server answered ${answer.status}`);
  return found;
}

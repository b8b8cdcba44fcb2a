/** Files that need the token of the server: a link alone cannot bring it. */

import { send } from "./access.js";

/**
 * Ask the server for a text, and have the browser save it.
 *
 * @param {string} path
 * @param {string} file  its name
 * @throws {Error} if the server has none
 */
export async function download(path, file) {
  const address = URL.createObjectURL(await (await send("GET", path)).blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

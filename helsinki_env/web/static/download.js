/** Downloads that require the server token, which a link cannot send. */

import { send } from "./access.js";

/**
 * Request a text from the server and save it as a file.
 *
 * @param {string} path
 * @param {string} file  file name
 * @throws {Error} if the request fails
 */
export async function download(path, file) {
  const address = URL.createObjectURL(await (await send("GET", path)).blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

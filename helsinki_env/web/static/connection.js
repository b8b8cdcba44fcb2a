/** The line to the server: it is taken up again whenever it breaks. */

import { key, token } from "./access.js";

/** @typedef {import("./protocol.js").FromServer} FromServer */
/** @typedef {import("./protocol.js").ToServer} ToServer */

const FIRST_WAIT = 500;
const LONGEST_WAIT = 8000;
/** Codes with which the server closes a line that it will not open again: 4000 and the status of HTTP. */
const REFUSALS = [4400, 4401, 4403, 4404, 4413];

export class Connection {
  /** @type {WebSocket | null} */
  #socket = null;
  /** The last view as it came, of which changes copy pieces. */
  #text = "";
  #wait = FIRST_WAIT;
  #refused = false;

  /**
   * @param {string} table
   * @param {(message: FromServer) => void} heard
   * @param {(there: boolean) => void} changed  whether the line is there
   */
  constructor(table, heard, changed) {
    this.table = table;
    this.heard = heard;
    this.changed = changed;
    this.#open();
  }

  /**
   * Send a message; without a line it is dropped: what it was about may have changed by the time there is one.
   *
   * @param {ToServer} message
   * @returns {boolean} whether it was sent
   */
  send(message) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  /**
   * Return what a message says. A change stands for the view that it makes of the one before.
   *
   * @param {string} text
   * @returns {FromServer}
   */
  #read(text) {
    /** @type {FromServer | import("./protocol.js").Change} */
    const message = JSON.parse(text);
    if (message.type === "table") this.#text = text;
    if (message.type !== "change") return message;
    return this.#read(message.parts.map((part) => (typeof part === "string" ? part : this.#text.slice(...part))).join(""));
  }

  #open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws/tables/${encodeURIComponent(this.table)}`);
    this.#socket = socket;
    socket.addEventListener("open", () => {
      this.#wait = FIRST_WAIT;
      this.send({ type: "sit", ...(key && { key }), ...(token && { token }) });
      this.changed(true);
    });
    socket.addEventListener("message", (event) => {
      const message = this.#read(event.data);
      this.#refused ||= message.type === "refused";
      this.heard(message);
    });
    socket.addEventListener("close", (event) => {
      if (this.#refused) return;
      if (REFUSALS.includes(event.code)) return this.heard({ type: "refused", message: event.reason });
      this.changed(false);
      setTimeout(() => this.#open(), this.#wait);
      this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
    });
  }
}

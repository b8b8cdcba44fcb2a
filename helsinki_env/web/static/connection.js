/** The line to the server: it is taken up again whenever it breaks, and whenever nothing comes over it any more. */

import { key, token } from "./access.js";

/** @typedef {import("./protocol.js").FromServer} FromServer */
/** @typedef {import("./protocol.js").ToServer} ToServer */

const FIRST_WAIT = 500;
const LONGEST_WAIT = 8000;
/** Codes with which the server closes a line that it will not open again: 4000 and the status of HTTP. */
const REFUSALS = [4400, 4401, 4403, 4404, 4413];
/** Milliseconds between two looks at the line. */
const LOOKS = 500;
/** Milliseconds without a message after which the server is asked whether it is there; fewer while it owes an answer. */
const QUIET = 4000;
const QUIET_IN_DEBT = 1000;
/** Milliseconds within which it must answer, and a new line must be open. */
const ANSWERS_WITHIN = 6000;

/** Tells the messages of this page from those of all others; `crypto.randomUUID` is missing over plain HTTP. */
const PAGE = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
let sentSoFar = 0;

export class Connection {
  /** @type {WebSocket | null} */
  #socket = null;
  /** The last view as it came, of which changes copy pieces. */
  #text = "";
  #wait = FIRST_WAIT;
  #refused = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #again;
  /** When the line was opened or the last message came, and when the server was asked since; 0: it was not. */
  #heardAt = 0;
  #askedAt = 0;
  /** @type {Map<string, {message: ToServer, still: () => boolean}>} What the server has not confirmed yet. */
  #unconfirmed = new Map();

  /** Whether the line works, as far as is known. */
  there = false;

  /**
   * @param {string} table
   * @param {object} does
   * @param {(message: FromServer) => void} does.heard
   * @param {() => void} does.opened  what is sent now is the first that the server hears
   * @param {(there: boolean) => void} does.changed  the line was lost, or brought its first message
   * @param {(waits: boolean) => void} does.waits  whether anything that was sent is not confirmed
   */
  constructor(table, does) {
    this.table = table;
    this.does = does;
    setInterval(() => this.#look(), LOOKS);
    addEventListener("offline", () => this.#lose());
    addEventListener("online", () => this.#open());
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
   * Send a message that must arrive: until the server confirms it, it is sent again over each new line. The server
   * knows it by its name and carries it out once.
   *
   * @param {ToServer} message
   * @param {() => boolean} still  whether it is still meant, asked when a new line has brought the table
   * @returns {boolean} whether it was sent
   */
  act(message, still) {
    if (!this.there) return false;
    const once = `${PAGE}-${(sentSoFar += 1)}`;
    const named = { ...message, once };
    this.#unconfirmed.set(once, { message: named, still });
    this.send(named);
    this.does.waits(true);
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
    clearTimeout(this.#again);
    if (this.#socket || this.#refused) return;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    let socket;
    try {
      socket = new WebSocket(`${scheme}://${location.host}/ws/tables/${encodeURIComponent(this.table)}`);
    } catch (problem) {
      this.#refused = true;
      const why = problem instanceof Error ? problem.message : String(problem);
      // Who calls has not got this object yet.
      const message = `This browser opens no WebSocket, without which a table cannot be shown: ${why}`;
      queueMicrotask(() => this.does.heard({ type: "refused", message }));
      return;
    }
    this.#socket = socket;
    this.#heardAt = Date.now();
    this.#askedAt = 0;
    socket.addEventListener("open", () => {
      if (socket !== this.#socket) return;
      this.#wait = FIRST_WAIT;
      this.send({ type: "sit", ...(key && { key }), ...(token && { token }) });
      this.does.opened();
    });
    socket.addEventListener("message", (event) => {
      if (socket === this.#socket) this.#hear(this.#read(event.data));
    });
    socket.addEventListener("close", (event) => {
      if (socket !== this.#socket || this.#refused) return;
      if (!REFUSALS.includes(event.code)) return this.#lose();
      this.#refused = true;
      this.does.heard({ type: "refused", message: event.reason });
    });
  }

  /** @param {FromServer} message */
  #hear(message) {
    this.#heardAt = Date.now();
    this.#askedAt = 0;
    if (message.type === "pong") return;
    if (message.type === "done") return this.#confirm(message.once);
    this.#refused ||= message.type === "refused";
    if (message.type === "refused" || message.type === "error") this.#forget();
    const back = !this.there && message.type === "table";
    if (back) this.there = true;
    if (this.#refused) this.there = false;
    if (back) this.does.changed(true);
    this.does.heard(message);
    if (back) this.#sendAgain();
  }

  /** @param {string} once */
  #confirm(once) {
    this.#unconfirmed.delete(once);
    this.does.waits(this.#unconfirmed.size > 0);
  }

  #forget() {
    this.#unconfirmed.clear();
    this.does.waits(false);
  }

  #sendAgain() {
    for (const [once, { message, still }] of this.#unconfirmed) {
      if (still()) this.send(message);
      else this.#unconfirmed.delete(once);
    }
    this.does.waits(this.#unconfirmed.size > 0);
  }

  /** A network can be gone without a word: ask the server from time to time whether it is there. */
  #look() {
    if (!this.#socket || this.#refused) return;
    const now = Date.now();
    if (this.#socket.readyState !== WebSocket.OPEN) {
      if (now - this.#heardAt > ANSWERS_WITHIN) this.#lose();
    } else if (this.#askedAt) {
      if (now - this.#askedAt > ANSWERS_WITHIN) this.#lose();
    } else if (now - this.#heardAt > (this.#unconfirmed.size ? QUIET_IN_DEBT : QUIET)) {
      this.#askedAt = now;
      this.send({ type: "ping" });
    }
  }

  /** Give the line up; closing it may take the browser minutes, so nothing of it is heard any more. */
  #lose() {
    const socket = this.#socket;
    if (!socket || this.#refused) return;
    this.#socket = null;
    this.there = false;
    socket.close();
    this.does.changed(false);
    this.#again = setTimeout(() => this.#open(), this.#wait);
    this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
  }
}

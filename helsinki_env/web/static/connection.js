/** The connection to the server, which reconnects after a disconnect or a timeout. */

import { key, token } from "./access.js";
import { recall } from "./kept.js";
import { t } from "./language.js";

/** @typedef {import("./protocol.js").FromServer} FromServer */
/** @typedef {import("./protocol.js").ToServer} ToServer */

const FIRST_WAIT = 500;
const LONGEST_WAIT = 8000;
/** Close codes after which the page does not reconnect: 4000 plus an HTTP status. */
const REFUSALS = [4400, 4401, 4403, 4404, 4413];
/** Milliseconds between two checks of the connection. */
const LOOKS = 500;
/** Milliseconds without a message before a ping; fewer while messages are unconfirmed. */
const QUIET = 4000;
const QUIET_IN_DEBT = 1000;
/** Milliseconds within which the server must respond, and a new connection must open. */
const ANSWERS_WITHIN = 6000;

/** Unique prefix of this page's messages; `crypto.randomUUID` is missing over plain HTTP. */
const PAGE = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
let sentSoFar = 0;

export class Connection {
  /** @type {WebSocket | null} */
  #socket = null;
  /** The text of the last view; changes copy parts of it. */
  #text = "";
  #wait = FIRST_WAIT;
  #refused = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #again;
  /** Time of the last message or the start, and of the ping since then, or 0 if there was none. */
  #heardAt = 0;
  #askedAt = 0;
  /** @type {Map<string, {message: ToServer, still: () => boolean}>} Messages that the server has not confirmed yet. */
  #unconfirmed = new Map();

  /** Whether the connection is known to work. */
  there = false;

  /**
   * @param {string} table
   * @param {object} does
   * @param {(message: FromServer) => void} does.heard
   * @param {() => void} does.opened  called when the first message can be sent
   * @param {(there: boolean) => void} does.changed  the connection was lost, or its first message arrived
   * @param {(waits: boolean) => void} does.waits  whether a message is unconfirmed
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
   * Send a message. Without a connection, it is dropped, because it may be outdated after a reconnect.
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
   * Send a message that must arrive. Each new connection sends it again until the server confirms it. The server
   * recognizes it by its id and handles it only once.
   *
   * @param {ToServer} message
   * @param {() => boolean} still  whether to send it again after a reconnect
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
   * Parse a message. A change is replaced with the view that it produces.
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
      const from = this.table === "puzzles" ? `?puzzle=${Number(recall("puzzle", "0")) || 0}` : "";
      socket = new WebSocket(`${scheme}://${location.host}/ws/tables/${encodeURIComponent(this.table)}${from}`);
    } catch (problem) {
      this.#refused = true;
      const why = problem instanceof Error ? problem.message : String(problem);
      // The caller does not have this object yet.
      const message = t(`Tables need a WebSocket, which this browser cannot open: ${why}`);
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
    const shows = message.type === "table" || (message.type === "practice" && !message.exercise);
    const back = !this.there && shows;
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

  /** Ping the server at intervals, because a network may fail silently. */
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

  /** Abandon the connection and ignore its events, because the browser may take minutes to close it. */
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

/** Help at the table: the rules in a panel, and explanations of the parts of the picture. */

import { byId, make } from "./dom.js";
import { learn } from "./kept.js";
import { t } from "./language.js";

/** @typedef {import("./protocol.js").Explained} Explained */
/** @typedef {import("./protocol.js").Box} Box */
/** @typedef {import("./protocol.js").Section} Section */
/** @typedef {import("./protocol.js").ToServer} ToServer */

/** Milliseconds for which the pointer must rest on a spot before the spot is explained. */
const REST = 550;
/** Parts of the picture that contain others. */
const WHOLE = ["seat", "board"];

/**
 * Return the smallest spot at a point, or null.
 *
 * @param {Record<string, Box>} spots
 * @param {number} x  in pixels of the picture
 * @param {number} y
 */
export function spotAt(spots, x, y) {
  let best = null;
  let least = Infinity;
  for (const [name, [left, top, width, height]] of Object.entries(spots)) {
    if (x < left || y < top || x > left + width || y > top + height || width * height >= least) continue;
    [best, least] = [name, width * height];
  }
  return best;
}

/**
 * Return the next spot in a direction, or the first spot if no spot is given.
 *
 * @param {Record<string, Box>} spots
 * @param {string | null} from
 * @param {[number, number]} direction
 */
export function nextSpot(spots, from, [right, down]) {
  const names = Object.keys(spots).filter((name) => !WHOLE.includes(name.split(" ")[0]));
  if (!from || !spots[from]) return names[0] ?? null;
  const [x, y] = middle(spots[from]);
  let best = from;
  let least = Infinity;
  for (const name of names) {
    const [px, py] = middle(spots[name]);
    const ahead = (px - x) * right + (py - y) * down;
    const distance = ahead > 1 ? ahead + 3 * Math.abs((px - x) * down + (py - y) * right) : Infinity;
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}

/** @param {Box} box @returns {[number, number]} */
export const middle = ([x, y, width, height]) => [x + width / 2, y + height / 2];

export class Help {
  /** @type {string | null} The last spot for which an explanation was requested. */
  #spot = null;
  /** Whether the reason was also requested, by a click, a touch or a key. */
  #asked = false;
  /** The reason if the server knows none. */
  #reason = "";
  /** @type {{x: number, y: number}} The position of the explanation in the window. */
  #at = { x: 0, y: 0 };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #resting;

  /**
   * @param {(message: ToServer) => void} send
   * @param {(text: string) => void} say  announces a text to screen readers
   * @param {() => number} number  returns the number of actions in the displayed position
   * @param {() => string} game  returns the name of the game
   */
  constructor(send, say, number, game) {
    this.send = send;
    this.say = say;
    this.number = number;
    this.box = byId("explained");
    this.panel = /** @type {HTMLDialogElement} */ (byId("rules"));
    byId("learn").addEventListener("click", () => this.open());
    byId("rules-close").addEventListener("click", () => this.panel.close());
    this.panel.addEventListener("close", () => learn(game()));
  }

  /** Show the rules, which the server sends. */
  open() {
    this.hide();
    if (!this.panel.open) this.panel.showModal();
    this.connected();
  }

  /** Request the rules if the panel is open and they have not arrived yet. */
  connected() {
    if (this.panel.open && !byId("rules-text").childElementCount) this.send({ type: "rules" });
  }

  /** Discard the rules, because an exercise of another game may follow. */
  another() {
    byId("rules-text").replaceChildren();
    this.connected();
  }

  /** @param {Section[]} sections */
  showRules(sections) {
    showSections(byId("rules-text"), sections);
  }

  /**
   * Explain a spot after the pointer has rested on it.
   *
   * @param {string | null} spot
   * @param {number} x  of the window
   * @param {number} y
   */
  rest(spot, x, y) {
    clearTimeout(this.#resting);
    if (spot === this.#spot && !this.box.hidden) return;
    if (spot !== this.#spot) this.hide();
    if (spot) this.#resting = setTimeout(() => this.#ask(spot, false, x, y), REST);
  }

  /**
   * Explain a spot immediately, including why it cannot be used.
   *
   * @param {string} spot
   * @param {number} x  of the window
   * @param {number} y
   * @param {string} [reason]  if the server knows no reason
   */
  ask(spot, x, y, reason = "") {
    clearTimeout(this.#resting);
    this.#ask(spot, true, x, y);
    this.#reason = reason;
  }

  /**
   * @param {string} spot
   * @param {boolean} asked
   * @param {number} x
   * @param {number} y
   */
  #ask(spot, asked, x, y) {
    this.#spot = spot;
    this.#asked = asked;
    this.#at = { x, y };
    this.send({ type: "explain", spot, number: this.number() });
  }

  /** @param {Explained} answer */
  heard(answer) {
    if (answer.spot !== this.#spot) return;
    const parts = [];
    const why = this.#asked ? t(answer.why ?? "") || this.#reason : "";
    if (why) parts.push(make("p", { class: "why" }, why));
    if (answer.help) parts.push(make("p", { class: why ? "soft" : null }, answer.help));
    if (!parts.length) return this.hide();
    this.box.replaceChildren(...parts);
    this.box.hidden = false;
    const { x, y } = this.#at;
    const below = y + 18 + this.box.offsetHeight < innerHeight;
    this.box.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - this.box.offsetWidth - 8))}px`;
    this.box.style.top = `${below ? y + 18 : Math.max(8, y - this.box.offsetHeight - 14)}px`;
    if (this.#asked) this.say([why, answer.help].filter(Boolean).join(" "));
  }

  /** Hide the explanation. */
  hide() {
    clearTimeout(this.#resting);
    this.#spot = null;
    this.box.hidden = true;
  }
}

/**
 * Show the rules as sections with headings.
 *
 * @param {HTMLElement} holder
 * @param {Section[]} sections
 */
export function showSections(holder, sections) {
  holder.replaceChildren(...sections.map(({ title, text }) => make("section", {}, make("h3", {}, t(title)), make("p", {}, t(text)))));
}

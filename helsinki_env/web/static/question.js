/** A confirmation dialog. It overlays the page, so nothing moves under the pointer when it opens. */

import { button, make } from "./dom.js";
import { t } from "./language.js";

/** @typedef {import("./protocol.js").Decision} Decision */
/** @typedef {import("./protocol.js").View} View */

/** Milliseconds within which a repeated press does not confirm the question that it opened. */
const SETTLES = 400;
/** Maximum distance in pixels between two presses at the same position. */
const NEAR = 12;

/** The last press: a key, or the position of the pointer. */
let pressed = { key: "", x: -1, y: -1 };
addEventListener("keydown", (event) => (pressed = { key: event.code || event.key, x: -1, y: -1 }), true);
addEventListener("pointerdown", (event) => (pressed = { key: "", x: event.clientX, y: event.clientY }), true);

export class Question {
  /** @type {{about: Decision | null, yes: () => void, stands: (next: View) => boolean, by: typeof pressed, at: number} | null} */
  #open = null;

  /**
   * @param {HTMLElement} box
   * @param {() => void} changed  a question was opened or closed
   * @param {() => void} leave  the focus must move elsewhere
   */
  constructor(box, changed, leave) {
    this.box = box;
    this.changed = changed;
    this.leave = leave;
  }

  /** Whether a question is open. */
  get open() {
    return this.#open !== null;
  }

  /** The action that the question is about, or null. */
  get about() {
    return this.#open?.about ?? null;
  }

  /**
   * Open a question.
   *
   * @param {Decision | null} about
   * @param {string} words
   * @param {() => void} does
   * @param {(next: View) => boolean} [stands]  whether the question remains for another view
   */
  ask(about, words, does, stands = () => false) {
    this.#open = { about, yes: does, stands, by: pressed, at: performance.now() };
    const sure = button(t("Yes"), () => this.yes(), { class: "main" });
    sure.append(" ", make("kbd", { "aria-hidden": "true" }, t("Enter")));
    const no = button(t("No"), () => this.drop());
    no.append(" ", make("kbd", { "aria-hidden": "true" }, t("Esc")));
    this.box.replaceChildren(make("p", {}, words), make("div", { class: "row" }, sure, no));
    this.box.hidden = false;
    sure.focus({ preventScroll: true });
    this.changed();
  }

  /**
   * Return whether the question remains valid for another view.
   *
   * @param {View} next
   */
  standsFor(next) {
    return this.#open?.stands(next) ?? false;
  }

  /** Confirm, unless this is the second press of a double press that opened the question. */
  yes() {
    if (!this.#open) return;
    const { yes, by, at } = this.#open;
    const same = by.key ? by.key === pressed.key : !pressed.key && Math.hypot(by.x - pressed.x, by.y - pressed.y) < NEAR;
    if (same && performance.now() - at < SETTLES) return;
    this.drop();
    yes();
  }

  /** Close the question. */
  drop() {
    if (!this.#open) return;
    this.#open = null;
    const focused = this.box.contains(document.activeElement);
    this.box.hidden = true;
    this.box.replaceChildren();
    if (focused) this.leave();
    this.changed();
  }
}

/** The legal actions in words, as a list of buttons, each with its own key. */

import { button, make } from "./dom.js";
import { t } from "./language.js";

/** @typedef {import("./protocol.js").Decision} Decision */

/** Keys for actions, in this order, without letters that have another meaning on the page. */
const LETTERS = [..."abcdeghijklmnopqstvwxyz"];

export class Choices {
  /** @type {Map<string, Decision>} */
  #byKey = new Map();
  /** @type {Map<number, HTMLElement>} */
  #buttons = new Map();

  /**
   * @param {HTMLElement} list  for actions without a position
   * @param {HTMLDetailsElement} places  for the positions of a tile, which are easier to choose in the picture
   * @param {(decision: Decision) => void} decide
   * @param {(decision: Decision | null) => void} point  called when the pointer or the focus enters or leaves an action
   */
  constructor(list, places, decide, point) {
    this.list = list;
    this.places = places;
    this.decide = decide;
    this.point = point;
  }

  /**
   * @param {Decision[]} decisions
   */
  show(decisions) {
    const placed = decisions.filter((one) => one.turn !== null);
    const named = decisions.filter((one) => one.turn === null);
    this.#byKey = keysOf(named);
    this.#buttons = new Map();
    this.list.replaceChildren(...named.map((one) => this.#item(one)));
    this.places.hidden = placed.length === 0;
    this.places.replaceChildren(
      make("summary", {}, placed.length === 1 ? t("The only position in words") : t(`All ${placed.length} positions in words`)),
      make("ul", { class: "choices" }, ...placed.map((one) => this.#item(one))),
    );
  }

  /** @param {Decision} decision */
  #item(decision) {
    const key = this.keyOf(decision);
    const found = button("", () => this.decide(decision), {
      class: "choice",
      "data-kind": decision.kind,
      title: decision.text,
      "aria-keyshortcuts": key || null,
    });
    if (key) found.append(make("kbd", { "aria-hidden": "true" }, key.toUpperCase()));
    found.append(make("span", { class: "says" }, decision.words));
    if (decision.wins?.length) found.append(make("span", { class: "pill gold" }, decision.wins.join(", ")));
    found.addEventListener("pointerenter", () => this.point(decision));
    found.addEventListener("pointerleave", () => this.point(null));
    found.addEventListener("focus", () => this.point(decision));
    found.addEventListener("blur", () => this.point(null));
    this.#buttons.set(decision.id, found);
    return make("li", {}, found);
  }

  /**
   * Return the key of an action; empty if there are more actions than keys.
   *
   * @param {Decision} decision
   */
  keyOf(decision) {
    for (const [key, one] of this.#byKey) if (one === decision) return key;
    return "";
  }

  /**
   * Return the action for a key.
   *
   * @param {string} key
   */
  of(key) {
    return this.#byKey.get(key);
  }

  /**
   * Highlight the button of an action, or no button.
   *
   * @param {Decision | null} decision
   */
  mark(decision) {
    for (const [id, found] of this.#buttons) found.classList.toggle("meant", id === decision?.id);
  }

  /**
   * Show which actions are selected.
   *
   * @param {(id: number) => number | null} times  how often an action is selected; null: it is not part of selections
   * @param {Decision[]} decisions
   */
  pick(times, decisions) {
    for (const one of decisions) {
      const found = this.#buttons.get(one.id);
      const count = times(one.id);
      if (!found || count === null) continue;
      found.setAttribute("aria-pressed", String(count > 0));
      found.dataset.times = count > 1 ? `${count} ×` : count ? "✓" : "";
    }
  }
}

/**
 * Return the keys of actions. If the texts of all actions of a kind contain one number each, and all numbers differ, these
 * are the keys. All other actions have letters.
 *
 * @param {Decision[]} decisions
 * @returns {Map<string, Decision>}
 */
function keysOf(decisions) {
  /** @type {Map<string, Decision[]>} */
  const kinds = new Map();
  for (const one of decisions) kinds.set(one.kind, [...(kinds.get(one.kind) ?? []), one]);
  const keys = new Map();
  for (const alike of kinds.values()) {
    const digits = alike.map((one) => /^\D*(\d)\D*$/.exec(one.words)?.[1] ?? "");
    const distinct = digits.every((digit) => digit && !keys.has(digit)) && new Set(digits).size === alike.length;
    if (distinct) alike.forEach((one, i) => keys.set(digits[i], one));
  }
  const numbered = new Set(keys.values());
  decisions.filter((one) => !numbered.has(one)).slice(0, LETTERS.length).forEach((one, i) => keys.set(LETTERS[i], one));
  return keys;
}

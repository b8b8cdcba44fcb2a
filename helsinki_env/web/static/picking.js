/** State of the selection of several cards or roofs in any order. This module does not draw. */

import { t } from "./language.js";

/** @typedef {import("./protocol.js").Decision} Decision */
/** @typedef {import("./protocol.js").Item} Item */
/** @typedef {import("./protocol.js").Selection} Selection */

export class Picking {
  /** @type {Selection | null} */
  #selection = null;
  /** @type {number[]} The ids of the selected items, in the order of the clicks. */
  #chosen = [];

  /** @param {Selection | null} selection  Start a new, empty selection. */
  take(selection) {
    this.#selection = selection;
    this.#chosen = [];
  }

  /**
   * Return the items of the selection, and the legal actions of all other kinds.
   *
   * @param {Decision[]} decisions
   * @returns {Decision[]}
   */
  offered(decisions) {
    const { kind, items } = this.#selection ?? { kind: "", items: [] };
    return [...decisions.filter((one) => one.kind !== kind), ...items].sort((a, b) => a.id - b.id);
  }

  /** @param {number} id  Return whether it is an item of the selection. */
  has(id) {
    return this.#item(id) !== undefined;
  }

  /** The possible selection; null if actions are taken one by one. */
  get selection() {
    return this.#selection;
  }

  /** The required number of selected items; `count` is the current one. */
  get wanted() {
    return (this.#selection?.counts ?? []).reduce((sum, count) => sum + count, 0);
  }

  get count() {
    return this.#chosen.length;
  }

  get complete() {
    return this.#selection !== null && this.count === this.wanted;
  }

  /**
   * Return how often an item is selected.
   *
   * @param {number} id
   */
  times(id) {
    return this.#chosen.filter((one) => one === id).length;
  }

  /**
   * Select an item once more, or deselect it if that is not possible.
   *
   * @param {number} id
   * @returns {string} the reason why neither is possible, or an empty string
   */
  toggle(id) {
    const why = this.#why(id);
    if (!why) this.#chosen.push(id);
    else if (this.times(id)) this.#chosen = this.#chosen.filter((one) => one !== id);
    else return why;
    return "";
  }

  /** Deselect the last selected item. */
  back() {
    this.#chosen.pop();
  }

  clear() {
    this.#chosen = [];
  }

  /** Return the ids of a complete selection in the order that the rules require. */
  inOrder() {
    const part = (/** @type {number} */ id) => this.#item(id)?.part ?? 0;
    const ids = [...this.#chosen].sort((a, b) => part(a) - part(b) || a - b);
    const between = this.#pair(ids[0], ids[1])?.[2] ? this.#selection?.between : null;
    return between ? [ids[0], between.id, ...ids.slice(1)] : ids;
  }

  /** The action that is taken in addition to the selected ones; null if there is none. */
  get between() {
    const [a, b] = [...this.#chosen].sort((x, y) => x - y);
    return this.complete && this.#pair(a, b)?.[2] ? (this.#selection?.between ?? null) : null;
  }

  /** @param {number} id */
  #item(id) {
    return this.#selection?.items.find((one) => one.id === id);
  }

  /**
   * @param {number} a
   * @param {number} b
   */
  #pair(a, b) {
    return this.#selection?.pairs?.find(([low, high]) => low === Math.min(a, b) && high === Math.max(a, b));
  }

  /**
   * Return the reason why an item cannot be selected now; empty if it can be.
   *
   * @param {number} id
   */
  #why(id) {
    const item = this.#item(id);
    if (!this.#selection || !item) return t("You cannot select this now.");
    const back = t("Click a selected item again to remove it.");
    if (this.complete) return t(`${this.wanted} of ${this.wanted} are selected. ${back}`);
    if (this.times(id) === item.most) return t(`There are no more of this kind. ${back}`);
    const alike = this.#chosen.filter((one) => this.#item(one)?.part === item.part).length;
    if (alike === this.#selection.counts[item.part]) return t(`You cannot select more of these. ${back}`);
    const parted = this.#selection.pairs && this.#chosen.some((one) => !this.#pair(one, id));
    return parted ? t(`You cannot combine these two. ${back}`) : "";
  }
}

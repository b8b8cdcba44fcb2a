/** Choosing several cards or roofs in any order: which are chosen, which can be, and what is sent. Nothing here draws. */

/** @typedef {import("./protocol.js").Decision} Decision */
/** @typedef {import("./protocol.js").Item} Item */
/** @typedef {import("./protocol.js").Selection} Selection */

export class Picking {
  /** @type {Selection | null} */
  #selection = null;
  /** @type {number[]} The ids of what is chosen, in the order of the clicks. */
  #chosen = [];

  /** @param {Selection | null} selection  Take up what can be chosen now; nothing is chosen yet. */
  take(selection) {
    this.#selection = selection;
    this.#chosen = [];
  }

  /**
   * Return what a page offers: of the kind of the selection its items, of all other kinds the legal decisions.
   *
   * @param {Decision[]} decisions
   * @returns {Decision[]}
   */
  offered(decisions) {
    const { kind, items } = this.#selection ?? { kind: "", items: [] };
    return [...decisions.filter((one) => one.kind !== kind), ...items].sort((a, b) => a.id - b.id);
  }

  /** @param {number} id  Whether it is chosen together with others. */
  has(id) {
    return this.#item(id) !== undefined;
  }

  /** What there is to choose from; null if decisions are taken one by one. */
  get selection() {
    return this.#selection;
  }

  /** How many must be chosen, and how many are. */
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
   * Return how often something is chosen.
   *
   * @param {number} id
   */
  times(id) {
    return this.#chosen.filter((one) => one === id).length;
  }

  /**
   * Choose an item, once more if there are several; if that cannot be, take it back.
   *
   * @param {number} id
   * @returns {string} why it could be neither chosen nor taken back; empty if it was
   */
  toggle(id) {
    const why = this.#why(id);
    if (!why) this.#chosen.push(id);
    else if (this.times(id)) this.#chosen = this.#chosen.filter((one) => one !== id);
    else return why;
    return "";
  }

  /** Take back what was chosen last. */
  back() {
    this.#chosen.pop();
  }

  clear() {
    this.#chosen = [];
  }

  /** Return the ids of what is chosen as the rules order them; call it when the choice is complete. */
  inOrder() {
    const part = (/** @type {number} */ id) => this.#item(id)?.part ?? 0;
    const ids = [...this.#chosen].sort((a, b) => part(a) - part(b) || a - b);
    const between = this.#pair(ids[0], ids[1])?.[2] ? this.#selection?.between : null;
    return between ? [ids[0], between.id, ...ids.slice(1)] : ids;
  }

  /** The decision that is taken besides those that are chosen; null if there is none. */
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
   * Return why an item cannot be chosen now; empty if it can be.
   *
   * @param {number} id
   */
  #why(id) {
    const item = this.#item(id);
    if (!this.#selection || !item) return "This cannot be chosen now.";
    const back = "Click what you have chosen again to take it back.";
    if (this.complete) return `${this.wanted} of ${this.wanted} are chosen. ${back}`;
    if (this.times(id) === item.most) return `There is no other one. ${back}`;
    const alike = this.#chosen.filter((one) => this.#item(one)?.part === item.part).length;
    if (alike === this.#selection.counts[item.part]) return `No more of these can be chosen. ${back}`;
    const parted = this.#selection.pairs && this.#chosen.some((one) => !this.#pair(one, id));
    return parted ? `These two do not go together. ${back}` : "";
  }
}

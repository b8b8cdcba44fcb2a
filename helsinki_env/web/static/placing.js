/** State of the placement of a tile: the current orientation and position. This module does not draw. */

/** @typedef {import("./protocol.js").Decision} Decision */
/** @typedef {import("./protocol.js").Box} Box */
/** @typedef {"left" | "right" | "up" | "down"} Direction */
/** @typedef {Decision & {turn: number, rotated: number[], flipped: number[]}} Placement */

const STEPS = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] };

export class Placing {
  /** @type {Placement[]} */
  #all = [];
  /** @type {Map<number, [number, number]>} */
  #middles = new Map();
  /** @type {Record<string, Box>} */
  #spots = {};
  /** @type {[number, number, number] | null} The last point and reach of the pointer, for the next orientation. */
  #pointer = null;
  /** The current orientation. */
  turn = 0;
  /** @type {Placement | null} The selected position. */
  candidate = null;

  /**
   * Set the legal actions. The orientation of a tile that is being placed remains if it has a legal position.
   *
   * @param {Decision[]} decisions
   * @param {Record<string, Box>} spots
   */
  take(decisions, spots) {
    const isNew = !this.active;
    this.#all = /** @type {Placement[]} */ (decisions.filter((one) => one.turn !== null));
    this.#middles = new Map(this.#all.map((one) => [one.id, middle(one.covers, spots)]));
    this.#spots = spots;
    this.drop();
    if (this.active && (isNew || !this.#has(this.turn))) this.turn = Math.min(...this.#all.map((one) => one.turn));
  }

  /** @param {Decision | null} decision  Select a position in its own orientation. */
  hold(decision) {
    const found = this.#all.find((one) => one.id === decision?.id);
    if (!found) return;
    this.turn = found.turn;
    this.candidate = found;
  }

  /** Select no position, and forget the pointer. */
  drop() {
    this.candidate = this.#pointer = null;
  }

  /** Whether a tile must be placed. */
  get active() {
    return this.#all.length > 0;
  }

  /** The legal positions of the current orientation. */
  get places() {
    return this.#all.filter((one) => one.turn === this.turn);
  }

  /** Number of orientations with a legal position. */
  get orientations() {
    return new Set(this.#all.map((one) => one.turn)).size;
  }

  /** Rotate the tile clockwise, skipping orientations without a legal position. */
  rotate() {
    this.#hold(this.places[0]?.rotated ?? []);
  }

  /** Flip the tile, and rotate it until it has a legal position. */
  flip() {
    this.#hold(this.places[0]?.flipped ?? []);
  }

  /**
   * Select the position that covers a point, or else the one whose tile passes it; if there are several, the nearest.
   *
   * @param {number} x
   * @param {number} y
   * @param {number} reach  how far from a cell the point may be, in pixels of the picture
   */
  near(x, y, reach) {
    this.#pointer = [x, y, reach];
    const isAt = (/** @type {string[]} */ names) => names.some((name) => contains(this.#spots[name], x, y, reach));
    const covering = this.places.filter((one) => isAt(one.covers));
    const found = covering.length ? covering : this.places.filter((one) => isAt(one.at));
    this.candidate = this.#best((dx, dy) => Math.hypot(dx, dy), [x, y], found);
  }

  /**
   * Select the next position in a direction, or the first position if none is selected.
   *
   * @param {Direction} direction
   */
  step(direction) {
    this.#pointer = null;
    const at = this.candidate && this.#middles.get(this.candidate.id);
    if (!at) {
      this.candidate = this.places[0] ?? null;
      return;
    }
    const [right, down] = STEPS[direction];
    this.candidate =
      this.#best((dx, dy) => {
        const ahead = dx * right + dy * down;
        return ahead > 1 ? ahead + 2 * Math.abs(dx * down + dy * right) : Infinity;
      }, at) ?? this.candidate;
  }

  /** @param {number} turn */
  #has(turn) {
    return this.#all.some((one) => one.turn === turn);
  }

  /** @param {number[]} turns  Switch to the first of them with a legal position, near the previous one. */
  #hold(turns) {
    const turn = turns.find((one) => this.#has(one));
    if (turn === undefined) return;
    const at = this.candidate && this.#middles.get(this.candidate.id);
    this.turn = turn;
    if (this.#pointer) this.near(...this.#pointer);
    if (!this.candidate || !this.places.includes(this.candidate)) this.candidate = at ? this.#best((dx, dy) => Math.hypot(dx, dy), at) : null;
  }

  /**
   * Return the position with the least finite distance from a point, or null.
   *
   * @param {(dx: number, dy: number) => number} far
   * @param {[number, number]} from
   * @param {Placement[]} [places]  by default, all positions of this orientation
   */
  #best(far, [x, y], places = this.places) {
    let best = null;
    let least = Infinity;
    for (const one of places) {
      const [px, py] = this.#middles.get(one.id) ?? [0, 0];
      const distance = far(px - x, py - y);
      if (distance < least) [best, least] = [one, distance];
    }
    return best;
  }
}

/**
 * @param {Box | undefined} box
 * @param {number} x
 * @param {number} y
 * @param {number} reach
 */
const contains = (box, x, y, reach) =>
  box !== undefined && x >= box[0] - reach && x <= box[0] + box[2] + reach && y >= box[1] - reach && y <= box[1] + box[3] + reach;

/**
 * Return the center of several spots.
 *
 * @param {string[]} names
 * @param {Record<string, Box>} spots
 * @returns {[number, number]}
 */
function middle(names, spots) {
  const boxes = names.flatMap((name) => (spots[name] ? [spots[name]] : []));
  const sum = boxes.reduce(([x, y], box) => [x + box[0] + box[2] / 2, y + box[1] + box[3] / 2], [0, 0]);
  return [sum[0] / boxes.length, sum[1] / boxes.length];
}

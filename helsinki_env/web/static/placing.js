/** The placement of a tile, with its current orientation and position. This module does not draw. */

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
  /** The current orientation. */
  turn = 0;
  /** @type {Placement | null} The selected position. */
  candidate = null;

  /**
   * Set the legal actions; keep the orientation if it has a legal position.
   *
   * @param {Decision[]} decisions
   * @param {Record<string, Box>} spots
   */
  take(decisions, spots) {
    this.#all = /** @type {Placement[]} */ (decisions.filter((one) => one.turn !== null));
    this.#middles = new Map(this.#all.map((one) => [one.id, middle(one.covers, spots)]));
    this.candidate = null;
    if (!this.#has(this.turn) && this.#all.length) this.turn = Math.min(...this.#all.map((one) => one.turn));
  }

  /**
   * Select a position and its orientation.
   *
   * @param {Decision | null} decision
   */
  hold(decision) {
    const found = this.#all.find((one) => one.id === decision?.id);
    if (!found) return;
    this.turn = found.turn;
    this.candidate = found;
  }

  /** Whether a tile must be placed. */
  get active() {
    return this.#all.length > 0;
  }

  /** The legal positions of the current orientation. */
  get places() {
    return this.#all.filter((one) => one.turn === this.turn);
  }

  /** The number of orientations with a legal position. */
  get orientations() {
    return new Set(this.#all.map((one) => one.turn)).size;
  }

  /** Rotate the tile clockwise, skipping orientations without a legal position. */
  rotate() {
    this.#hold(this.places[0]?.rotated ?? []);
  }

  /** Flip the tile and rotate it until it has a legal position. */
  flip() {
    this.#hold(this.places[0]?.flipped ?? []);
  }

  /**
   * Select the position nearest to a point, unless it is farther away than `reach`.
   *
   * @param {number} x
   * @param {number} y
   * @param {number} reach  in pixels of the picture
   */
  near(x, y, reach) {
    const found = this.#best((dx, dy) => Math.hypot(dx, dy), [x, y]);
    const at = found && this.#middles.get(found.id);
    this.candidate = at && Math.hypot(at[0] - x, at[1] - y) <= reach ? found : null;
  }

  /**
   * Select the next position in a direction, or the first position if none is selected.
   *
   * @param {Direction} direction
   */
  step(direction) {
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

  /**
   * Switch to the first of several orientations with a legal position, near the previous one.
   *
   * @param {number[]} turns
   */
  #hold(turns) {
    const turn = turns.find((one) => this.#has(one));
    if (turn === undefined) return;
    const at = this.candidate && this.#middles.get(this.candidate.id);
    this.turn = turn;
    this.candidate = at ? this.#best((dx, dy) => Math.hypot(dx, dy), at) : null;
  }

  /**
   * Return the position in this orientation with the smallest finite distance, or null.
   *
   * @param {(dx: number, dy: number) => number} far
   * @param {[number, number]} from
   */
  #best(far, [x, y]) {
    let best = null;
    let least = Infinity;
    for (const one of this.places) {
      const [px, py] = this.#middles.get(one.id) ?? [0, 0];
      const distance = far(px - x, py - y);
      if (distance < least) [best, least] = [one, distance];
    }
    return best;
  }
}

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

/** Placing a tile: which orientation is held, and which of its places is meant. Nothing here draws. */

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
  /** The orientation that is held. */
  turn = 0;
  /** @type {Placement | null} The place that is meant. */
  candidate = null;

  /**
   * Take up what can be decided now; the orientation stays if it has a place.
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

  /** Whether a tile is to be placed. */
  get active() {
    return this.#all.length > 0;
  }

  /** The places of the orientation that is held. */
  get places() {
    return this.#all.filter((one) => one.turn === this.turn);
  }

  /** How many orientations have a place. */
  get orientations() {
    return new Set(this.#all.map((one) => one.turn)).size;
  }

  /** Turn the tile clockwise, past orientations that have no place. */
  rotate() {
    this.#hold(this.places[0]?.rotated ?? []);
  }

  /** Mirror the tile; if its mirror image has no place, turn that until it has. */
  flip() {
    this.#hold(this.places[0]?.flipped ?? []);
  }

  /**
   * Mean the place nearest to a point; null if it is further away than `reach`.
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
   * Mean the next place in a direction; without one so far, the first.
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

  /** @param {number[]} turns  Hold the first of them that has a place, near where the tile was. */
  #hold(turns) {
    const turn = turns.find((one) => this.#has(one));
    if (turn === undefined) return;
    const at = this.candidate && this.#middles.get(this.candidate.id);
    this.turn = turn;
    this.candidate = at ? this.#best((dx, dy) => Math.hypot(dx, dy), at) : null;
  }

  /**
   * Return the place of this orientation that is least far from a point, by a measure; null if none is near at all.
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
 * Return the middle of several spots.
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

/** The pictures of an animation. */

/**
 * An action of the game.
 *
 * @typedef {object} Step
 * @property {number} seat
 * @property {number} round  from 1
 * @property {number} turn  from 0
 * @property {string} said  in the past tense, without the player
 * @property {boolean} forced  whether it was the only legal action
 */

/**
 * The evaluation of a game with D actions.
 *
 * @typedef {object} GameEvaluation
 * @property {string} evaluator  a name
 * @property {number[][]} shares  D + 1 rows: every seat's win probability, 0 to 1
 * @property {(number | null)[]} costs  D values: the regret of each action, as a win probability
 * @property {(string | null)[]} better  D values: the best alternative, if the action was not the best
 * @property {string[]} [why]  D values: what the best alternative gains, in words; may be empty
 */

/**
 * A game from helsinki_env/records/animation.py: D actions, D + 1 pictures.
 *
 * @typedef {object} GameAnimation
 * @property {string} game
 * @property {string[]} players  a name for each seat
 * @property {{scores: number[], places: number[]} | null} result
 * @property {Step[]} steps
 * @property {number[][]} scores  D + 1 rows: points of every seat if the game had ended there
 * @property {string[]} elements  texts of picture elements
 * @property {[number, number, number[]][][]} frames  for each picture, the replaced elements of the previous one
 * @property {GameEvaluation | null} evaluation
 */

/** Parts of a picture that stay in place. Parts added by the last action are marked. */
const LASTING = ["pavilion", "tile", "wild", "white", "superstructure", "used", "bonus"]
  .map((part) => `[data-part="${part}"]`)
  .join(",");

export class Pictures {
  /** @type {number[][]} The numbers of the elements of each picture. */
  #frames = [];
  /** @type {string[]} */
  #elements;

  /** @param {GameAnimation} animation */
  constructor(animation) {
    this.#elements = animation.elements;
    let now = /** @type {number[]} */ ([]);
    for (const frame of animation.frames) {
      now = [...now];
      for (const [at, gone, elements] of frame) now.splice(at, gone, ...elements);
      this.#frames.push(now);
    }
  }

  /**
   * Return the picture after a number of actions. Parts added by the last action have the class `fresh`.
   *
   * @param {number} number
   */
  picture(number) {
    const picture = this.#read(number);
    const before = new Set(number ? lasting(this.#read(number - 1)).map((part) => part.outerHTML) : []);
    if (number) for (const part of lasting(picture)) part.classList.toggle("fresh", !before.has(part.outerHTML));
    picture.removeAttribute("width");
    picture.removeAttribute("height");
    return picture;
  }

  /** @param {number} number */
  #read(number) {
    const text = this.#frames[number].map((element) => this.#elements[element]).join("");
    const read = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    return /** @type {SVGSVGElement} */ (/** @type {unknown} */ (document.importNode(read, true)));
  }
}

/** @param {SVGSVGElement} picture */
function lasting(picture) {
  return [...picture.querySelectorAll(LASTING)];
}

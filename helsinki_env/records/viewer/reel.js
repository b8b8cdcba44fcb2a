/** The pictures of a film. */

/**
 * A decision of the game.
 *
 * @typedef {object} Step
 * @property {number} seat
 * @property {number} round  from 1
 * @property {number} turn  from 0
 * @property {string} said  in the past, without who it was
 * @property {boolean} forced  whether there was no choice
 */

/**
 * What somebody thinks of a game of D decisions.
 *
 * @typedef {object} Judgement
 * @property {string} judge  a name
 * @property {number[][]} shares  D + 1 rows: every seat's share of the win, 0 to 1
 * @property {(number | null)[]} costs  D times: the share that a decision cost who took it
 * @property {(string | null)[]} better  D times: what would have been best, if it was something else
 */

/**
 * A game as helsinki_env/records/animation.py makes it: D decisions, D + 1 pictures.
 *
 * @typedef {object} Film
 * @property {string} game
 * @property {string[]} players  a name for each seat
 * @property {{scores: number[], places: number[]} | null} result
 * @property {Step[]} steps
 * @property {number[][]} scores  D + 1 rows: points of every seat if the game had ended there
 * @property {string[]} elements  texts of which pictures consist
 * @property {[number, number, number[]][][]} frames  for each picture what is replaced in the one before
 * @property {Judgement | null} judgement
 */

/** Parts of a picture that stay where they were put: those that a decision brought are marked. */
const LASTING = ["pavilion", "tile", "wild", "white", "superstructure", "used", "bonus"]
  .map((part) => `[data-part="${part}"]`)
  .join(",");

export class Reel {
  /** @type {number[][]} The numbers of the elements of each picture. */
  #frames = [];
  /** @type {string[]} */
  #elements;

  /** @param {Film} film */
  constructor(film) {
    this.#elements = film.elements;
    let now = /** @type {number[]} */ ([]);
    for (const frame of film.frames) {
      now = [...now];
      for (const [at, gone, elements] of frame) now.splice(at, gone, ...elements);
      this.#frames.push(now);
    }
  }

  /**
   * Return the picture after so many decisions; what the last of them brought to the table has the class `fresh`.
   *
   * @param {number} number
   */
  picture(number) {
    const picture = this.#read(number);
    const before = new Set(number ? lasting(this.#read(number - 1)).map((part) => part.outerHTML) : []);
    if (number) for (const part of lasting(picture)) part.classList.toggle("fresh", !before.has(part.outerHTML));
    picture.removeAttribute("width");
    picture.removeAttribute("height");
    // The picture is one image, named by its title and description; names of its strokes are read by nobody.
    for (const part of picture.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
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

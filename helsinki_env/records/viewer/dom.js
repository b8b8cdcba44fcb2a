/** Small DOM helpers. Text is always set as text, never as HTML. */

/** @type {(text: string) => string} Translates a text; a page on its own is in English. */
export let t = (text) => text;

/** @type {(name: string, words: string) => string} Returns a sentence about a player's action. */
export let doing = (name, words) => `${name} ${words}`;

/**
 * @param {typeof t} translate
 * @param {typeof doing} sentence
 */
export function speak(translate, sentence) {
  t = translate;
  doing = sentence;
}

/**
 * Create an element.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string>} [attributes]
 * @param {...(Node | string)} inside
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, attributes = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
}

/**
 * Create an SVG element.
 *
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {...(Node | string)} inside
 * @returns {SVGElementTagNameMap[K]}
 */
export function makeSvg(tag, attributes = {}, ...inside) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...inside);
  return element;
}

/**
 * Create a button with a click handler.
 *
 * @param {Record<string, string>} attributes
 * @param {() => void} does
 * @param {...(Node | string)} inside
 */
export function button(attributes, does, ...inside) {
  const element = make("button", { type: "button", ...attributes }, ...inside);
  element.addEventListener("click", does);
  return element;
}

/**
 * Create the token of a seat, which is a disc with its number.
 *
 * @param {number} seat
 */
export function token(seat) {
  return make("span", { class: `token seat-${seat}` }, String(seat + 1));
}

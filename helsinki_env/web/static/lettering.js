/** Text in the picture: names instead of seat numbers, and words instead of notation. */

import { makeSvg } from "./dom.js";
import { spotAt } from "./help.js";
import { doing, language, t } from "./language.js";

/** @typedef {import("./protocol.js").Box} Box */
/** @typedef {{seats: {name: string}[], spots: Record<string, Box>, log: {seat: number, words: string}[]}} View  The part of a view that is used here. */

/** Cap height and font size of lettering in pictures, before it is scaled. */
const FONT = 19;
/** Fill colors of the tokens (see helsinki_env/drawing/palette.py). */
export const TOKENS = ["#343b49", "#fffaf0", "#ef86b4", "#3fc6c0"];
/** A text color with too little contrast, and its replacement. */
const [FAINT, SOFT] = ["#b5ac98", "#6d6a60"];
/** The name of a phase, which is no text for people; the sides of the board are written in capitals, too. */
const PHASE = /^(?!(NORTH|EAST|SOUTH|WEST)$)[A-Z_]{3,}$/;

/**
 * Replace the seat numbers in a text with the names at the table.
 *
 * @param {string} text
 * @param {View} view
 */
const withNames = (text, view) => text.replace(/\b[Pp]layer (\d)/g, (found, seat) => view.seats[Number(seat)]?.name ?? found);

/**
 * Remove the names of all parts, because the picture is one image for screen readers.
 *
 * @param {SVGSVGElement} svg
 * @param {View} view
 * @returns {() => void} rewrites the lettering once the picture is part of the page
 */
export function rewrite(svg, view) {
  /** @type {(() => void)[]} */
  const later = [];
  const game = svg.querySelector("title")?.textContent?.toUpperCase(); // the name of the game is in capitals, too
  for (const part of svg.querySelectorAll("[aria-label]")) {
    const label = part.getAttribute("aria-label") ?? "";
    part.removeAttribute("aria-label");
    if (!(part instanceof SVGPathElement)) continue;
    if (part.getAttribute("stroke") === FAINT) part.setAttribute("stroke", SOFT);
    const words = t(label);
    if (/\bPlayer \d/.test(label)) later.push(() => write(part, playerText(label, view)));
    else if (/^\d$/.test(label) && isToken(part)) later.push(() => write(part, String(Number(label) + 1), "middle", 3));
    else if (label === "Last:") later.push(...lastAction(part, view));
    else if (/^points, \d+ end the game/.test(label)) later.push(() => write(part, t(label.replace(/^points, (\d+) end/, "$1 points end")), "", 1.1));
    else if (PHASE.test(label) && label !== game && part.previousElementSibling?.localName === "rect") removePill(part);
    else if (words !== label) later.push(() => write(part, words, part.closest('[data-part="action"]') ? "middle" : "", 1.1, freeWidth(part, view)));
  }
  for (const title of svg.querySelectorAll("title")) title.textContent = t(withNames(title.textContent ?? "", view));
  const described = svg.querySelector("desc");
  if (described && language === "en") described.textContent = t(withNames(described.textContent ?? "", view));
  else described?.remove(); // its sentences are English; the lists of the page have most of their facts
  return () => later.forEach((does) => does());
}

/**
 * Return a text that begins with a player, such as "Player 0 (you) draws or builds", with the name at the table.
 *
 * @param {string} label
 * @param {View} view
 */
function playerText(label, view) {
  const [, who, you, does] = /^(Player \d)( \(you\))?(?: (.*))?$/.exec(label) ?? [];
  if (!who) return t(withNames(label, view));
  const name = t(withNames(who, view));
  if (does && name === t("You")) return doing(name, t(does));
  const mark = you && name !== t("You") ? ` (${t("you")})` : "";
  return `${name}${mark}${does ? ` ${t(does)}` : ""}`;
}

/** @param {Element} path  Return whether the number is on a token. */
function isToken(path) {
  const circles = [path.previousElementSibling, path.previousElementSibling?.previousElementSibling];
  return circles.some((one) => one?.localName === "circle" && TOKENS.includes(one.getAttribute("fill") ?? ""));
}

/**
 * Write the last action in words instead of notation.
 *
 * @param {SVGPathElement} title  the word "Last:"
 * @param {View} view
 */
function* lastAction(title, view) {
  const notation = title.nextElementSibling;
  const last = view.log.at(-1);
  if (!last) {
    title.remove();
    notation?.remove();
    return;
  }
  if (language !== "en") yield () => write(title, t("Last:"));
  if (!(notation instanceof SVGPathElement)) return;
  yield () => write(notation, doing(t(view.seats[last.seat].name), last.words), "", 0, room(view.spots.now, notation) || 560);
}

/**
 * Return the width from the start of lettering to the right edge of a box, in units of the lettering.
 *
 * @param {Box | undefined} box
 * @param {SVGPathElement} path
 */
function room(box, path) {
  const matrix = path.transform.baseVal.consolidate()?.matrix;
  return box && matrix ? (box[0] + box[2] - 16 - matrix.e) / matrix.a : 0;
}

/**
 * Return the width that a translated text may have in the box of an action or ability, in units of the lettering, or 0.
 *
 * @param {SVGPathElement} path
 * @param {View} view
 */
function freeWidth(path, { spots }) {
  const matrix = path.transform.baseVal.consolidate()?.matrix;
  const spot = matrix && spotAt(spots, matrix.e, matrix.f);
  if (!matrix || !spot || !/^(now|action|ability)\b/.test(spot)) return 0;
  const [x, , width] = spots[spot];
  return (spot.startsWith("action") ? width - 6 : x + width - 30 - matrix.e) / matrix.a;
}

/** @param {SVGPathElement} path  Remove the name of a phase and the pill around it. */
function removePill(path) {
  path.previousElementSibling?.remove();
  path.remove();
}

/**
 * Replace lettering that is drawn with lines by a text element.
 *
 * @param {SVGPathElement} path
 * @param {string} words
 * @param {string} [anchor]  "middle" centers the text at the lettering
 * @param {number} [stretch]  how much wider than the lettering the text may be; 0: as wide as `most`
 * @param {number} [most]  the width, 0: any; with a stretch, the text may always be as wide as this
 */
function write(path, words, anchor = "", stretch = 1.05, most = 0) {
  const { x, width } = path.getBBox();
  const text = makeSvg("text", { class: "named", "aria-hidden": "true", fill: path.getAttribute("stroke") ?? "currentColor", "font-size": FONT });
  const transform = path.getAttribute("transform");
  if (transform) text.setAttribute("transform", transform);
  if (anchor) text.setAttribute("x", String(x + width / 2));
  if (anchor) text.setAttribute("text-anchor", anchor);
  text.textContent = words;
  path.replaceWith(text);
  const allowed = stretch ? Math.max(width * stretch, most) : most;
  if (!allowed || text.getComputedTextLength() <= allowed) return;
  if (!stretch && 0.75 * text.getComputedTextLength() > allowed) return shorten(text, words, allowed);
  text.setAttribute("textLength", String(allowed));
  text.setAttribute("lengthAdjust", "spacingAndGlyphs");
}

/**
 * Shorten a text until it is narrow enough.
 *
 * @param {SVGTextElement} text
 * @param {string} words
 * @param {number} allowed
 */
function shorten(text, words, allowed) {
  let letters = Math.floor((words.length * allowed) / text.getComputedTextLength());
  do text.textContent = `${words.slice(0, letters).trimEnd()}…`;
  while (text.getComputedTextLength() > allowed && --letters > 1);
}

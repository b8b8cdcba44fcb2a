/** The picture of the table, with clickable spots and the tile being placed as an overlay. */

import { boundsOf } from "./areas.js";
import { makeSvg } from "./dom.js";
import { t } from "./language.js";
import { TOKENS, rewrite } from "./lettering.js";

/** @typedef {import("./protocol.js").Box} Box */
/** @typedef {import("./protocol.js").Decision} Decision */
/** @typedef {import("./protocol.js").View} View */

/** Parts of a picture that stay in place. The page marks parts that are new to the viewer. */
const LASTING = ["pavilion", "tile", "wild", "white", "superstructure", "used", "bonus"]
  .map((part) => `[data-part="${part}"]`)
  .join(",");

export class Stage {
  /** @type {SVGSVGElement | null} */
  #svg = null;
  #text = "";
  /** @type {SVGGElement} Clickable rectangles. */
  #spots = makeSvg("g", { class: "spots" });
  /** @type {SVGGElement} The tile that is being placed, and its legal positions. */
  #ghost = makeSvg("g", { class: "ghost" });
  /** @type {Set<string> | null} The lasting parts of the previous picture. */
  #before = null;
  /** @type {Set<string>} The lasting parts at the start of this turn. */
  #atTurn = new Set();
  /** @type {Map<number, Set<string>>} The lasting parts after the last action of each seat. */
  #atOwn = new Map();
  /** @type {number | undefined} The turn of the last action. */
  #turn = undefined;
  /** @type {View | null} */
  #view = null;
  /** @type {Map<string, {x: number, y: number, element: Element}>} The tokens by their colors. */
  #tokens = new Map();

  /**
   * @param {HTMLElement} holder
   * @param {object} does
   * @param {(decisions: Decision[], x: number, y: number) => void} does.spot  called for a click on a spot, with the point on the page
   * @param {(x: number, y: number, event: PointerEvent) => void} does.move  called when the pointer moves, with the point in the picture
   * @param {(x: number, y: number, event: PointerEvent) => void} does.press  called for a click outside of spots
   * @param {() => void} does.leave
   * @param {(decision: Decision | null) => void} does.hover  called when the pointer enters or leaves a spot
   */
  constructor(holder, does) {
    this.holder = holder;
    this.does = does;
    holder.addEventListener("pointermove", (event) => this.#at(event, does.move));
    holder.addEventListener("pointerleave", () => does.leave());
    holder.addEventListener("click", (event) => this.#at(/** @type {PointerEvent} */ (event), does.press));
  }

  /**
   * Show a view.
   *
   * @param {View} view
   * @param {boolean} quiet  whether to mark nothing as new, at first and after an undo
   */
  show(view, quiet) {
    this.#view = view;
    if (view.svg === this.#text && this.#svg) return;
    this.#text = view.svg;
    this.holder.replaceChildren();
    this.#svg = null;
    if (!view.svg) return;
    const read = new DOMParser().parseFromString(view.svg, "image/svg+xml").documentElement;
    const svg = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (document.importNode(read, true)));
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    const letter = rewrite(svg, view);
    this.#mark(svg, view, quiet);
    svg.append(this.#ghost, this.#spots);
    this.#svg = svg;
    this.holder.append(svg);
    letter();
    this.#animate(svg, view, quiet);
  }

  /**
   * Show the whole table or a part of it.
   *
   * @param {Box | null} box
   * @param {Box | null} [below]  another part, shown below it as an image
   */
  look(box, below = null) {
    if (!this.#svg || !this.#view) return;
    this.holder.querySelector(".below")?.remove();
    if (below) {
      const copy = /** @type {SVGSVGElement} */ (this.#svg.cloneNode(true));
      for (const part of copy.querySelectorAll("g.spots, g.ghost")) part.remove();
      for (const [name, value] of [["class", "below"], ["aria-hidden", "true"], ["viewBox", below.join(" ")]]) copy.setAttribute(name, value);
      this.holder.append(copy);
    }
    const [width, height] = this.#view.size;
    const [x, y, w, h] = box ?? [0, 0, width, height];
    const rim = box ? 8 : 0;
    this.#svg.setAttribute("viewBox", `${x - rim} ${y - rim} ${w + 2 * rim} ${h + 2 * rim}`);
  }

  /**
   * Highlight the clickable spots.
   *
   * @param {Decision[]} decisions  those with spots
   * @param {(decision: Decision) => string} keyOf  the key of a decision, for a label; may be empty
   * @param {string} [arrow]  the spot that an arrow points at
   */
  offer(decisions, keyOf, arrow = "") {
    this.#spots.replaceChildren();
    /** @type {Map<string, Decision[]>} */
    const bySpot = new Map();
    for (const one of decisions) {
      for (const name of one.at) bySpot.set(name, [...(bySpot.get(name) ?? []), one]);
    }
    for (const [name, meant] of bySpot) {
      const box = this.#view?.spots[name];
      if (box) this.#spots.append(this.#spot(box, meant, keyOf));
    }
    const first = this.#view?.spots[arrow];
    if (first) this.#spots.append(arrowAt(first));
  }

  /**
   * @param {Box} box
   * @param {Decision[]} meant
   * @param {(decision: Decision) => string} keyOf
   */
  #spot([x, y, width, height], meant, keyOf) {
    const kinds = new Set(meant.map((one) => one.kind));
    const group = makeSvg("g", { class: "spot", "data-kind": kinds.size === 1 ? meant[0].kind : "several" });
    group.dataset.ids = meant.map((one) => one.id).join(" ");
    const title = makeSvg("title");
    title.textContent = meant.length === 1 ? meant[0].words : t(`${meant.length} actions`);
    group.append(title, makeSvg("rect", { class: "rim", x: x + 1, y: y + 1, width: width - 2, height: height - 2, rx: 7 }));
    group.append(makeSvg("rect", { class: "light", x: x + 1, y: y + 1, width: width - 2, height: height - 2, rx: 7 }));
    group.append(makeSvg("text", { class: "mark", x: x + width / 2, y: y + height / 2 }));
    const key = meant.length === 1 ? keyOf(meant[0]) : "";
    if (key && width > 24) {
      group.append(makeSvg("circle", { class: "badge", cx: x + width - 3, cy: y + 3, r: 8 }));
      const label = makeSvg("text", { class: "badge", x: x + width - 3, y: y + 7 });
      label.textContent = key.toUpperCase();
      group.append(label);
    }
    group.addEventListener("click", (event) => {
      event.stopPropagation();
      this.does.spot(meant, event.clientX, event.clientY);
    });
    group.addEventListener("pointerenter", () => this.does.hover(meant.length === 1 ? meant[0] : null));
    group.addEventListener("pointerleave", () => this.does.hover(null));
    return group;
  }

  /**
   * Show the legal positions of the current tile, and the selected one.
   *
   * @param {Decision[]} places
   * @param {Decision | null} meant
   * @param {boolean} sure  whether only the confirmation is missing
   */
  haunt(places, meant, sure) {
    const cells = new Set(places.flatMap((one) => one.covers));
    const way = meant ? meant.at.filter((name) => !meant.covers.includes(name)) : [];
    this.#ghost.replaceChildren(
      ...this.#boxes(cells, "open"),
      ...this.#boxes(way, "way"),
      ...this.#boxes(meant?.covers ?? [], sure ? "tile sure" : "tile"),
      ...this.#boxes(meant?.marked ? [meant.marked] : [], "marked", 9),
      ...this.#gain(meant),
    );
  }

  /**
   * Yield a label with the gains from a tile, placed where it covers neither the tile nor a coat of arms.
   *
   * @param {Decision | null} meant
   */
  *#gain(meant) {
    const boxes = (meant?.covers ?? []).flatMap((name) => (this.#view?.spots[name] ? [this.#view.spots[name]] : []));
    if (!meant?.wins?.length || !boxes.length) return;
    const words = meant.wins.join(", ");
    const [left, top, wide, high] = boundsOf(boxes);
    const [right, bottom] = [left + wide, top + high];
    const [width, height] = [11 * words.length + 20, 30];
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    /** @type {[number, number][]} The middle of the label. */
    const places = [[x, top - 22], [x, bottom + 22], [right + width / 2 + 8, y], [left - width / 2 - 8, y], [x, top - 62], [x, bottom + 62]];
    const inside = places.map(([cx, cy]) => this.#inside(cx, cy, width, height));
    const [cx, cy] = inside.sort((a, b) => this.#hides(a, width, height, boxes) - this.#hides(b, width, height, boxes))[0];
    yield makeSvg("rect", { class: "gain", x: cx - width / 2, y: cy - height / 2, width, height, rx: 9 });
    const label = makeSvg("text", { class: "gain", "aria-hidden": "true", x: cx, y: cy + 7 });
    label.textContent = words;
    yield label;
  }

  /**
   * Move the center of a label so that the whole label is visible.
   *
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   * @returns {[number, number]}
   */
  #inside(x, y, width, height) {
    const box = this.#svg?.viewBox.baseVal;
    if (!box) return [x, y];
    const within = (/** @type {number} */ at, /** @type {number} */ from, /** @type {number} */ size, /** @type {number} */ own) =>
      Math.min(from + size - own / 2 - 2, Math.max(from + own / 2 + 2, at));
    return [within(x, box.x, box.width, width), within(y, box.y, box.height, height)];
  }

  /**
   * Return the area of the tile and of coats of arms that a label hides; coats of arms count twice.
   *
   * @param {[number, number]} middle
   * @param {number} width
   * @param {number} height
   * @param {Box[]} tile
   */
  #hides([x, y], width, height, tile) {
    const matrix = this.#svg?.getScreenCTM()?.inverse();
    /** @type {Box[]} */
    const coats = [];
    for (const part of matrix ? (this.#svg?.querySelectorAll('[data-part="coat"]') ?? []) : []) {
      const box = part.getBoundingClientRect();
      const [a, b] = [new DOMPoint(box.left, box.top), new DOMPoint(box.right, box.bottom)].map((one) => one.matrixTransform(matrix));
      coats.push([a.x, a.y, b.x - a.x, b.y - a.y]);
    }
    const common = (/** @type {Box} */ [left, top, w, h]) =>
      Math.max(0, Math.min(x + width / 2, left + w) - Math.max(x - width / 2, left)) *
      Math.max(0, Math.min(y + height / 2, top + h) - Math.max(y - height / 2, top));
    return [...tile, ...coats, ...coats].reduce((sum, box) => sum + common(box), 0);
  }

  /**
   * Mark the spot selected with the keyboard, or no spot.
   *
   * @param {string | null} name
   * @returns {{x: number, y: number} | null}  its middle in the window
   */
  cursor(name) {
    for (const old of this.#ghost.querySelectorAll(".cursor")) old.remove();
    const box = name ? this.#view?.spots[name] : undefined;
    const matrix = this.#svg?.getScreenCTM();
    if (!name || !box || !matrix) return null;
    this.#ghost.append(...this.#boxes([name], "cursor", 0));
    const point = new DOMPoint(box[0] + box[2] / 2, box[1] + box[3] / 2).matrixTransform(matrix);
    return { x: point.x, y: point.y };
  }

  /**
   * Return the legal actions at a spot.
   *
   * @param {string} name
   * @param {Decision[]} decisions
   */
  at(name, decisions) {
    return decisions.filter((one) => one.at.includes(name));
  }

  /**
   * Mark the spots of an action, or no spots.
   *
   * @param {Decision | null} decision
   */
  point(decision) {
    for (const spot of this.#spots.querySelectorAll(".spot")) {
      const ids = (/** @type {SVGGElement} */ (spot).dataset.ids ?? "").split(" ");
      spot.classList.toggle("meant", decision !== null && ids.includes(String(decision.id)));
    }
  }

  /**
   * Mark the spots of the selection.
   *
   * @param {(id: number) => number | null} times  how often an action is selected; null: it is not part of selections
   */
  pick(times) {
    for (const spot of /** @type {NodeListOf<SVGGElement>} */ (this.#spots.querySelectorAll(".spot"))) {
      const counts = (spot.dataset.ids ?? "").split(" ").map((id) => times(Number(id)));
      if (counts.includes(null)) continue;
      const count = counts.reduce((/** @type {number} */ sum, one) => sum + Number(one), 0);
      spot.classList.toggle("picked", count > 0);
      spot.dataset.pick = "";
      const mark = /** @type {SVGTextElement} */ (spot.querySelector("text.mark"));
      mark.textContent = count > 1 ? `${count}×` : count ? "✓" : "";
    }
  }

  /**
   * @param {Iterable<string>} names
   * @param {string} kind
   * @param {number} [rim]  distance inside the spots
   */
  *#boxes(names, kind, rim = 2) {
    for (const name of names) {
      const box = this.#view?.spots[name];
      if (!box) continue;
      const [x, y, width, height] = box;
      yield makeSvg("rect", { class: kind, x: x + rim, y: y + rim, width: width - 2 * rim, height: height - 2 * rim, rx: 5 });
    }
  }

  /**
   * Mark the parts added since the viewer's last action or the start of this turn, and animate the latest.
   *
   * @param {SVGSVGElement} svg
   * @param {View} view
   * @param {boolean} quiet
   */
  #mark(svg, view, quiet) {
    const parts = [...svg.querySelectorAll(LASTING)];
    const now = new Set(parts.map((part) => part.outerHTML));
    const last = view.log.at(-1);
    if (quiet || this.#before === null) {
      this.#atOwn.clear();
      this.#before = this.#atTurn = now;
    }
    if (last?.turn !== this.#turn) this.#atTurn = this.#before;
    if (last) this.#atOwn.set(last.seat, now);
    const known = view.viewer === null ? this.#atTurn : this.#atOwn.get(view.viewer) ?? this.#atTurn;
    for (const part of parts) {
      const text = part.outerHTML;
      part.classList.toggle("fresh", !this.#before.has(text));
      part.classList.toggle("latest", !known.has(text));
    }
    this.#turn = last?.turn;
    this.#before = now;
  }

  /**
   * Animate the movement of the token and tile of the last action.
   *
   * @param {SVGSVGElement} svg
   * @param {View} view
   * @param {boolean} quiet
   */
  #animate(svg, view, quiet) {
    const tokens = new Map([...svg.querySelectorAll('[data-part="senate"] circle')].flatMap((one) => placeOf(one)));
    const before = this.#tokens;
    this.#tokens = tokens;
    const last = view.log.at(-1);
    const words = last?.english ?? last?.words ?? "";
    if (quiet || !svg.animate || globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches) return;
    for (const [fill, { x, y, element }] of tokens) {
      const old = before.get(fill);
      if (!old || (old.x === x && old.y === y)) continue;
      for (const part of [element, element.nextElementSibling, element.nextElementSibling?.nextElementSibling]) {
        if (part?.localName === "circle" || part?.localName === "text") slide(part, old.x - x, old.y - y);
      }
    }
    const side = /from the (north|east|south|west)/.exec(words)?.[1] ?? (words.startsWith("laid") ? "north" : "");
    const [dx, dy] = { north: [0, -160], south: [0, 160], west: [-160, 0], east: [160, 0] }[side] ?? [0, 0];
    for (const tile of dx || dy ? svg.querySelectorAll('.fresh[data-part="tile"]') : []) slide(tile, dx, dy);
  }

  /**
   * Call a function with the position of an event in the picture.
   *
   * @param {MouseEvent} event
   * @param {(x: number, y: number, event: PointerEvent) => void} does
   */
  locate(event, does) {
    this.#at(/** @type {PointerEvent} */ (event), does);
  }

  /**
   * @param {PointerEvent} event
   * @param {(x: number, y: number, event: PointerEvent) => void} does
   */
  #at(event, does) {
    if (/** @type {Element} */ (event.target).closest(".below")) return;
    const matrix = this.#svg?.getScreenCTM();
    if (!matrix) return;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    does(point.x, point.y, event);
  }
}

/**
 * Return an arrow that points to a box from above.
 *
 * @param {Box} box
 */
function arrowAt([x, y, width]) {
  const tip = y + 4;
  const [left, middle, right] = [-16, 0, 16].map((dx) => x + width / 2 + dx);
  return makeSvg("path", { class: "arrow", d: `M${middle} ${tip} L${left} ${tip - 22} h9 v-22 h14 v22 H${right} Z` });
}

/**
 * Return a token keyed by its color, or nothing if the circle is not a token.
 *
 * @param {Element} circle
 * @returns {[string, {x: number, y: number, element: Element}][]}
 */
function placeOf(circle) {
  const fill = circle.getAttribute("fill") ?? "";
  if (!TOKENS.includes(fill)) return [];
  return [[fill, { x: Number(circle.getAttribute("cx")), y: Number(circle.getAttribute("cy")), element: circle }]];
}

/**
 * Animate a part of the picture as it slides into place.
 *
 * @param {Element} part
 * @param {number} dx  where it comes from, in pixels of the picture
 * @param {number} dy
 */
function slide(part, dx, dy) {
  part.animate([{ translate: `${dx}px ${dy}px` }, { translate: "0px 0px" }], { duration: 420, easing: "ease-out" });
}

/** The picture of the table with an overlay: clickable spots, and the tile that is being placed. */

import { makeSvg } from "./dom.js";

/** @typedef {import("./protocol.js").Box} Box */
/** @typedef {import("./protocol.js").Decision} Decision */
/** @typedef {import("./protocol.js").View} View */

/** Parts of a picture that stay in place; the page marks those that are new to the viewer. */
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
   * @param {boolean} quiet  whether to mark nothing as new, after an undo
   */
  show(view, quiet) {
    this.#view = view;
    if (view.svg === this.#text && this.#svg) return;
    this.#text = view.svg;
    this.#svg?.remove();
    this.#svg = null;
    if (!view.svg) return;
    const read = new DOMParser().parseFromString(view.svg, "image/svg+xml").documentElement;
    const svg = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (document.importNode(read, true)));
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    // The picture is one image, named by its title and description; screen readers ignore names of its parts.
    /** @type {[SVGPathElement, string][]} */
    const named = [];
    for (const part of svg.querySelectorAll("[aria-label]")) {
      const label = part.getAttribute("aria-label") ?? "";
      if (part instanceof SVGPathElement && /\bPlayer \d/.test(label)) named.push([part, label]);
      part.removeAttribute("aria-label");
    }
    const described = svg.querySelector("desc");
    if (described) described.textContent = withNames(described.textContent ?? "", view);
    this.#mark(svg, view, quiet);
    svg.append(this.#ghost, this.#spots);
    this.#svg = svg;
    this.holder.append(svg);
    for (const [path, label] of named) nameSeat(path, label, view);
  }

  /**
   * Show the whole table, or a part of it.
   *
   * @param {Box | null} box
   */
  look(box) {
    if (!this.#svg || !this.#view) return;
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
   * @param {boolean} [arrow]  whether an arrow points at the first one
   */
  offer(decisions, keyOf, arrow = false) {
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
    const first = arrow ? this.#view?.spots[decisions[0]?.at[0]] : undefined;
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
    title.textContent = meant.length === 1 ? meant[0].words : `${meant.length} actions`;
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
   * Yield a label above a tile with what it wins.
   *
   * @param {Decision | null} meant
   */
  *#gain(meant) {
    const boxes = (meant?.covers ?? []).flatMap((name) => (this.#view?.spots[name] ? [this.#view.spots[name]] : []));
    if (!meant?.wins?.length || !boxes.length) return;
    const left = Math.min(...boxes.map((box) => box[0]));
    const right = Math.max(...boxes.map((box) => box[0] + box[2]));
    const top = Math.min(...boxes.map((box) => box[1]));
    const label = makeSvg("text", { class: "gain", "aria-hidden": "true", x: (left + right) / 2, y: top - 8 });
    label.textContent = meant.wins.join(", ");
    yield label;
  }

  /**
   * Mark a spot for the keyboard, or none.
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
   * Return the legal actions of a spot.
   *
   * @param {string} name
   * @param {Decision[]} decisions
   */
  at(name, decisions) {
    return decisions.filter((one) => one.at.includes(name));
  }

  /**
   * Mark the spots of an action, or none.
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
      const count = counts.reduce((sum, one) => Number(sum) + Number(one), 0) ?? 0;
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
   * Mark parts that are new since the viewer's last action, or since the start of this turn, and animate the newest.
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
   * Call a function with the place of an event in the picture.
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
    const matrix = this.#svg?.getScreenCTM();
    if (!matrix) return;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    does(point.x, point.y, event);
  }
}

/**
 * Return an arrow from above to a box.
 *
 * @param {Box} box
 */
function arrowAt([x, y, width, height]) {
  const tip = y + Math.min(height / 2, 18);
  const [left, middle, right] = [-16, 0, 16].map((dx) => x + width / 2 + dx);
  return makeSvg("path", { class: "arrow", d: `M${middle} ${tip} L${left} ${tip - 22} h9 v-22 h14 v22 H${right} Z` });
}

/** Cap height and font size of lettering in pictures, before it is scaled. */
const FONT = 19;

/**
 * Return a text with the names of the table instead of the numbers of seats.
 *
 * @param {string} text
 * @param {View} view
 */
const withNames = (text, view) => text.replace(/\b[Pp]layer (\d)/g, (found, seat) => view.seats[Number(seat)]?.name ?? found);

/**
 * Write the names of the table instead of the numbers of seats. Lettering in a picture is drawn with lines.
 *
 * @param {SVGPathElement} path  letters that name a seat
 * @param {string} label  these letters
 * @param {View} view
 */
function nameSeat(path, label, view) {
  const named = withNames(label, view).replace(/^You \(you\)/, "You:");
  const width = path.getBBox().width;
  const text = makeSvg("text", { class: "named", "aria-hidden": "true", fill: path.getAttribute("stroke") ?? "currentColor", "font-size": FONT });
  const transform = path.getAttribute("transform");
  if (transform) text.setAttribute("transform", transform);
  text.textContent = named;
  path.replaceWith(text);
  if (text.getComputedTextLength() <= width * 1.05) return;
  text.setAttribute("textLength", String(width));
  text.setAttribute("lengthAdjust", "spacingAndGlyphs");
}

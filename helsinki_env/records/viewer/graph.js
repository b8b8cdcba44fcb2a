/** A graph of every seat's points or win probability over the actions of a game. */

import { makeSvg, t } from "./dom.js";

/** @typedef {import("./pictures.js").GameAnimation} GameAnimation */

/** Margins, in pixels, between the lines and the edges of the graph, which contain the labels. */
const RIM = { left: 50, right: 30, top: 12, bottom: 22 };
/** Dash patterns of the lines by seat, so that they can be distinguished without colors. */
const DASHES = ["none", "none", "9 7", "1 7"];
/** Steps between the labels of points. */
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500];

export class Graph {
  element = makeSvg("svg", { class: "graph", role: "img" });
  /** @type {GameAnimation} */
  #animation;
  /** @type {number[][]} */
  #rows = [];
  #shares = false;
  /** @type {number[]} */
  #costly = [];
  #number = 0;
  #cursor = makeSvg("line", { class: "cursor" });

  /**
   * @param {GameAnimation} animation
   * @param {(number: number) => void} jump  shows the position after a number of actions
   */
  constructor(animation, jump) {
    this.#animation = animation;
    const at = (/** @type {PointerEvent} */ event) => {
      const { left, width } = this.element.getBoundingClientRect();
      const along = (event.clientX - left - RIM.left) / (width - RIM.left - RIM.right);
      jump(Math.round(Math.min(1, Math.max(0, along)) * animation.steps.length));
    };
    this.element.addEventListener("pointerdown", (event) => {
      this.element.setPointerCapture?.(event.pointerId);
      at(event);
    });
    this.element.addEventListener("pointermove", (event) => event.buttons && at(event));
    if (globalThis.ResizeObserver) new ResizeObserver(() => this.#draw()).observe(this.element);
    else addEventListener("resize", () => this.#draw());
  }

  /**
   * Show different values.
   *
   * @param {number[][]} rows  one row per position, with a number for each seat
   * @param {boolean} shares  whether they are win probabilities instead of points
   * @param {number[]} costly  actions that are marked
   */
  plot(rows, shares, costly) {
    this.#rows = rows;
    this.#shares = shares;
    this.#costly = costly;
    this.element.setAttribute("aria-label", shares ? t("Win probabilities over the actions of the game") : t("Points over the actions of the game"));
    this.#draw();
  }

  /** @param {number} number  the position that is marked */
  show(number) {
    this.#number = number;
    const x = this.#x(number);
    for (const end of ["x1", "x2"]) this.#cursor.setAttribute(end, String(x));
  }

  get #width() {
    return Math.max(200, this.element.clientWidth);
  }

  get #height() {
    return Math.max(100, this.element.clientHeight);
  }

  /** @param {number} number */
  #x(number) {
    const wide = this.#width - RIM.left - RIM.right;
    return RIM.left + (wide * number) / Math.max(1, this.#animation.steps.length);
  }

  /** Return the step between labels, and the uppermost label. */
  #scale() {
    if (this.#shares) return { step: 0.25, top: 1 };
    const most = Math.max(1, ...this.#rows.flat());
    const step = STEPS.find((one) => most / one <= 5) ?? 1000;
    return { step, top: step * Math.ceil(most / step) };
  }

  #draw() {
    const { step, top } = this.#scale();
    const low = this.#height - RIM.bottom;
    const y = (/** @type {number} */ value) => low - ((low - RIM.top) * value) / top;
    this.element.setAttribute("viewBox", `0 0 ${this.#width} ${this.#height}`);
    this.#cursor = makeSvg("line", { class: "cursor", y1: RIM.top - 6, y2: low });
    this.element.replaceChildren(
      ...this.#levels(step, top, y),
      ...this.#rounds(low),
      ...this.#animation.players.flatMap((_, seat) => this.#line(seat, y)),
      ...this.#costly.map((number) => this.#mark(number, y)),
      ...this.#ends(y),
      this.#cursor,
    );
    this.show(this.#number);
  }

  /**
   * @param {number} step
   * @param {number} top
   * @param {(value: number) => number} y
   */
  *#levels(step, top, y) {
    for (let value = 0; value <= top; value += step) {
      yield makeSvg("line", { class: "level", x1: RIM.left, x2: this.#width - RIM.right, y1: y(value), y2: y(value) });
      const text = this.#shares ? t(`${100 * value}%`) : String(value);
      yield makeSvg("text", { class: "level", x: RIM.left - 8, y: y(value) + 4 }, text);
    }
  }

  /** @param {number} low */
  *#rounds(low) {
    yield makeSvg("text", { class: "level", x: RIM.left - 8, y: low + 18 }, t("Round"));
    let free = RIM.left;
    for (const [number, step] of this.#animation.steps.entries()) {
      const x = this.#x(number);
      if (step.round === this.#animation.steps[number - 1]?.round || x < free) continue;
      yield makeSvg("text", { class: "round", x, y: low + 18 }, String(step.round));
      yield makeSvg("line", { class: "level", x1: x, x2: x, y1: low, y2: low + 4 });
      free = x + 26;
    }
  }

  /**
   * @param {number} seat
   * @param {(value: number) => number} y
   */
  #line(seat, y) {
    const points = this.#rows.map((row, number) => `${this.#x(number).toFixed(1)},${y(row[seat]).toFixed(1)}`).join(" ");
    return [
      makeSvg("polyline", { class: "dark", points }),
      makeSvg("polyline", { class: `line of-${seat}`, points, "stroke-dasharray": DASHES[seat] }),
    ];
  }

  /**
   * @param {number} number
   * @param {(value: number) => number} y
   */
  #mark(number, y) {
    const { seat } = this.#animation.steps[number];
    return makeSvg("circle", { class: "costly", cx: this.#x(number + 1), cy: y(this.#rows[number + 1][seat]), r: 5.5 });
  }

  /** @param {(value: number) => number} y */
  *#ends(y) {
    const last = this.#rows.at(-1) ?? [];
    const seats = last.map((_, seat) => seat).sort((a, b) => last[b] - last[a] || a - b);
    let free = 0;
    for (const [place, seat] of seats.entries()) {
      const most = this.#height - 10 - 18 * (seats.length - 1 - place);
      const middle = Math.min(most, Math.max(free, y(last[seat])));
      yield makeSvg("circle", { class: `end of-${seat}`, cx: this.#width - 14, cy: middle, r: 8.5 });
      yield makeSvg("text", { class: `end of-${seat}`, x: this.#width - 14, y: middle + 4 }, String(seat + 1));
      free = middle + 18;
    }
  }
}

/**
 * Create a sample of a seat's line, for a legend.
 *
 * @param {number} seat
 */
export function sample(seat) {
  const [x1, x2, y1, y2] = [3, 37, 6, 6];
  return makeSvg(
    "svg",
    { class: "sample", viewBox: "0 0 40 12", "aria-hidden": "true" },
    makeSvg("line", { class: "dark", x1, x2, y1, y2 }),
    makeSvg("line", { class: `line of-${seat}`, x1, x2, y1, y2, "stroke-dasharray": DASHES[seat] }),
  );
}

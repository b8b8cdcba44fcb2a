/** The viewer for stepping through a game: its picture, a graph, and its actions in words. */

import { button, doing, make, makeSvg, t, token } from "./dom.js";
import { Graph, sample } from "./graph.js";
import { Course, costliest, costlyList, lost, report } from "./lists.js";
import { Pictures } from "./pictures.js";

/** @typedef {import("./pictures.js").GameAnimation} GameAnimation */
/** @typedef {import("./pictures.js").GameEvaluation} GameEvaluation */

/** Milliseconds per action during playback. */
const PACE = 900;
/** Icons of the buttons, as paths in a 24 by 24 square. */
const SIGNS = {
  first: "M6 5h2v14h-2zM20 5v14l-10-7z",
  back: "M15 4l2 2-6 6 6 6-2 2-8-8z",
  play: "M7 5v14l12-7z",
  pause: "M6 5h4v14h-4zM14 5h4v14h-4z",
  forward: "M9 4l8 8-8 8-2-2 6-6-6-6z",
  last: "M16 5h2v14h-2zM4 5v14l10-7z",
};

export class Viewer {
  /** @type {HTMLElement} */
  #root;
  /** @type {GameAnimation} */
  #animation;
  /** @type {GameEvaluation | null} */
  #evaluation = null;
  /** @type {(number: number) => void} */
  #moved;
  /** @type {(svg: SVGSVGElement, number: number) => void} */
  #drawn;
  #number = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} During playback. */
  #clock;
  #scene = make("div", { class: "scene", tabindex: "0", role: "group", "aria-label": t("Picture of the table") });
  #slider = make("input", { type: "range", min: "0", step: "1", "aria-label": t("Action") });
  #where = make("span", { class: "where" });
  #words = make("p", { class: "words", role: "status" });
  #play = button({ "aria-keyshortcuts": "Space" }, () => this.#toggle());
  #values = make("div", { class: "values", role: "group", "aria-label": t("What the graph shows") });
  #standing = make("ol", { class: "standing", "aria-label": t("Players") });
  #costly = make("section", { class: "panel costliest" });
  /** @type {Pictures} */
  #pictures;
  /** @type {Graph} */
  #graph;
  /** @type {Course} */
  #course;

  /**
   * @param {HTMLElement} root  the viewer replaces its contents
   * @param {GameAnimation} animation
   * @param {object} [options]
   * @param {(number: number) => void} [options.moved]  called with the number of actions before the shown position
   * @param {(svg: SVGSVGElement, number: number) => void} [options.drawn]  called with each picture once it is shown
   */
  constructor(root, animation, { moved = () => {}, drawn = () => {} } = {}) {
    this.#root = root;
    this.#animation = animation;
    this.#moved = moved;
    this.#drawn = drawn;
    const jump = (/** @type {number} */ number) => this.#go(number);
    this.#pictures = new Pictures(animation);
    this.#graph = new Graph(animation, jump);
    this.#course = new Course(animation, jump);
    root.classList.add("viewer");
    root.replaceChildren(
      make(
        "div",
        { class: "animation" },
        make("div", { class: "seen" }, this.#scene, this.#controls(), this.#words, this.#curves()),
        make("div", { class: "told" }, this.#costly, this.#all()),
      ),
    );
    document.addEventListener("keydown", (event) => this.#key(event));
    this.showEvaluation(animation.evaluation);
    this.show(0);
  }

  /** The number of actions before the shown position. */
  get number() {
    return this.#number;
  }

  /**
   * Show the position after a number of actions.
   *
   * @param {number} number
   */
  show(number) {
    this.#number = Math.min(this.#animation.steps.length, Math.max(0, number));
    const picture = this.#pictures.picture(this.#number);
    this.#scene.replaceChildren(picture);
    this.#drawn(picture, this.#number);
    // For screen readers, the picture is one image with a title and description; names of its parts are ignored.
    for (const part of picture.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
    this.#slider.value = String(this.#number);
    this.#graph.show(this.#number);
    this.#course.show(this.#number);
    this.#say();
    this.#stand();
    this.#moved(this.#number);
  }

  /**
   * Set or remove the evaluation of the game.
   *
   * @param {GameEvaluation | null} evaluation
   */
  showEvaluation(evaluation) {
    this.#evaluation = evaluation;
    this.#values.hidden = this.#costly.hidden = evaluation === null;
    if (evaluation) {
      this.#costly.replaceChildren(
        make("h2", {}, t("Costliest actions")),
        costlyList(this.#animation, evaluation, (number) => this.#go(number)),
        make("p", { class: "faint" }, t(`Win probabilities, evaluated by ${evaluation.evaluator}. Keys: N next, P previous mistake.`)),
        make(
          "div",
          { class: "mistakes" },
          button({ "aria-keyshortcuts": "p" }, () => this.#mistake(-1), t("Previous mistake")),
          button({ "aria-keyshortcuts": "n" }, () => this.#mistake(1), t("Next mistake")),
        ),
        report(this.#animation, evaluation),
      );
    }
    this.#course.showEvaluation(evaluation);
    this.#plot(evaluation !== null);
    this.#say();
    this.#stand();
  }

  #controls() {
    const last = this.#animation.steps.length;
    this.#slider.max = String(last);
    this.#slider.addEventListener("input", () => this.#go(Number(this.#slider.value)));
    const larger = button({ class: "larger", "aria-pressed": "false" }, () => {
      const now = this.#scene.classList.toggle("large");
      larger.setAttribute("aria-pressed", String(now));
    }, t("Larger"));
    this.#pause();
    return make(
      "div",
      { class: "panel transport" },
      sign("first", t("Go to the start"), "Home", () => this.#go(0)),
      sign("back", t("Previous action"), "ArrowLeft", () => this.#go(this.#number - 1)),
      this.#play,
      sign("forward", t("Next action"), "ArrowRight", () => this.#go(this.#number + 1)),
      sign("last", t("Go to the end"), "End", () => this.#go(last)),
      larger,
      this.#slider,
      this.#where,
    );
  }

  #curves() {
    for (const [name, shares] of /** @type {[string, boolean][]} */ ([[t("Win probability"), true], [t("Points"), false]])) {
      this.#values.append(button({}, () => this.#plot(shares), name));
    }
    const legend = make("div", { class: "legend" }, this.#standing, this.#values);
    return make("section", { class: "panel curves", "aria-label": t("Course of the game") }, legend, this.#graph.element);
  }

  #all() {
    const keys = t("Keys: ← → one action, Page ↑ ↓ one turn, Home and End, Space plays.");
    return make(
      "section",
      { class: "panel all" },
      make("h2", {}, t("Actions")),
      make("p", { class: "faint keys" }, keys),
      this.#course.element,
    );
  }

  /** @param {boolean} shares */
  #plot(shares) {
    const rows = shares && this.#evaluation ? this.#evaluation.shares : this.#animation.scores;
    this.#graph.plot(rows, shares, costliest(this.#evaluation));
    for (const [i, one] of [...this.#values.children].entries()) one.setAttribute("aria-pressed", String(shares === (i === 0)));
  }

  /** Describe the last action in words. */
  #say() {
    const { steps, players, result } = this.#animation;
    const step = steps[this.#number - 1];
    const round = (step ?? steps[0])?.round ?? 1;
    this.#where.textContent = t(`${this.#number} of ${steps.length}, round ${round}`);
    this.#slider.setAttribute("aria-valuetext", this.#where.textContent);
    this.#words.replaceChildren(step ? token(step.seat) : t("The game begins."));
    if (!step) return;
    this.#words.append(`${doing(t(players[step.seat]), t(step.said))}. `);
    const cost = lost(this.#evaluation?.costs[this.#number - 1]);
    const better = this.#evaluation?.better[this.#number - 1];
    if (cost) this.#words.append(make("b", { class: "cost" }, cost));
    if (cost && better) this.#words.append(make("span", { class: "better" }, ` ${t(`better: ${better}`)}`));
    const why = this.#evaluation?.why?.[this.#number - 1];
    if (cost && why) this.#words.append(make("span", { class: "why" }, ` ${t(why)}`));
    if (result && this.#number === steps.length) {
      const winners = players.filter((_, seat) => result.places[seat] === 0).map(t).join(` ${t("and")} `);
      this.#words.append(make("b", {}, ` ${t(`The game is over: ${winners} won.`)}`));
    }
  }

  /** Show the points and win probability of every seat. */
  #stand() {
    const shares = this.#evaluation?.shares[this.#number];
    const points = this.#animation.scores[this.#number];
    const items = this.#animation.players.map((name, seat) => {
      const item = make("li", {}, token(seat), sample(seat), make("span", { class: "name" }, t(name)));
      if (shares) item.append(make("b", {}, t(`${Math.round(100 * shares[seat])}%`)));
      item.append(make("span", {}, points[seat] === 1 ? t("1 point") : t(`${points[seat]} points`)));
      return item;
    });
    this.#standing.replaceChildren(...items);
  }

  /**
   * Stop the playback and show another position.
   *
   * @param {number} number
   */
  #go(number) {
    this.#pause();
    this.show(number);
  }

  #toggle() {
    if (this.#clock !== undefined) {
      this.#pause();
      return;
    }
    if (this.#number === this.#animation.steps.length) this.show(0);
    this.#clock = setInterval(() => {
      this.show(this.#number + 1);
      if (this.#number === this.#animation.steps.length) this.#pause();
    }, PACE);
    this.#words.setAttribute("aria-live", "off"); // too fast for screen readers
    face(this.#play, "pause", t("Pause (Space)"));
  }

  #pause() {
    clearInterval(this.#clock);
    this.#clock = undefined;
    this.#words.setAttribute("aria-live", "polite");
    face(this.#play, "play", t("Play (Space)"));
  }

  /**
   * Return the nearest start or end of a turn in a direction.
   *
   * @param {number} by  -1 or 1
   */
  #turn(by) {
    const { steps } = this.#animation;
    let number = this.#number + by;
    while (number > 0 && number < steps.length && steps[number].turn === steps[number - 1].turn) number += by;
    return number;
  }

  /**
   * Show the position after the next costly action in a direction.
   *
   * @param {number} by  -1 or 1
   */
  #mistake(by) {
    const after = costliest(this.#evaluation).map((number) => number + 1).sort((a, b) => by * (a - b));
    const next = after.find((number) => by * (number - this.#number) > 0);
    if (next !== undefined) this.#go(next);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const writes = target.closest("textarea, select, [contenteditable], dialog") || target.matches("input:not([type=range])");
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || writes) return;
    if (event.key === " " && target.closest("button, a, summary")) return;
    if (/^[a-z]$/.test(event.key) && !this.#root.contains(target)) return; // letters need the focus, WCAG 2.1.4
    const does = {
      ArrowLeft: () => this.#go(this.#number - 1),
      ArrowRight: () => this.#go(this.#number + 1),
      Home: () => this.#go(0),
      End: () => this.#go(this.#animation.steps.length),
      PageUp: () => this.#go(this.#turn(-1)),
      PageDown: () => this.#go(this.#turn(1)),
      " ": () => this.#toggle(),
      n: () => this.#mistake(1),
      p: () => this.#mistake(-1),
    }[event.key];
    if (!does || !this.#root.isConnected) return;
    event.preventDefault();
    does();
  }
}

/**
 * Create a button with an icon.
 *
 * @param {keyof SIGNS} name
 * @param {string} label
 * @param {string} key
 * @param {() => void} does
 */
function sign(name, label, key, does) {
  const element = button({ "aria-keyshortcuts": key }, does);
  face(element, name, label);
  return element;
}

/**
 * Set the icon of a button.
 *
 * @param {HTMLElement} element
 * @param {keyof SIGNS} name
 * @param {string} label
 */
function face(element, name, label) {
  element.setAttribute("aria-label", label);
  element.title = label;
  element.replaceChildren(makeSvg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, makeSvg("path", { d: SIGNS[name] })));
}

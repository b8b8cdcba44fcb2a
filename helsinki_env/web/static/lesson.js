/** The guided game: a script that explains, for each of the user's actions, what to do and why. */

import { button, byId, make } from "./dom.js";
import { keep, recall } from "./kept.js";
import { t } from "./language.js";

/** @typedef {import("./protocol.js").Decision} Decision */
/** @typedef {import("./protocol.js").Lesson} Script */
/** @typedef {import("./protocol.js").ToServer} ToServer */
/** @typedef {import("./protocol.js").View} View */

export class Lesson {
  /** @type {Script | null} */
  #script = null;
  #on = false;

  /**
   * @param {string} table
   * @param {(message: ToServer) => void} send
   * @param {() => void} left  called when the user leaves the lesson
   */
  constructor(table, send, left) {
    this.table = table;
    this.send = send;
    this.left = left;
    this.box = byId("lesson");
    this.#on = recall(`lesson.${table}`, new URLSearchParams(location.search).has("lesson") ? "yes" : "") === "yes";
  }

  /** Whether the game is guided. */
  get on() {
    return this.#on;
  }

  /** Request the script, only once. */
  begin() {
    if (this.#on && !this.#script) this.send({ type: "lesson" });
  }

  /** @param {Script} script */
  heard(script) {
    this.#script = script;
  }

  /**
   * Return the actions that the lesson allows now: the next action of the script, or all actions without a lesson.
   *
   * @param {View} view
   * @param {Decision[]} decisions
   */
  offered(view, decisions) {
    const step = this.#step(view);
    const found = decisions.filter((one) => one.text === step?.action);
    return found.length ? found : decisions;
  }

  /**
   * Return whether the script determines the next action.
   *
   * @param {View} view
   */
  leads(view) {
    return this.#step(view) !== null;
  }

  /** @param {View} view  Show the text of the current step. */
  show(view) {
    this.box.hidden = !this.#on || !this.#script;
    if (!this.#on || !this.#script) return;
    const { steps, end } = this.#script;
    const done = this.#done(view);
    const step = this.#step(view);
    const over = done >= steps.length || view.done || (view.decisions.length > 0 && !step);
    const text = over ? end : (step?.text ?? t("The opponent acts. Its actions are in the game log."));
    const count = over ? "" : t(`Step ${Math.min(done + 1, steps.length)} of ${steps.length}`);
    const leave = button(over ? t("Play on") : t("Leave the lesson"), () => this.#leave());
    this.box.classList.add("guided");
    this.box.replaceChildren(make("p", { class: "told" }, text), make("div", { class: "row" }, make("span", { class: "soft" }, count), leave));
  }

  #leave() {
    this.#on = false;
    keep(`lesson.${this.table}`, "no");
    this.box.hidden = true;
    this.left();
  }

  /** @param {View} view  Return the number of the user's actions so far. */
  #done(view) {
    return view.log.filter((one) => one.seat === view.mine[0]).length;
  }

  /** @param {View} view */
  #step(view) {
    if (!this.#on || !this.#script || !view.decisions.length) return null;
    const step = this.#script.steps[this.#done(view)];
    return step && view.decisions.some((one) => one.text === step.action) ? step : null;
  }
}

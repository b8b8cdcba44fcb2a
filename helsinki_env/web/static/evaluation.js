/** The evaluation of an analyzed game: evaluator selection, progress and results. */

import { Unreachable, ask } from "./access.js";
import { byId, counted, make } from "./dom.js";
import { t } from "./language.js";

/** @typedef {import("./protocol.js").EvaluationProgress} EvaluationProgress */

/** Milliseconds between two progress requests. */
const AGAIN = 400;

const select = /** @type {HTMLSelectElement} */ (byId("evaluator"));
const start = /** @type {HTMLButtonElement} */ (byId("start"));
const bar = /** @type {HTMLProgressElement} */ (byId("progress"));

/** @param {string} evaluator  name of the evaluator */
function named(evaluator) {
  const simulations = evaluator.split(":")[1];
  return simulations ? t(`Network, ${simulations} simulations`) : t("Network");
}

export class EvaluationPanel {
  /** Number of requests so far; responses to earlier ones are ignored. */
  #wanted = 0;
  #running = false;

  /**
   * @param {string} record
   * @param {string[]} evaluators  fastest first
   * @param {(evaluation: any) => void} thought  receives the result; null: none yet
   * @param {(problem: unknown) => void} complain
   */
  constructor(record, evaluators, thought, complain) {
    this.record = record;
    this.evaluators = evaluators;
    this.thought = thought;
    this.complain = complain;
    select.replaceChildren(...evaluators.map((evaluator) => make("option", { value: evaluator }, named(evaluator))));
    select.addEventListener("change", () => {
      // The state of the selected evaluator is unknown, so it can be neither started nor stopped.
      this.#running = false;
      start.textContent = t("Evaluate");
      start.hidden = true;
      bar.hidden = true;
      byId("state").textContent = "";
      this.#do("GET");
    });
    start.addEventListener("click", () => this.#do(this.#running ? "DELETE" : "POST"));
  }

  /** The evaluator whose result is shown; may be empty. */
  shown = "";

  /** Show the result of the strongest evaluator that was started before, or start the fastest evaluator. */
  async begin() {
    const mine = ++this.#wanted;
    for (const evaluator of [...this.evaluators].reverse()) {
      const found = await this.#ask("GET", evaluator);
      if (mine !== this.#wanted) return;
      if (found.state !== "done" && found.state !== "running") continue;
      select.value = evaluator;
      return this.#follow(found, mine);
    }
    select.value = this.evaluators[0];
    return this.#do("POST");
  }

  /**
   * @param {"GET" | "POST" | "DELETE"} method
   * @param {string} evaluator
   * @returns {Promise<EvaluationProgress>}
   */
  #ask(method, evaluator) {
    return ask(method, `/api/records/${this.record}/evaluation?evaluator=${encodeURIComponent(evaluator)}`);
  }

  /** @param {"GET" | "POST" | "DELETE"} method */
  async #do(method) {
    const mine = ++this.#wanted;
    try {
      await this.#follow(await this.#ask(method, select.value), mine);
    } catch (problem) {
      if (mine !== this.#wanted) return;
      start.hidden = false;
      this.complain(problem);
    }
  }

  /**
   * Show the progress until the evaluation ends or another request replaces this one.
   *
   * @param {EvaluationProgress} progress
   * @param {number} mine  value of `#wanted` at the request
   */
  async #follow(progress, mine) {
    while (mine === this.#wanted) {
      this.#show(progress);
      if (progress.state !== "running") return;
      await new Promise((done) => setTimeout(done, AGAIN));
      if (mine !== this.#wanted) return;
      try {
        progress = await this.#ask("GET", progress.evaluator);
      } catch (problem) {
        if (!(problem instanceof Unreachable)) throw problem; // the server may become available again
      }
    }
  }

  /** @param {EvaluationProgress} progress */
  #show({ evaluator, state, done, total, problem, evaluation }) {
    this.#running = state === "running";
    start.textContent = this.#running ? t("Stop") : done ? t("Resume") : t("Evaluate");
    start.hidden = state === "done";
    bar.hidden = !this.#running;
    if (total) bar.max = total;
    if (total) bar.value = done;
    else bar.removeAttribute("value");
    const far = total ? t(`${done} of ${counted(total, "action")}`) : t("Starting …");
    byId("state").textContent = this.#running ? far : t(problem);
    if (this.#running) return;
    this.shown = evaluation ? evaluator : "";
    this.thought(evaluation);
  }
}

/** The evaluation of an analyzed game: evaluator selection, progress and results. */

import { Unreachable, ask } from "./access.js";
import { byId, counted, make } from "./dom.js";
import { t } from "./language.js";

/** @typedef {import("./protocol.js").Judging} Judging */

/** Milliseconds between two progress requests. */
const AGAIN = 400;

const select = /** @type {HTMLSelectElement} */ (byId("judge"));
const start = /** @type {HTMLButtonElement} */ (byId("start"));
const bar = /** @type {HTMLProgressElement} */ (byId("progress"));

/** @param {string} judge  name of the evaluator */
function named(judge) {
  const simulations = judge.split(":")[1];
  return simulations ? t(`Network, ${simulations} simulations`) : t("Network");
}

export class Judge {
  /** Number of requests so far; responses to earlier ones are ignored. */
  #wanted = 0;
  #running = false;

  /**
   * @param {string} record
   * @param {string[]} judges  fastest first
   * @param {(judgement: any) => void} thought  receives the result; null: none yet
   * @param {(problem: unknown) => void} complain
   */
  constructor(record, judges, thought, complain) {
    this.record = record;
    this.judges = judges;
    this.thought = thought;
    this.complain = complain;
    select.replaceChildren(...judges.map((judge) => make("option", { value: judge }, named(judge))));
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
    for (const judge of [...this.judges].reverse()) {
      const found = await this.#ask("GET", judge);
      if (mine !== this.#wanted) return;
      if (found.state !== "done" && found.state !== "running") continue;
      select.value = judge;
      return this.#follow(found, mine);
    }
    select.value = this.judges[0];
    return this.#do("POST");
  }

  /**
   * @param {"GET" | "POST" | "DELETE"} method
   * @param {string} judge
   * @returns {Promise<Judging>}
   */
  #ask(method, judge) {
    return ask(method, `/api/records/${this.record}/judgement?judge=${encodeURIComponent(judge)}`);
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
   * @param {Judging} judging
   * @param {number} mine  value of `#wanted` at the request
   */
  async #follow(judging, mine) {
    while (mine === this.#wanted) {
      this.#show(judging);
      if (judging.state !== "running") return;
      await new Promise((done) => setTimeout(done, AGAIN));
      if (mine !== this.#wanted) return;
      try {
        judging = await this.#ask("GET", judging.judge);
      } catch (problem) {
        if (!(problem instanceof Unreachable)) throw problem; // the server may become available again
      }
    }
  }

  /** @param {Judging} judging */
  #show({ judge, state, done, total, problem, judgement }) {
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
    this.shown = judgement ? judge : "";
    this.thought(judgement);
  }
}

/** Who judges a game that is taken apart, how far they are, and what they think. */

import { Unreachable, ask } from "./access.js";
import { byId, counted, make } from "./dom.js";

/** @typedef {import("./protocol.js").Judging} Judging */

/** Milliseconds between two questions how far a judge is. */
const AGAIN = 400;

const select = /** @type {HTMLSelectElement} */ (byId("judge"));
const start = /** @type {HTMLButtonElement} */ (byId("start"));
const bar = /** @type {HTMLProgressElement} */ (byId("progress"));

/** @param {string} judge  as the server calls it */
function named(judge) {
  const trials = judge.split(":")[1];
  return trials ? `The network, ${trials} trials` : "The network";
}

export class Judge {
  /** How often somebody has wanted to know something else: what was asked before is of no interest when it is answered. */
  #wanted = 0;
  #running = false;

  /**
   * @param {string} record
   * @param {string[]} judges  the quickest first
   * @param {(judgement: any) => void} thought  gets what a judge thinks; null: nothing yet
   * @param {(problem: unknown) => void} complain
   */
  constructor(record, judges, thought, complain) {
    this.record = record;
    this.judges = judges;
    this.thought = thought;
    this.complain = complain;
    select.replaceChildren(...judges.map((judge) => make("option", { value: judge }, named(judge))));
    select.addEventListener("change", () => {
      // Until it is known what the one who was chosen does, there is nothing to be begun or stopped.
      this.#running = false;
      start.textContent = "Judge";
      start.hidden = true;
      bar.hidden = true;
      byId("state").textContent = "";
      this.#do("GET");
    });
    start.addEventListener("click", () => this.#do(this.#running ? "DELETE" : "POST"));
  }

  /** The judge whose opinion is shown; empty if nobody's is. */
  shown = "";

  /** Show what the best judge thinks who was asked before; if nobody was, ask the quickest. */
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
   * Show how far a judge is, until they are done or something else is wanted.
   *
   * @param {Judging} judging
   * @param {number} mine  what `#wanted` was when it was asked for
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
        if (!(problem instanceof Unreachable)) throw problem; // the server was stopped, and may come back
      }
    }
  }

  /** @param {Judging} judging */
  #show({ judge, state, done, total, problem, judgement }) {
    this.#running = state === "running";
    start.textContent = this.#running ? "Stop" : done ? "Go on judging" : "Judge";
    start.hidden = state === "done";
    bar.hidden = !this.#running;
    if (total) bar.max = total;
    if (total) bar.value = done;
    else bar.removeAttribute("value");
    const far = total ? `${done} of ${counted(total, "decision")}` : "One moment";
    byId("state").textContent = this.#running ? far : problem;
    if (this.#running) return;
    this.shown = judgement ? judge : "";
    this.thought(judgement);
  }
}

/** The teaching mode, in which actions that greatly reduce the win probability must be confirmed. */

import { keep, recall } from "./kept.js";

/** @typedef {import("./protocol.js").Decision} Decision */
/** @typedef {import("./protocol.js").ToServer} ToServer */

/** Minimum regret, in win probability, at which an action must be confirmed. */
const WEAK = 0.05;
/** Milliseconds to wait for an evaluation before taking the action without it. */
const PATIENCE = 4000;

export class Teaching {
  /** @type {{number: number, decision: Decision, anyway: () => void, fine: () => void} | null} The action being checked. */
  #about = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #clock;

  /**
   * @param {HTMLInputElement} wanted  checkbox that enables the mode
   * @param {(message: ToServer) => void} send
   * @param {(decision: Decision, words: string, does: () => void) => void} question
   */
  constructor(wanted, send, question) {
    this.wanted = wanted;
    this.send = send;
    this.question = question;
    wanted.checked = recall("teach", "no") === "yes";
    wanted.addEventListener("change", () => keep("teach", wanted.checked ? "yes" : "no"));
  }

  /**
   * Check an action.
   *
   * @param {boolean} exempt  whether the action needs no check
   * @param {number} number  number of actions taken
   * @param {Decision} decision
   * @param {() => void} anyway  takes the action although it is weak
   * @param {() => void} fine  takes the action if it is not weak
   */
  check(exempt, number, decision, anyway, fine) {
    this.drop();
    if (exempt || !this.wanted.checked) return fine();
    this.#about = { number, decision, anyway, fine };
    this.#clock = setTimeout(() => this.#done()?.fine(), PATIENCE);
    this.send({ type: "teach", number, action: decision.id });
  }

  /** Cancel the check in progress. */
  drop() {
    this.#done();
  }

  #done() {
    clearTimeout(this.#clock);
    const about = this.#about;
    this.#about = null;
    return about;
  }

  /** @param {{number: number, action: number, regret: number, hint: string}} taught */
  heard({ number, action, regret, hint }) {
    if (this.#about?.number !== number || this.#about.decision.id !== action) return;
    const about = this.#done();
    if (regret < WEAK) return about?.fine();
    const words = `${about?.decision.words}? This loses about ${Math.round(100 * regret)}% of the win probability. ${hint} Take it anyway?`;
    if (about) this.question(about.decision, words, about.anyway);
  }
}

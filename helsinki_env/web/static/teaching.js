/** The teaching mode: an action that loses a large win probability must be confirmed. */

import { keep, recall } from "./kept.js";
import { percent, t } from "./language.js";

/** @typedef {import("./protocol.js").Decision} Decision */
/** @typedef {import("./protocol.js").ToServer} ToServer */

/** Minimum regret, in win probability, of an action that must be confirmed. */
const WEAK = 0.05;
/** Milliseconds after which an action is taken without an evaluation. */
const PATIENCE = 4000;

export class Teaching {
  /** @type {{number: number, decision: Decision, anyway: () => void, fine: () => void} | null} The action being checked. */
  #about = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #clock;

  /**
   * @param {HTMLInputElement} wanted  whether the mode is on
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
   * @param {boolean} exempt  whether it needs no check
   * @param {number} number  of actions taken
   * @param {Decision} decision
   * @param {() => void} anyway  takes a weak action after all
   * @param {() => void} fine  takes an action that is not weak
   */
  check(exempt, number, decision, anyway, fine) {
    this.drop();
    if (exempt || !this.wanted.checked) return fine();
    this.#about = { number, decision, anyway, fine };
    this.#clock = setTimeout(() => this.#done()?.fine(), PATIENCE);
    this.send({ type: "teach", number, action: decision.id });
  }

  /** Discard the action being checked. */
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
    const loss = percent(regret);
    const words = [`${about?.decision.words}?`, t(`This loses about ${loss} of the win probability.`), hint, t("Take it anyway?")].join(" ");
    if (about) this.question(about.decision, words, about.anyway);
  }
}

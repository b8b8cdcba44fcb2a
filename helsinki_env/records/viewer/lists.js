/** Lists of all actions of a game, grouped by turn, and of the actions with the largest regret. */

import { button, make, t, token } from "./dom.js";

/** @typedef {import("./pictures.js").GameAnimation} GameAnimation */
/** @typedef {import("./pictures.js").GameEvaluation} GameEvaluation */

/** Minimum regret of listed actions. */
const COSTLY = 0.03;
const MOST_COSTLY = 8;

/**
 * Return the actions with the largest regret, worst first.
 *
 * @param {GameEvaluation | null} evaluation
 */
export function costliest(evaluation) {
  const costs = evaluation?.costs ?? [];
  const costly = [...costs.keys()].filter((number) => (costs[number] ?? 0) >= COSTLY);
  return costly.sort((a, b) => (costs[b] ?? 0) - (costs[a] ?? 0) || a - b).slice(0, MOST_COSTLY);
}

/**
 * Format the regret of an action, such as `−12%`; empty if it is near zero.
 *
 * @param {number | null | undefined} cost
 */
export function lost(cost) {
  const percent = Math.round(100 * (cost ?? 0));
  const less = `−${percent}`;
  return percent ? t(`${less}%`) : "";
}

/**
 * Create the list of actions with the largest regret.
 *
 * @param {GameAnimation} animation
 * @param {GameEvaluation} evaluation
 * @param {(number: number) => void} jump
 */
export function costlyList(animation, evaluation, jump) {
  const numbers = costliest(evaluation);
  if (!numbers.length) return make("p", { class: "faint" }, t(`No action reduced the win probability by ${100 * COSTLY}% or more.`));
  const items = numbers.map((number) => {
    const { seat, said, round } = animation.steps[number];
    const better = evaluation.better[number];
    const words = make("span", {}, `${t(`Round ${round}`)}: ${t(animation.players[seat])} ${t(said)}`);
    if (better) words.append(make("span", { class: "better" }, t(`better: ${better}`)));
    const cost = make("b", { class: "cost" }, lost(evaluation.costs[number]));
    return make("li", {}, button({ class: "step" }, () => jump(number + 1), token(seat), words, cost));
  });
  return make("ol", {}, ...items);
}

/** @param {number} value  Format a number with one digit after the decimal point. */
const decimal = (value) => value.toLocaleString(document.documentElement.lang, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Parts of a game over which regret is averaged. */
const PARTS = ["Opening", "Middle", "End"];
/** Regret up to which an action counts as the best one. */
const BEST = 0.005;

/**
 * Create the performance report: each player's share of best actions, and mean regret in each third of the game.
 *
 * @param {GameAnimation} animation
 * @param {GameEvaluation} evaluation
 */
export function report(animation, evaluation) {
  const last = animation.steps.at(-1)?.round ?? 1;
  const third = (/** @type {number} */ round) => Math.min(2, Math.floor((3 * (round - 1)) / last));
  const rows = animation.players.map((name, seat) => {
    const own = [...animation.steps.keys()].filter((n) => animation.steps[n].seat === seat && evaluation.costs[n] !== null);
    const best = own.filter((n) => (evaluation.costs[n] ?? 0) <= BEST).length;
    const means = PARTS.map((_, part) => {
      const costs = own.filter((n) => third(animation.steps[n].round) === part).map((n) => evaluation.costs[n] ?? 0);
      return costs.length ? t(`${decimal((100 * costs.reduce((sum, one) => sum + one, 0)) / costs.length)}%`) : "–";
    });
    const share = own.length ? t(`${Math.round((100 * best) / own.length)}% of ${own.length}`) : "–";
    return make("tr", {}, make("th", { scope: "row" }, token(seat), " ", t(name)), ...[share, ...means].map((text) => make("td", {}, text)));
  });
  const heads = [t("Player"), t("Best actions"), t("Opening"), t("Middle"), t("End")].map((text) => make("th", { scope: "col" }, text));
  return make(
    "details",
    { class: "report" },
    make("summary", {}, t("Performance report")),
    make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)),
    make("p", { class: "faint" }, t("Opening, Middle and End: mean win probability lost by an action in each third of the rounds. Forced actions do not count.")),
  );
}

/** All actions, grouped by turn. The current action is marked and scrolled into view. */
export class Course {
  element = make("div", { class: "course", tabindex: "0", role: "group", "aria-label": t("All actions") });
  /** @type {HTMLElement[]} The button of each position. */
  #buttons = [];
  /** @type {HTMLElement[]} The regret of each action. */
  #costs = [];
  /** @type {HTMLElement | undefined} */
  #current;

  /**
   * @param {GameAnimation} animation
   * @param {(number: number) => void} jump
   */
  constructor(animation, jump) {
    this.#buttons.push(button({ class: "step" }, () => jump(0), t("Start of the game")));
    this.element.append(this.#buttons[0]);
    let list = make("ol");
    for (const [number, step] of animation.steps.entries()) {
      if (step.turn !== animation.steps[number - 1]?.turn) {
        list = make("ol");
        const title = make("h3", {}, token(step.seat), `${t(animation.players[step.seat])}, ${t(`round ${step.round}`)}`);
        this.element.append(make("section", {}, title, list));
      }
      const cost = make("b", { class: "cost" });
      const one = button({ class: step.forced ? "step faint" : "step" }, () => jump(number + 1), make("span", {}, t(step.said)), cost);
      this.#costs.push(cost);
      this.#buttons.push(one);
      list.append(make("li", {}, one));
    }
  }

  /** @param {GameEvaluation | null} evaluation */
  showEvaluation(evaluation) {
    for (const [number, cost] of this.#costs.entries()) cost.textContent = lost(evaluation?.costs[number]);
  }

  /** @param {number} number */
  show(number) {
    this.#current?.removeAttribute("aria-current");
    const current = this.#buttons[number];
    current.setAttribute("aria-current", "step");
    this.#current = current;
    const box = current.getBoundingClientRect();
    const sight = this.element.getBoundingClientRect();
    const rim = Math.min(40, sight.height / 4);
    if (box.top < sight.top + rim || box.bottom > sight.bottom - rim) {
      this.element.scrollTop += box.top - sight.top - sight.height / 3;
    }
  }
}

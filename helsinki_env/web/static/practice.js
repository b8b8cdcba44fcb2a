/** Practice: positions that are repeated and graded by the network, one action each, and puzzles. */

import { ask } from "./access.js";
import { button, byId, counted, make } from "./dom.js";
import { keep } from "./kept.js";
import { percent, t } from "./language.js";

/** @typedef {import("./protocol.js").Decision} Decision */
/** @typedef {import("./protocol.js").Graded} Graded */
/** @typedef {import("./protocol.js").PracticeState} State */
/** @typedef {import("./protocol.js").ToServer} ToServer */

/** Milliseconds between two requests while games are being examined. */
const AGAIN = 1500;

/** @param {number} part */
const lossOf = (part) => percent(Math.max(0.01, part));

/** @param {number} days  Describe in words when an exercise is repeated. */
const later = (days) => (days < 0.5 ? t("in ten minutes") : t(`in ${counted(Math.round(days), "day")}`));

export class Practice {
  /** @type {State | null} */
  #state = null;

  /**
   * @param {string} name  "practice", "puzzles", or the name of a table
   * @param {(message: ToServer) => void} send
   * @param {(graded: Graded) => void} shown  marks the best action in the picture
   */
  constructor(name, send, shown) {
    this.on = name === "practice" || name === "puzzles";
    this.send = send;
    this.shown = shown;
    this.box = byId("lesson");
    document.body.classList.toggle("practice", this.on);
  }

  /** @param {State} state  Show the exercise, or a message that there is none. */
  heard(state) {
    this.#state = state;
    const { kind, exercise, due, total, left } = state;
    if (kind === "puzzles") keep("puzzle", String(exercise ? total - due : 0)); // where to continue after a reload
    byId("title").textContent = kind === "puzzles" ? t("Puzzles") : t("Practice");
    document.body.classList.toggle("idle", !exercise);
    this.box.className = "lesson sheet";
    this.box.hidden = false;
    if (!exercise) return this.#none(state);
    const which = kind === "puzzles" ? t(`${exercise.title} of ${total}`) : t(`${counted(due, "position")} due of ${total}`);
    const again = exercise.seen ? ` ${t(`You have seen it ${counted(exercise.seen, "time")}.`)}` : "";
    const from = kind === "puzzles" ? "" : t(`From your game: ${exercise.title}.`) + again;
    this.box.replaceChildren(
      make("p", { class: "told" }, t("Find the best action. It is not the obvious one.")),
      make("div", { class: "row" }, make("span", { class: "soft" }, [which, from].filter(Boolean).join(". ")), this.#next(t("Skip"), "")),
    );
    if (left) this.box.append(make("p", { class: "soft" }, t(`${counted(left, "finished game")} to examine.`)));
  }

  /**
   * @param {string} text
   * @param {string} [kind]
   */
  #next(text, kind = "main") {
    return button(text, () => this.send({ type: "next" }), { class: kind });
  }

  /** @param {State} state */
  #none({ kind, total, left }) {
    const waits = left ? t(`${counted(left, "finished game")} to examine …`) : "";
    const planned = total ? t(`${counted(total, "position")} will come again later.`) : t("Finish a game: positions in which you missed a better action appear here.");
    const links = [make("a", { href: "/", class: "button" }, t("Start page"))];
    if (kind !== "puzzles") links.push(make("a", { href: "/puzzles", class: "button" }, t("Puzzles")));
    this.box.replaceChildren(
      make("h2", {}, kind === "puzzles" ? t("All puzzles are done") : t("No position is due now")),
      make("p", {}, kind === "puzzles" ? "" : waits || planned),
      make("div", { class: "row" }, ...links),
    );
    if (left) setTimeout(() => this.send({ type: "next" }), AGAIN);
  }

  /** @param {Graded} graded  Show the grade of an answer. */
  graded(graded) {
    const { good, regret, words, played, same, win, why, days } = graded;
    const head = good ? t("Correct.") : t(`This loses ${lossOf(regret)} of the win probability.`);
    const lines = [good && regret < 0.001 ? t("It is the best action.") : t(`The best action: ${words} (${lossOf(win)} to win).`), why];
    if (!same && played && this.#state?.kind === "practice") lines.push(t(`In the game you chose: ${played}.`));
    if (same && !good) lines.push(t("It is what you chose in the game."));
    if (days) lines.push(t(`It will be repeated ${later(days)}.`));
    this.box.className = `lesson sheet ${good ? "good" : "bad"}`;
    const next = this.#next(t("Next position"));
    this.box.replaceChildren(
      make("p", { class: "told" }, make("b", {}, head), " ", lines.filter(Boolean).join(" ")),
      make("div", { class: "row" }, make("span", { class: "soft" }, t("Other actions can be tried; only the first answer counts.")), next),
    );
    next.focus({ preventScroll: true });
    this.shown(graded);
  }
}

/**
 * Show the number of exercises and puzzles on the start page.
 *
 * @param {HTMLElement} section
 */
export async function showPracticeCard(section) {
  const { due, total, left, puzzles } = await ask("GET", "/api/practice");
  const about = due
    ? due === 1
      ? t("1 position from your games is due.")
      : t(`${counted(due, "position")} from your games are due.`)
    : total
      ? t("No position is due now.")
      : t("Positions in which you missed a better action are repeated at increasing intervals.");
  const examined = left ? ` ${t(`${counted(left, "finished game")} to examine.`)}` : "";
  section.replaceChildren(
    make("h2", { id: "practice-title" }, t("Practice")),
    make("p", { class: "soft" }, about + examined),
    make(
      "div",
      { class: "row" },
      make("a", { href: "/practice", class: due ? "button main" : "button" }, t("Learn from your mistakes")),
      make("a", { href: "/puzzles", class: "button" }, t(counted(puzzles, "puzzle"))),
    ),
  );
}

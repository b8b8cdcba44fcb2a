/**
 * Practice with spaced repetition of positions, and puzzles. Each exercise asks for one action, graded by the network.
 */

import { ask } from "./access.js";
import { button, byId, counted, make } from "./dom.js";

/** @typedef {import("./protocol.js").Decision} Decision */
/** @typedef {import("./protocol.js").Graded} Graded */
/** @typedef {import("./protocol.js").PracticeState} State */
/** @typedef {import("./protocol.js").ToServer} ToServer */

/** Milliseconds between requests while finished games are examined. */
const AGAIN = 1500;

/** @param {number} part */
const lossOf = (part) => `${Math.max(1, Math.round(100 * part))}%`;

/**
 * Describe when an exercise is due again.
 *
 * @param {number} days
 */
const later = (days) => (days < 0.5 ? "in ten minutes" : `in ${counted(Math.round(days), "day")}`);

export class Practice {
  /** @type {State | null} */
  #state = null;

  /**
   * @param {string} name  "practice", "puzzles", or the name of a table
   * @param {(message: ToServer) => void} send
   * @param {(graded: Graded) => void} shown  called to mark the best action in the picture
   */
  constructor(name, send, shown) {
    this.on = name === "practice" || name === "puzzles";
    this.send = send;
    this.shown = shown;
    this.box = byId("lesson");
    document.body.classList.toggle("practice", this.on);
  }

  /**
   * Show the current exercise, or that there is none.
   *
   * @param {State} state
   */
  heard(state) {
    this.#state = state;
    const { kind, exercise, due, total, left } = state;
    byId("title").textContent = kind === "puzzles" ? "Puzzles" : "Practice";
    document.body.classList.toggle("idle", !exercise);
    this.box.className = "lesson sheet";
    this.box.hidden = false;
    if (!exercise) return this.#none(state);
    const which = kind === "puzzles" ? `${exercise.title} of ${total}` : `${counted(due, "position")} due of ${total}`;
    const again = exercise.seen ? ` You have seen it ${counted(exercise.seen, "time")}.` : "";
    const from = kind === "puzzles" ? "" : `From your game: ${exercise.title}.${again}`;
    this.box.replaceChildren(
      make("p", { class: "told" }, "Find the best action. It is not the obvious one."),
      make("div", { class: "row" }, make("span", { class: "soft" }, [which, from].filter(Boolean).join(". ")), this.#next("Skip")),
    );
    if (left) this.box.append(make("p", { class: "soft" }, `${counted(left, "finished game")} to examine.`));
  }

  /** @param {string} text */
  #next(text) {
    return button(text, () => this.send({ type: "next" }), { class: text === "Skip" ? "" : "main" });
  }

  /** @param {State} state */
  #none({ kind, total, left }) {
    const waits = left ? `${counted(left, "finished game")} to examine …` : "";
    const planned = total ? `${counted(total, "position")} will come again later.` : "Finish a game: positions in which you missed a better action are asked here.";
    const links = [make("a", { href: "/", class: "button" }, "Start page")];
    if (kind !== "puzzles") links.push(make("a", { href: "/puzzles", class: "button" }, "Puzzles"));
    this.box.replaceChildren(
      make("h2", {}, kind === "puzzles" ? "All puzzles are done" : "No position is due now"),
      make("p", {}, kind === "puzzles" ? "" : waits || planned),
      make("div", { class: "row" }, ...links),
    );
    if (left) setTimeout(() => this.send({ type: "next" }), AGAIN);
  }

  /**
   * Show how an answer was graded.
   *
   * @param {Graded} graded
   */
  graded(graded) {
    const { good, regret, words, played, same, win, why, days } = graded;
    const head = good ? "Correct." : `This loses ${lossOf(regret)} of the win probability.`;
    const lines = [good && regret < 0.001 ? "It is the best action." : `The best action: ${words} (${lossOf(win)} to win).`, why];
    if (!same && played && this.#state?.kind === "practice") lines.push(`In the game you chose: ${played}.`);
    if (same && !good) lines.push("It is what you chose in the game.");
    if (days) lines.push(`It comes again ${later(days)}.`);
    this.box.className = `lesson sheet ${good ? "good" : "bad"}`;
    const next = this.#next("Next position");
    this.box.replaceChildren(
      make("p", { class: "told" }, make("b", {}, head), " ", lines.filter(Boolean).join(" ")),
      make("div", { class: "row" }, make("span", { class: "soft" }, "Other actions can be tried; only the first answer counts."), next),
    );
    next.focus({ preventScroll: true });
    this.shown(graded);
  }
}

/**
 * Show the available exercises on the start page.
 *
 * @param {HTMLElement} section
 */
export async function showPracticeCard(section) {
  const { due, total, left, puzzles } = await ask("GET", "/api/practice");
  const about = due
    ? `${counted(due, "position")} from your games ${due === 1 ? "is" : "are"} due.`
    : total
      ? "No position is due now."
      : "Positions in which you missed a better action are asked again, at growing intervals.";
  const examined = left ? ` ${counted(left, "finished game")} to examine.` : "";
  section.replaceChildren(
    make("h2", { id: "practice-title" }, "Practice"),
    make("p", { class: "soft" }, about + examined),
    make(
      "div",
      { class: "row" },
      make("a", { href: "/practice", class: due ? "button main" : "button" }, "Learn from your mistakes"),
      make("a", { href: "/puzzles", class: "button" }, counted(puzzles, "puzzle")),
    ),
  );
}

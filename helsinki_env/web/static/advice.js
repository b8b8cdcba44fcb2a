/** The network's evaluation of the legal actions. If enabled, the page requests it on every turn of its player. */

import { button, make } from "./dom.js";
import { keep, recall } from "./kept.js";
import { number, percent, t } from "./language.js";

/** @typedef {import("./protocol.js").PositionEvaluation} PositionEvaluation */
/** @typedef {import("./protocol.js").ToServer} ToServer */
/** @typedef {import("./protocol.js").View} View */

/** Numbers of simulations that can be requested. */
const DEEPER = [25, 100, 400];
/** Number of actions shown. */
const MOST = 5;

export class Advice {
  /** @type {View | null} */
  #view = null;
  /** The number of actions taken at the last request. */
  #asked = -1;
  /** Number of simulations in the last request; 0 uses only the network. */
  #deeper = 0;

  /**
   * @param {HTMLInputElement} wanted  whether evaluations are enabled
   * @param {HTMLElement} place  shows the evaluations
   * @param {(message: ToServer) => void} send
   * @param {(id: number) => void} point  highlight an action in the picture
   * @param {(text: string) => void} tell  announces a text to screen readers
   */
  constructor(wanted, place, send, point, tell) {
    this.wanted = wanted;
    this.place = place;
    this.send = send;
    this.point = point;
    this.tell = tell;
    wanted.checked = recall("advice", "no") === "yes";
    wanted.addEventListener("change", () => {
      keep("advice", wanted.checked ? "yes" : "no");
      if (!wanted.checked) this.send({ type: "cancel" });
      this.forget();
      if (this.#view) this.show(this.#view);
    });
  }

  /** Clear the evaluation, which the next view requests again. */
  forget() {
    this.#asked = -1;
    this.place.replaceChildren();
  }

  /** @param {View} view */
  show(view) {
    this.#view = view;
    /** @type {HTMLElement} */ (this.wanted.closest("section")).hidden = view.done || view.rated; // no actions remain, or evaluations are disabled
    const asks = this.wanted.checked && !view.done && !view.rated && (view.decisions.length > 0 || view.mine.length === 0);
    if (!asks) {
      this.forget();
      if (this.wanted.checked && !view.done && !view.rated) this.#say(t("Available at your next turn."));
    } else if (this.#asked !== view.number) {
      this.#ask(0);
    }
  }

  /** @param {PositionEvaluation | {type: "not_evaluated", number: number, message: string}} message */
  heard(message) {
    if (message.number !== this.#asked || !this.#view) return;
    if (message.type === "not_evaluated") {
      this.#say(message.message);
      if (this.#deeper) this.place.append(this.#offer());
      return;
    }
    if (message.deeper !== this.#deeper) return; // another number of simulations has been requested since
    const focused = this.place.contains(document.activeElement);
    const offer = this.#offer();
    this.place.replaceChildren(
      make("h3", {}, chancesOf(message, this.#view)),
      shares(message.shares, this.#view),
      make("h3", {}, message.deeper ? t(`Win probability after the action (${message.deeper} simulations)`) : t("Probability that the network takes it")),
      this.#choices(message, this.#view.decisions.length > 0),
      offer,
    );
    if (focused) offer.querySelector("button")?.focus({ preventScroll: true });
    if (message.deeper) this.tell(t(`Best action after ${message.deeper} simulations: ${message.choices[0].words}.`));
  }

  /** @param {number} deeper */
  #ask(deeper) {
    if (!this.#view) return;
    this.#asked = this.#view.number;
    this.#deeper = deeper;
    this.send({ type: "evaluate", number: this.#view.number, deeper });
    if (deeper === 0) this.#say(t("Evaluating …"));
  }

  /** @param {string} text */
  #say(text) {
    this.place.replaceChildren(make("p", { class: "soft" }, text));
  }

  /** Buttons that request a search. */
  #offer() {
    const row = make("div", { class: "row deeper", role: "group", "aria-label": t("Search deeper") }, t("Search deeper:"));
    for (const simulations of DEEPER) {
      const name = t(`Search deeper: ${simulations} simulations`);
      row.append(button(String(simulations), () => this.#think(row, simulations), { class: "small", "aria-label": name }));
    }
    row.append(make("span", { class: "soft" }, t("simulations")));
    return row;
  }

  /**
   * @param {HTMLElement} row  shows the elapsed time
   * @param {number} simulations
   */
  #think(row, simulations) {
    this.#ask(simulations);
    const began = Date.now();
    const clock = make("span", { class: "soft" });
    const tick = () => {
      clock.textContent = t(`${simulations} simulations: ${number(Math.round((Date.now() - began) / 100) / 10)} s`);
      if (clock.isConnected) setTimeout(tick, 100);
    };
    const stopped = () => {
      this.send({ type: "cancel" });
      const offer = this.#offer();
      row.replaceWith(offer);
      offer.querySelector("button")?.focus({ preventScroll: true });
    };
    const stop = button(t("Stop"), stopped, { class: "small" });
    row.replaceChildren(clock, stop);
    stop.focus({ preventScroll: true });
    tick();
  }

  /**
   * @param {PositionEvaluation} evaluation
   * @param {boolean} own  whether the picture can highlight them
   */
  #choices(evaluation, own) {
    const list = make("ol", { class: "thoughts" });
    for (const one of evaluation.choices.slice(0, MOST)) {
      const part = evaluation.deeper ? one.share : one.probability;
      const inside = [make("span", { class: "words" }, one.words), figure(part), bar(part)];
      const row = own
        ? button("", () => this.point(one.id), { class: "thought", title: t("Highlight it in the picture") })
        : make("div", { class: "thought" });
      row.append(...inside);
      list.append(make("li", {}, row));
    }
    return list;
  }
}

/**
 * Return a heading for the win probabilities.
 *
 * @param {PositionEvaluation} evaluation
 * @param {View} view
 */
function chancesOf(evaluation, view) {
  return view.mine.length ? t("Win probabilities") : t(`Win probabilities, based on what ${view.seats[evaluation.seat].name} sees`);
}

/**
 * Show the win probability of every seat as a list of bars.
 *
 * @param {number[]} parts
 * @param {View} view
 */
function shares(parts, view) {
  return make(
    "ul",
    { class: "shares" },
    ...parts.map((part, seat) =>
      make(
        "li",
        {},
        make("span", { class: `token seat-${seat}`, "aria-hidden": "true" }, String(seat + 1)),
        make("span", { class: "name" }, t(view.seats[seat].name)),
        figure(part),
        bar(part, `seat-${seat}`),
      ),
    ),
  );
}

/** @param {number | null} part */
function figure(part) {
  const small = part !== null && part > 0 && part < 0.005;
  return make("span", { class: "figure" }, part === null ? "–" : small ? `<${percent(0.01)}` : percent(part));
}

/**
 * @param {number | null} part  from 0 to 1
 * @param {string} [kind]
 */
function bar(part, kind = "plain") {
  const inside = make("span", { class: kind });
  inside.style.width = `${100 * (part ?? 0)}%`;
  return make("span", { class: "measure", "aria-hidden": "true" }, inside);
}

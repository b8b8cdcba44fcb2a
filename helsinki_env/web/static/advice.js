/** What the network thinks of what can be decided: asked for at every own turn, if that is wanted. */

import { button, make } from "./dom.js";
import { keep, recall } from "./kept.js";

/** @typedef {import("./protocol.js").Opinion} Opinion */
/** @typedef {import("./protocol.js").ToServer} ToServer */
/** @typedef {import("./protocol.js").View} View */

/** How many trials can be asked for. */
const DEEPER = [25, 100, 400];
/** How many decisions are shown. */
const MOST = 5;

export class Advice {
  /** @type {View | null} */
  #view = null;
  /** The number of decisions taken when it was last asked. */
  #asked = -1;
  /** For how many trials; 0: for what it thinks without any. */
  #deeper = 0;

  /**
   * @param {HTMLInputElement} wanted  whether anything is asked
   * @param {HTMLElement} place  where answers are shown
   * @param {(message: ToServer) => void} send
   * @param {(id: number) => void} point  show a decision in the picture
   * @param {(text: string) => void} tell  to those who cannot see the page
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

  /** Forget what was asked: it is asked anew with the next view. */
  forget() {
    this.#asked = -1;
    this.place.replaceChildren();
  }

  /** @param {View} view */
  show(view) {
    this.#view = view;
    /** @type {HTMLElement} */ (this.wanted.closest("section")).hidden = view.done; // there is nothing left to decide
    const asks = this.wanted.checked && !view.done && (view.decisions.length > 0 || view.mine.length === 0);
    if (!asks) {
      this.forget();
      if (this.wanted.checked && !view.done) this.#say("At your next turn.");
    } else if (this.#asked !== view.number) {
      this.#ask(0);
    }
  }

  /** @param {Opinion | {type: "unjudged", number: number, message: string}} message */
  heard(message) {
    if (message.number !== this.#asked || !this.#view) return;
    if (message.type === "unjudged") return this.#say(message.message);
    if (message.deeper !== this.#deeper) return; // it has been asked for more meanwhile
    const focused = this.place.contains(document.activeElement);
    const offer = this.#offer();
    this.place.replaceChildren(
      make("h3", {}, chancesOf(message, this.#view)),
      shares(message.shares, this.#view),
      make("h3", {}, message.deeper ? `Own share after it, by ${message.deeper} trials` : "How likely it would take it"),
      this.#choices(message, this.#view.decisions.length > 0),
      offer,
    );
    if (focused) offer.querySelector("button")?.focus({ preventScroll: true });
    if (message.deeper) this.tell(`By ${message.deeper} trials the best is: ${message.choices[0].words}.`);
  }

  /** @param {number} deeper */
  #ask(deeper) {
    if (!this.#view) return;
    this.#asked = this.#view.number;
    this.#deeper = deeper;
    this.send({ type: "judge", number: this.#view.number, deeper });
    if (deeper === 0) this.#say("One moment …");
  }

  /** @param {string} text */
  #say(text) {
    this.place.replaceChildren(make("p", { class: "soft" }, text));
  }

  /** Buttons that let it think for longer. */
  #offer() {
    const row = make("div", { class: "row deeper", role: "group", "aria-label": "Think deeper" }, "Think deeper:");
    for (const trials of DEEPER) {
      const name = `Think deeper: ${trials} trials`;
      row.append(button(String(trials), () => this.#think(row, trials), { class: "small", "aria-label": name }));
    }
    row.append(make("span", { class: "soft" }, "trials"));
    return row;
  }

  /**
   * @param {HTMLElement} row  shows for how long it thinks
   * @param {number} trials
   */
  #think(row, trials) {
    this.#ask(trials);
    const began = Date.now();
    const clock = make("span", { class: "soft" });
    const tick = () => {
      clock.textContent = `${trials} trials: ${((Date.now() - began) / 1000).toFixed(1)} s`;
      if (clock.isConnected) setTimeout(tick, 100);
    };
    const stopped = () => {
      this.send({ type: "cancel" });
      const offer = this.#offer();
      row.replaceWith(offer);
      offer.querySelector("button")?.focus({ preventScroll: true });
    };
    const stop = button("Stop", stopped, { class: "small" });
    row.replaceChildren(clock, stop);
    stop.focus({ preventScroll: true });
    tick();
  }

  /**
   * @param {Opinion} opinion
   * @param {boolean} own  whether they can be shown in the picture
   */
  #choices(opinion, own) {
    const list = make("ol", { class: "thoughts" });
    for (const one of opinion.choices.slice(0, MOST)) {
      const part = opinion.deeper ? one.share : one.probability;
      const inside = [make("span", { class: "words" }, one.words), figure(part), bar(part)];
      const row = own
        ? button("", () => this.point(one.id), { class: "thought", title: "Show it in the picture" })
        : make("div", { class: "thought" });
      row.append(...inside);
      list.append(make("li", {}, row));
    }
    return list;
  }
}

/**
 * Return a title for the shares of the win.
 *
 * @param {Opinion} opinion
 * @param {View} view
 */
function chancesOf(opinion, view) {
  return view.mine.length ? "Shares of the win" : `Shares of the win, by what ${view.seats[opinion.seat].name} sees`;
}

/**
 * Return every seat's share of the win as a list of bars.
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
        make("span", { class: `token seat-${seat}`, "aria-hidden": "true" }, String(seat)),
        make("span", { class: "name" }, view.seats[seat].name),
        figure(part),
        bar(part, `seat-${seat}`),
      ),
    ),
  );
}

/** @param {number | null} part */
function figure(part) {
  const small = part !== null && part > 0 && part < 0.005;
  return make("span", { class: "figure" }, part === null ? "–" : small ? "< 1 %" : `${Math.round(100 * part)} %`);
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

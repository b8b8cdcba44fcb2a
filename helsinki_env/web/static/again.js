/** Replays the other players' last turn from the pictures that this page has received. */

import { button, byId } from "./dom.js";
import { doing, t } from "./language.js";

/** @typedef {import("./protocol.js").View} View */

/** Milliseconds between two actions. */
const PACE = 1100;
/** Number of stored pictures; each takes about 100 kB. */
const MOST = 24;

export class Again {
  /** @type {View[]} The views after the latest actions, oldest first. */
  #views = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} Set during a replay. */
  #clock;

  /**
   * @param {(view: View, words: string) => void} show  shows the picture after an action
   * @param {() => void} end  shows the current view again
   */
  constructor(show, end) {
    this.show = show;
    this.end = end;
    this.button = button(t("Show the last turn again"), () => (this.#clock ? this.stop() : this.#begin()), { class: "small", id: "again" });
    byId("log-title").after(this.button);
    this.button.hidden = true;
  }

  /** @param {View} view */
  take(view) {
    this.stop();
    const last = this.#views.at(-1);
    if (last && (view.number < last.number || view.viewer !== last.viewer)) this.#views = [];
    if (view.svg && view.number !== this.#views.at(-1)?.number) this.#views = [...this.#views, view].slice(-MOST);
    this.button.hidden = this.#turn().length < 2;
  }

  /** Return the views from before to after the last turn of another seat. */
  #turn() {
    const mine = this.#views.at(-1)?.mine ?? [];
    const by = (/** @type {View} */ view) => view.log.at(-1);
    let end = this.#views.length - 1;
    while (end > 0 && mine.includes(by(this.#views[end])?.seat ?? -1)) end -= 1;
    let begin = end;
    const turn = end > 0 ? by(this.#views[end])?.turn : undefined;
    while (begin > 0 && by(this.#views[begin])?.turn === turn) begin -= 1;
    return this.#views.slice(begin, end + 1);
  }

  #begin() {
    const views = this.#turn();
    let number = 0;
    const next = () => {
      const view = views[number];
      if (!view) return this.stop();
      const last = number ? view.log.at(-1) : undefined;
      this.show(view, last ? `${doing(t(view.seats[last.seat].name), last.words)}.` : t("Before the turn"));
      number += 1;
      this.#clock = setTimeout(next, PACE);
    };
    this.button.textContent = t("Stop");
    next();
  }

  /** Show the current view again. */
  stop() {
    if (!this.#clock) return;
    clearTimeout(this.#clock);
    this.#clock = undefined;
    this.button.textContent = t("Show the last turn again");
    this.end();
  }
}

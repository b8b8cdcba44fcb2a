/** The clocks of a table, next to the points of the seats. The server measures the time; the page only shows it. */

import { byId, counted, make } from "./dom.js";
import { t } from "./language.js";

/** @typedef {import("./protocol.js").ClockState} ClockState */

/** Seconds below which a clock is highlighted and, if it belongs to this page, announced. */
const LOW = 30;

/**
 * Return a duration as minutes and seconds.
 *
 * @param {number} seconds
 */
function clockText(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/**
 * Describe the settings of a clock in sentences.
 *
 * @param {number} seconds  of each person
 * @param {number} increment
 * @param {string} player  takes the turn after the time
 */
export function clockRule(seconds, increment, player) {
  return [
    t(`Each person has ${clockText(seconds)} for the whole game.`),
    ...(increment ? [t(`Each turn adds ${counted(increment, "second")}.`)] : []),
    t(`If your time runs out, the player ${player} takes the rest of your turn.`),
    t("A clock runs only while a page of the table is open."),
  ].join(" ");
}

export class Clocks {
  /** @type {ClockState | null} */
  #state = null;
  #heardAt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #said = false;

  /**
   * @param {HTMLElement} seats  the list of the seats
   * @param {(seat: number) => boolean} own  whether this page plays a seat
   */
  constructor(seats, own) {
    this.seats = seats;
    this.own = own;
  }

  /** @param {ClockState} state */
  heard(state) {
    this.#state = state;
    this.#heardAt = Date.now();
    byId("clock-rule").hidden = false;
    byId("clock-rule").textContent = clockRule(state.seconds, state.increment, state.player);
    this.show();
  }

  /** Show the clocks in the list of seats; while a clock is running, update them repeatedly. */
  show() {
    const state = this.#state;
    clearTimeout(this.#timer);
    if (!state) return;
    [...this.seats.children].forEach((item, seat) => {
      const left = this.#left(state, seat);
      if (left === null) return;
      const shown = item.querySelector(".clock") ?? item.insertBefore(make("span", { class: "clock", role: "timer" }), item.querySelector(".points"));
      shown.textContent = clockText(left);
      shown.setAttribute("aria-label", state.running === seat ? t(`time left: ${clockText(left)}, to move`) : t(`time left: ${clockText(left)}`));
      shown.classList.toggle("running", state.running === seat);
      shown.classList.toggle("low", left < LOW);
    });
    if (state.running === null) return;
    const left = this.#left(state, state.running) ?? 0;
    const low = left < LOW && this.own(state.running);
    if (low && !this.#said) byId("said").textContent = t(`Time left: ${counted(Math.ceil(left), "second")}.`);
    this.#said = low;
    if (left > 0) this.#timer = setTimeout(() => this.show(), 200);
  }

  /**
   * @param {ClockState} state
   * @param {number} seat
   */
  #left(state, seat) {
    const left = state.left[seat];
    return left === null || state.running !== seat ? left : Math.max(0, left - (Date.now() - this.#heardAt) / 1000);
  }
}

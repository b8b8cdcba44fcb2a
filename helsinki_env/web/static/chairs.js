/** Form fields for the seats of a table. */

import { make } from "./dom.js";
import { keep, recall } from "./kept.js";

/** @typedef {import("./protocol.js").Game} Game */
/** @typedef {{player: string, name: string}} Sitting */

const HUMAN = "human";

export class Chairs {
  /** @type {Game | null} */
  #game = null;

  /**
   * @param {HTMLElement} list  list with one item per seat
   * @param {HTMLElement} levels  element that shows the descriptions of the levels
   * @param {HTMLElement} sharing  element with the choice of whether several people share this device
   */
  constructor(list, levels, sharing) {
    this.list = list;
    this.levels = levels;
    this.sharing = sharing;
  }

  /**
   * Show the seats of a game and keep the current choices.
   *
   * @param {Game} game
   * @param {number} count
   * @param {Sitting[]} before  the current choices
   */
  show(game, count, before = this.#sitting()) {
    this.#game = game;
    const fallback = game.levels[Math.min(1, game.levels.length - 1)].player;
    const seats = Array.from({ length: count }, (_, seat) => {
      const player = before[seat]?.player ?? (seat ? fallback : HUMAN);
      return this.#chair(game, seat, player, before[seat]?.name ?? recall(`name.${seat}`, ""));
    });
    this.list.replaceChildren(...seats);
    this.levels.textContent = game.levels.map((level) => `${level.label}: ${level.says}`).join(". ") + ".";
    this.#showNames();
  }

  /** Return the seats in the server's format, and store the names of people. */
  order() {
    /** @type {Map<string, number>} Number of seats per player so far. */
    const there = new Map();
    const chairs = this.#sitting().map(({ player, name }, seat) => {
      if (player === HUMAN) {
        keep(`name.${seat}`, name);
        return { player, name };
      }
      const count = (there.get(player) ?? 0) + 1;
      there.set(player, count);
      const named = [...(this.#game?.levels ?? []), ...(this.#game?.own ?? [])].find((one) => one.player === player);
      const called = named?.label ?? player;
      return { player, name: count > 1 ? `${called} ${count}` : called };
    });
    const sharing = this.sharing.querySelector("input:checked")?.getAttribute("value");
    return { chairs, sharing: this.sharing.hidden || !sharing ? "device" : sharing };
  }

  /** @returns {Sitting[]} */
  #sitting() {
    return [...this.list.children].map((item) => ({
      player: item.querySelector("select")?.value ?? HUMAN,
      name: item.querySelector("input")?.value ?? "",
    }));
  }

  /**
   * @param {Game} game
   * @param {number} seat
   * @param {string} player
   * @param {string} name
   */
  #chair({ levels, others, own }, seat, player, name) {
    const who = make(
      "select",
      { "aria-label": `Player ${seat + 1}` },
      make("option", { value: HUMAN }, "A person"),
      make("optgroup", { label: "Levels" }, ...levels.map((one) => make("option", { value: one.player }, `${one.label} (${one.player})`))),
      make("optgroup", { label: "Other players" }, ...others.map((one) => make("option", { value: one }, one))),
      ...(own.length ? [make("optgroup", { label: "Players of your own" }, ...own.map((one) => make("option", { value: one.player }, ownLabel(one))))] : []),
    );
    who.value = player;
    if (who.selectedIndex < 0) who.value = levels[0].player;
    who.addEventListener("change", () => this.#showNames());
    const called = make("input", { "aria-label": `Name of player ${seat + 1}`, maxlength: "40", placeholder: "Your name" });
    called.value = name;
    return make("li", {}, make("span", { class: `token seat-${seat}`, "aria-hidden": "true" }, String(seat + 1)), who, called);
  }

  #showNames() {
    let people = 0;
    for (const item of this.list.children) {
      const human = item.querySelector("select")?.value === HUMAN;
      people += Number(human);
      item.querySelector("input")?.toggleAttribute("hidden", !human);
    }
    this.sharing.hidden = people < 2;
  }
}

/**
 * Return the label of a user's player; for a network, it includes the digest.
 *
 * @param {Game["own"][number]} one
 */
const ownLabel = ({ player, label }) => [label, player.split("@")[1]].filter(Boolean).join(", digest ");

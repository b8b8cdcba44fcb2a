/** The form fields for the seats of a table. */

import { make } from "./dom.js";
import { keep, recall } from "./kept.js";
import { t } from "./language.js";

/** @typedef {import("./protocol.js").Game} Game */
/** @typedef {{player: string, name: string}} Sitting */

const HUMAN = "human";

export class Chairs {
  /** @type {Game | null} */
  #game = null;

  /**
   * @param {HTMLElement} list  gets an item for each seat
   * @param {HTMLElement} levels  shows the descriptions of the levels
   * @param {HTMLElement} sharing  the choice whether people share this device, for several people
   */
  constructor(list, levels, sharing) {
    this.list = list;
    this.levels = levels;
    this.sharing = sharing;
  }

  /**
   * Show the seats of a game, preserving the current choices.
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
    this.levels.textContent = game.levels.map((level) => `${t(level.label)}: ${t(level.says)}`).join(". ") + ".";
    this.#showNames();
  }

  /** Return the seats in the server's format, and store the names of people. */
  order() {
    /** @type {Map<string, number>} Number of seats of each player so far. */
    const there = new Map();
    const chairs = this.#sitting().map(({ player, name }, seat) => {
      if (player === HUMAN) {
        keep(`name.${seat}`, name);
        return { player, name };
      }
      const count = (there.get(player) ?? 0) + 1;
      there.set(player, count);
      const named = [...(this.#game?.levels ?? []), ...(this.#game?.own ?? [])].find((one) => one.player === player);
      const level = (this.#game?.scale ?? []).findIndex((one) => one.player === player) + 1; // of a continued game
      const called = named?.label ?? (level ? `Level ${level}` : player);
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
  #chair({ levels, others, own, scale }, seat, player, name) {
    const level = scale.findIndex((one) => one.player === player) + 1; // of a continued game
    const who = make(
      "select",
      { "aria-label": t(`Player ${seat + 1}`) },
      make("option", { value: HUMAN }, t("A person")),
      make("optgroup", { label: t("Levels") }, ...levels.map((one) => make("option", { value: one.player }, `${t(one.label)} (${one.player})`)), ...(level ? [make("option", { value: player }, t(`Level ${level}`))] : [])),
      make("optgroup", { label: t("Other players") }, ...others.map((one) => make("option", { value: one }, one))),
      ...(own.length ? [make("optgroup", { label: t("Players of your own") }, ...own.map((one) => make("option", { value: one.player }, ownLabel(one))))] : []),
    );
    who.value = player;
    if (who.selectedIndex < 0) who.value = levels[0].player;
    who.addEventListener("change", () => this.#showNames());
    const called = make("input", { "aria-label": t(`Name of player ${seat + 1}`), maxlength: "40", placeholder: t("Your name") });
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

/** @param {Game["own"][number]} one  Return the label of a user's own player; for a network, it contains the digest. */
const ownLabel = ({ player, label }) => [label, player.split("@")[1]].filter(Boolean).join(`, ${t("digest")} `);

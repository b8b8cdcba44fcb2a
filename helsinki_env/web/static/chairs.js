/** The seats of a table in a form, and the links for people with separate browsers. */

import { addressOf, onThisMachine } from "./access.js";
import { button, make } from "./dom.js";
import { keep, keeps, recall } from "./kept.js";

/** @typedef {import("./protocol.js").Game} Game */
/** @typedef {{player: string, name: string}} Sitting */
/** @typedef {{seat: number, name: string, link: string}} Link */

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
   * Show the seats of a game; choices stay.
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

  /** Return the seats in the format of the server, and store the names of people. */
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

/** @param {Game["own"][number]} one  Return the label of a player of one's own, for a network with its digest. */
const ownLabel = ({ player, label }) => [label, player.split("@")[1]].filter(Boolean).join(", digest ");

/**
 * Store the links of a table in this browser: the server sends them only once.
 *
 * @param {string} table
 * @param {Link[]} links  none: delete them
 */
export function keepLinks(table, links) {
  keep(`links.${table}`, links.length ? JSON.stringify(links) : "");
}

/**
 * Return the stored links of a table.
 *
 * @param {string} table
 * @returns {Link[]}
 */
export function keptLinks(table) {
  try {
    return JSON.parse(recall(`links.${table}`, "[]") || "[]");
  } catch {
    return [];
  }
}

/**
 * Copy the text of an element; without clipboard access, as over plain HTTP, select it.
 *
 * @param {string} text
 * @param {HTMLElement} shown  has the text
 * @returns {Promise<boolean>} whether the text was copied; if not, it is selected
 */
async function copyText(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection()?.selectAllChildren(shown);
    try {
      return document.execCommand("copy");
    } catch {
      return false;
    }
  }
}

/**
 * Show the links of a table's seats.
 *
 * @param {HTMLElement} section
 * @param {Link[]} links
 */
export function showLinks(section, links) {
  const items = links.map(({ name, link }) => {
    const address = addressOf(link);
    const open = make("a", { href: address, target: "_blank" }, address);
    const note = make("span", { class: "soft", role: "status" });
    const copy = button("Copy", async () => {
      const copied = await copyText(address, open);
      copy.textContent = copied ? "Copied" : "Copy";
      note.textContent = copied ? "" : "This browser does not allow copying. The link is selected: copy it with the menu or the keyboard.";
    });
    return make("li", {}, make("div", {}, make("b", { class: "name" }, name), make("div", {}, open), note), copy);
  });
  const title = make("h2", { id: "links-title", tabindex: "-1" }, "Links for the seats");
  const where = keeps
    ? 'Each link gives control of its seat. To see the links again in this browser, click "Links" in the list of tables.'
    : "Each link gives control of its seat. Copy the links now: this browser stores nothing, so you cannot see them again.";
  const here = `These links work on this machine only, because the server listens at ${location.host}. For other devices, start it with --host and the address of this machine.`;
  const warning = onThisMachine ? [make("p", { class: "note" }, here)] : [];
  section.replaceChildren(title, ...warning, make("p", {}, where), make("ul", { class: "tables" }, ...items));
  section.hidden = false;
  title.focus();
}

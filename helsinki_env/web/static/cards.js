/** The games as cards on the start page: a picture, the rules, a guided game, and a game against each level. */

import { ask } from "./access.js";
import { button, byId, complain, goTo, make, once } from "./dom.js";
import { showSections } from "./help.js";
import { keep, recall } from "./kept.js";

/** @typedef {import("./protocol.js").Game} Game */

export class Cards {
  /** @param {HTMLElement} list */
  constructor(list) {
    this.list = list;
    this.panel = /** @type {HTMLDialogElement} */ (byId("rules"));
    byId("rules-close").addEventListener("click", () => this.panel.close());
  }

  /** @param {Game[]} games */
  show(games) {
    this.list.replaceChildren(...games.map((game) => this.#card(game)));
  }

  /** @param {Game} game */
  #card(game) {
    const view = make("div", { class: "view", "aria-hidden": "true" });
    const goal = make("p", { class: "soft" });
    ask("GET", `/api/games/${game.name}/picture`).then((found) => showPicture(view, found.svg), () => {});
    ask("GET", `/api/games/${game.name}/rules`).then((sections) => (goal.textContent = sections[0]?.text ?? ""), () => {});
    const read = button("How to play", () => this.#read(game).catch(complain));
    const levels = game.levels.map((level) =>
      button(level.label, once(() => play(game, level).catch(complain)), { title: level.says, "aria-label": `Play ${game.title} against ${level.label}` }),
    );
    return make(
      "section",
      { class: "game sheet", "aria-label": game.title },
      view,
      make("h2", {}, game.title),
      goal,
      make("div", { class: "row" }, ...this.#learn(game), read),
      make("b", {}, "Play against the computer"),
      make("div", { class: "row" }, ...levels),
    );
  }

  /** @param {Game} game  Return the button of the guided game, if there is one. */
  #learn(game) {
    if (!game.lesson) return [];
    const begin = async () => {
      const { table } = await ask("POST", "/api/lessons", { game: game.name });
      keep(`lesson.${table}`, "yes");
      keep("rules", "seen");
      await goTo(`/tables/${table}?lesson`);
    };
    const label = recall("rules", "") ? "Guided game" : "New here? Learn in ten minutes";
    return [button(label, once(() => begin().catch(complain)), { class: "main learn", "aria-label": `${label}: ${game.title}` })];
  }

  /** @param {Game} game */
  async #read(game) {
    showSections(byId("rules-text"), await ask("GET", `/api/games/${game.name}/rules`));
    byId("rules-title").textContent = `How to play ${game.title}`;
    this.panel.showModal();
  }
}

/**
 * Create a table for one person against a level and open it.
 *
 * @param {Game} game
 * @param {Game["levels"][number]} level
 */
async function play(game, level) {
  const chairs = [{ player: "human", name: recall("name.0", "") || "You" }, { player: level.player, name: level.label }];
  const { table } = await ask("POST", "/api/tables", { game: game.name, chairs });
  await goTo(`/tables/${table}`);
}

/**
 * @param {HTMLElement} holder
 * @param {string} text  an SVG document
 */
function showPicture(holder, text) {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  svg.setAttribute("preserveAspectRatio", "xMidYMin slice");
  holder.replaceChildren(document.importNode(svg, true));
}

/** Cards for the games on the start page, with a picture, rules, a guided game, and games against each level. */

import { ask } from "./access.js";
import { button, byId, complain, counted, goTo, make, once } from "./dom.js";
import { showSections } from "./help.js";
import { keep, knows, learn, recall } from "./kept.js";
import { t } from "./language.js";
import { rewrite } from "./lettering.js";

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
    ask("GET", `/api/games/${game.name}/rules`).then((sections) => (goal.textContent = t(sections[0]?.text ?? "")), () => {});
    const read = button(t("How to play"), () => this.#read(game).catch(complain));
    const levels = game.levels.map((level) =>
      button(t(level.label), once(() => play(game, level).catch(complain)), { title: t(level.says), "aria-label": t(`Play ${game.title} against ${level.label}`) }),
    );
    return make(
      "section",
      { class: "game sheet", "aria-label": game.title },
      view,
      make("h2", {}, game.title),
      goal,
      make("div", { class: "row" }, ...this.#learn(game), read),
      make("b", {}, t("Play against the computer")),
      make("div", { class: "row" }, ...levels),
      ...(game.scale?.length ? [this.#scale(game)] : []),
    );
  }

  /** @param {Game} game  Return a level selector that shows the ratings, and the user's rating. */
  #scale(game) {
    const chosen = Math.min(game.scale.length, Number(recall(`scale.${game.name}`, "4")) || 4);
    const slider = make("input", { type: "range", min: "1", max: String(game.scale.length), step: "1", "aria-label": t(`Level of ${game.title}`) });
    slider.value = String(chosen);
    const says = make("span", { class: "soft" });
    const begin = button("", once(() => play(game, { player: at().player, label: `Level ${slider.value}` }).catch(complain)));
    const at = () => game.scale[Number(slider.value) - 1];
    const show = () => {
      const { rating, low, high, games, says: who } = at();
      const measured = rating === null ? t("not rated yet") : t(`rating ${inPoints(rating, low, high)}, n = ${games}`);
      says.textContent = `${measured}: ${t(who)}`;
      begin.textContent = t(`Play level ${slider.value}`);
      slider.setAttribute("aria-valuetext", t(`Level ${slider.value}, ${measured}`));
      keep(`scale.${game.name}`, slider.value);
    };
    slider.addEventListener("input", show);
    show();
    const own = make("p", { class: "soft" });
    ask("GET", "/api/ratings").then((found) => (own.textContent = ownRating(found[game.name])), () => {});
    return make("details", { class: "scale" }, make("summary", {}, t("Levels by rating")), make("div", { class: "row" }, slider, begin), says, own);
  }

  /** @param {Game} game  Return the button of the guided game, if there is one. */
  #learn(game) {
    if (!game.lesson) return [];
    const begin = async () => {
      const { table } = await ask("POST", "/api/lessons", { game: game.name });
      keep(`lesson.${table}`, "yes");
      learn(game.name);
      await goTo(`/tables/${table}?lesson`);
    };
    const label = knows(game.name) ? t("Guided game") : t("New here? Learn in ten minutes");
    return [button(label, once(() => begin().catch(complain)), { class: "main learn", "aria-label": `${label}: ${game.title}` })];
  }

  /** @param {Game} game */
  async #read(game) {
    showSections(byId("rules-text"), await ask("GET", `/api/games/${game.name}/rules`));
    byId("rules-title").textContent = t(`How to play ${game.title}`);
    this.panel.showModal();
  }
}

/**
 * Return a rating with its interval, as text.
 *
 * @param {number} rating
 * @param {number | null} low
 * @param {number | null} high
 */
const inPoints = (rating, low, high) => t(`${Math.round(rating)} (95% ${Math.round(low ?? rating)} to ${Math.round(high ?? rating)})`);

/** @param {{rating: number, low: number, high: number, games: number} | undefined} own  Describe the user's rating in words. */
function ownRating(own) {
  if (!own) return t("Your rating appears after your first finished game against a rated level.");
  return t(`Your rating: ${inPoints(own.rating, own.low, own.high)}, from ${counted(own.games, "game")} without actions taken back.`);
}

/**
 * Create a table for one person against a level and open it.
 *
 * @param {Game} game
 * @param {{player: string, label: string}} level
 */
async function play(game, level) {
  const chairs = [{ player: "human", name: recall("name.0", "") || t("You") }, { player: level.player, name: level.label }];
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
  svg.setAttribute("preserveAspectRatio", "xMidYMid meet");
  const shown = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (document.importNode(svg, true)));
  const letter = rewrite(shown, { seats: [{ name: t("You") }, { name: t("Easy") }], spots: {}, log: [] });
  holder.replaceChildren(shown);
  letter();
}

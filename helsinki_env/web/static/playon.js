/** The dialog for continuing an analyzed game or position at a new table. */

import { ask, networkAddress } from "./access.js";
import { Chairs } from "./chairs.js";
import { byId, complain, counted, goTo, once, whenSent } from "./dom.js";
import { keepLinks, showLinks } from "./invite.js";
import { t } from "./language.js";

/** @typedef {import("./protocol.js").Game} Game */

const dialog = /** @type {HTMLDialogElement} */ (byId("seats"));
const chairs = new Chairs(byId("chairs"), byId("levels"), byId("sharing"));
/** The game, and the number of its actions already taken. */
let from = { record: "", decisions: 0 };

/** @param {unknown} problem */
const refuse = (problem) => complain(problem, "refused");

/**
 * Open the dialog.
 *
 * @param {string} record
 * @param {string} game
 * @param {string[]} players  players of the analyzed game, by seat
 * @param {number} decisions  number of actions already taken
 * @param {number} seat  the seat to move
 */
export async function playOn(record, game, players, decisions, seat) {
  /** @type {Game[]} */
  const games = await ask("GET", "/api/games");
  const played = games.find((one) => one.name === game);
  if (!played) throw new Error(t(`${game} cannot be played in a browser`));
  const { levels, others, own, scale } = played;
  const known = [...[...levels, ...own, ...scale].map((one) => one.player), ...others];
  const fallback = levels[Math.min(1, levels.length - 1)].player;
  const sitting = players.map((player, i) => ({
    player: i === seat ? "human" : known.includes(player) ? player : fallback,
    name: "",
  }));
  byId("seats-title").textContent = decisions ? t(`Continue after ${counted(decisions, "action")}`) : t("Continue from here");
  chairs.show(played, players.length, sitting);
  refuse(null);
  byId("new").hidden = false;
  byId("links").hidden = true;
  from = { record, decisions };
  byId("here-only").hidden = Boolean(await networkAddress());
  if (dialog.showModal) dialog.showModal();
  else dialog.setAttribute("open", ""); // without dialog support, it is part of the page
}

async function begin() {
  const title = /** @type {HTMLInputElement} */ (byId("branch-title")).value;
  const { table, links } = await ask("POST", "/api/tables", { from, title, ...chairs.order() });
  if (!links.length) return await goTo(`/tables/${table}`);
  byId("new").hidden = true;
  keepLinks(table, links);
  await showLinks(byId("links"), links);
}

whenSent(/** @type {HTMLFormElement} */ (byId("new")), once(() => begin().catch(refuse)));
byId("cancel").addEventListener("click", () => (dialog.close ? dialog.close() : dialog.removeAttribute("open")));

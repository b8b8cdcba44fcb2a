/** The start page: create a table, or open a saved one. */

import { ask, askPart, networkAddress } from "./access.js";
import { analyzeButton } from "./apart.js";
import { BoardEditor } from "./boards.js";
import { Cards } from "./cards.js";
import { Chairs } from "./chairs.js";
import { clockRule } from "./clocks.js";
import { button, byId, complain, counted, fillByParts, goTo, make, once, whenSent } from "./dom.js";
import { keepLinks, keptLinks, showLinks } from "./invite.js";
import { KEEPS_NOTHING, keeps } from "./kept.js";
import { date, t, verbatim } from "./language.js";
import { showPracticeCard } from "./practice.js";
import { chosenOf, fieldsOf } from "./setups.js";

/** @typedef {import("./protocol.js").Game} Game */
/** @typedef {import("./protocol.js").Listed} Listed */

/** @type {Game[]} */
let games = [];

const game = /** @type {HTMLSelectElement} */ (byId("game"));
const players = /** @type {HTMLSelectElement} */ (byId("players"));
const chairs = new Chairs(byId("chairs"), byId("levels"), byId("sharing"));
const board = new BoardEditor(byId("board"));
const form = /** @type {HTMLFormElement} */ (byId("new"));

const chosen = () => games.find((one) => one.name === game.value) ?? games[0];

// the form

function showGame() {
  const { players: numbers, options } = chosen();
  const before = players.value;
  players.replaceChildren(...numbers.map((n) => make("option", { value: String(n) }, String(n))));
  if (numbers.includes(Number(before))) players.value = before;
  byId("options").replaceChildren(...fieldsOf(options));
  board.show(chosen().name).catch(complain);
  showChairs();
  showClock();
}

const showChairs = () => chairs.show(chosen(), Number(players.value));

const minutes = /** @type {HTMLInputElement} */ (byId("minutes"));
const increment = /** @type {HTMLInputElement} */ (byId("increment"));

/** Return the clock settings in the form, or null if there are none. */
function clock() {
  if (minutes.validity.badInput || increment.validity.badInput) throw new Error(t("Clock: expected a number of minutes and a number of seconds"));
  return minutes.value ? { minutes: Number(minutes.value), increment: Number(increment.value) } : null;
}

function showClock() {
  increment.disabled = !minutes.value;
  byId("clock-rule").hidden = !minutes.value;
  byId("clock-rule").textContent = clockRule(60 * Number(minutes.value), Number(increment.value), chosen().substitute);
}

function order() {
  const data = new FormData(form);
  const options = { ...chosenOf(chosen().options, data), ...board.options };
  const seed = /** @type {HTMLInputElement} */ (byId("seed")).value.trim();
  const title = /** @type {HTMLInputElement} */ (byId("title")).value;
  if (!/^\d{0,15}$/.test(seed)) throw new Error(t("Seed: expected a whole number of up to 15 digits, or nothing for a random seed"));
  const wanted = { game: game.value, title, ...chairs.order(), options, seed: seed ? Number(seed) : null };
  return { ...wanted, clock: clock() };
}

async function begin() {
  complain("");
  try {
    const wanted = order();
    const { table, links } = await ask("POST", "/api/tables", wanted);
    if (!links.length) return await goTo(`/tables/${table}`);
    keepLinks(table, links);
    await showLinks(byId("links"), links);
    await showTables();
  } catch (problem) {
    complain(problem);
  }
}

whenSent(form, once(begin));

const cards = new Cards(byId("games"));

// tables

async function showTables() {
  /** @param {boolean} over */
  const get = (over) => (/** @type {number} */ offset, /** @type {number} */ limit) => askPart(`/api/tables?over=${over}`, offset, limit);
  const [, finished] = await Promise.all([
    fillByParts(byId("tables"), get(false), item),
    fillByParts(byId("finished"), get(true), item),
  ]);
  byId("finished-games").hidden = !finished;
}

/** @param {Listed} one */
function item(one) {
  const who = one.seats.map((seat) => t(seat.name)).join(", ");
  const title = games.find((known) => known.name === one.game)?.title ?? one.game;
  const shown = t(one.title) || `${title}: ${who}`;
  const name = verbatim(shown);
  const length = counted(one.decisions, "action");
  const about = `${title}, ${one.over ? t(`finished after ${length}`) : t(length)}, ${date(one.made)}`;
  const forget = async () => {
    if (!confirm(t(`Delete the table "${name}"?`))) return;
    try {
      await ask("DELETE", `/api/tables/${one.table}`);
      keepLinks(one.table, []);
    } catch (problem) {
      complain(problem);
    }
    await showTables().catch(complain);
  };
  const remove = button(t("Delete"), once(forget), { "aria-label": t(`Delete the table ${name}`) });
  const open = one.links ? make("b", { title: t("Open it with the link of your seat") }, shown) : make("a", { href: `/tables/${one.table}` }, shown);
  const apart = one.over && !one.from_position ? [analyzeButton(one.table, complain, t("Analyze"), t(`Analyze the game ${name}`))] : [];
  const links = keptLinks(one.table);
  const again = () => showLinks(byId("links"), links).catch(complain);
  if (links.length) apart.unshift(button(t("Links"), again, { "aria-label": t(`Show the links of the table ${name}`) }));
  const words = make("div", {}, open, make("div", { class: "soft" }, one.title ? `${about}: ${who}` : about));
  return make("li", {}, words, make("div", { class: "row" }, ...apart, remove));
}

byId("unkept").hidden = keeps;
byId("unkept").textContent = t(KEEPS_NOTHING);
game.addEventListener("change", showGame);
players.addEventListener("change", showChairs);
for (const one of [minutes, increment]) one.addEventListener("input", showClock);
try {
  games = await ask("GET", "/api/games");
  game.replaceChildren(...games.map((one) => make("option", { value: one.name }, one.title)));
  showGame();
  form.inert = false; // it works only with the list of games
  cards.show(games);
  byId("here-only").hidden = Boolean(await networkAddress());
  await showTables();
  await showPracticeCard(byId("practice"));
} catch (problem) {
  complain(problem);
}

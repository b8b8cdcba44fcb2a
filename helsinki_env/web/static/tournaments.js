/** The start page for tournaments, to start a new tournament or open a saved one. */

import { ask } from "./access.js";
import { button, byId, complain, counted, fill, goTo, make, once, whenSent } from "./dom.js";
import { date, t, verbatim } from "./language.js";
import { chosenOf, fieldsOf } from "./setups.js";
import { progressText } from "./standings.js";

/** @typedef {import("./protocol.js").Game} Game */
/** @typedef {import("./standings.js").Progress} Progress */

/** @type {Game[]} */
let games = [];

const form = /** @type {HTMLFormElement} */ (byId("new"));
const game = /** @type {HTMLSelectElement} */ (byId("game"));
const seats = /** @type {HTMLSelectElement} */ (byId("seats"));
const wanted = /** @type {HTMLInputElement} */ (byId("games"));

const MOST_PLAYERS = 8;
/** Minimum number of deals on the server, because intervals are based on the variation between deals. */
const MIN_DEALS = 2;

const chosen = () => games.find((one) => one.name === game.value) ?? games[0];
const who = () => [...byId("players").querySelectorAll("input")].filter((one) => one.checked).map((one) => one.value);

function showGame() {
  const { players, levels, others, options } = chosen();
  const before = seats.value;
  seats.replaceChildren(...players.map((n) => make("option", { value: String(n) }, String(n))));
  if (players.includes(Number(before))) seats.value = before;
  byId("players").replaceChildren(
    ...levels.map((level, i) => player(level.player, `${t(level.label)} (${level.player})`, i < 2)),
    ...others.map((name) => player(name, name, false)),
  );
  byId("options").replaceChildren(...fieldsOf(options));
  showCount();
}

/**
 * @param {string} name
 * @param {string} label
 * @param {boolean} checked
 */
function player(name, label, checked) {
  const box = make("input", { type: "checkbox", name: "player", value: name, checked });
  return make("label", {}, box, ` ${label}`);
}

/**
 * Return the number of ways to choose k of n.
 *
 * @param {number} n
 * @param {number} k
 */
function choose(n, k) {
  let ways = 1;
  for (let i = 1; i <= k; i++) ways = (ways * (n - k + i)) / i;
  return ways;
}

/** Show the number of games: complete rounds in which all line-ups play in all rotations of the seats. */
function showCount() {
  const players = who().length;
  const there = Number(seats.value);
  const fits = players >= 2 && players <= MOST_PLAYERS;
  byId("begin").toggleAttribute("disabled", !fits);
  if (!fits) {
    byId("count").textContent = t(`Choose 2 to ${MOST_PLAYERS} players; chosen: ${players}.`);
    return;
  }
  // If there are fewer players than seats, some players have several seats: distribute the additional seats.
  const lineups = players >= there ? choose(players, there) : choose(there - 1, players - 1);
  const deals = Math.max(MIN_DEALS, Math.ceil(wanted.valueAsNumber / (lineups * there)));
  const words = lineups === 1 ? t("one line-up") : t(`${lineups} line-ups`);
  byId("count").textContent = Number.isFinite(deals)
    ? t(`${counted(deals * lineups * there, "game")}: ${counted(deals, "deal")} for ${words} of ${there} players; each deal is played ${there} times with rotating seats.`)
    : "";
}

function order() {
  const seed = /** @type {HTMLInputElement} */ (byId("seed")).value.trim();
  if (!/^\d{0,15}$/.test(seed)) throw new Error(t("Seed: expected a whole number of up to 15 digits, or nothing for a random seed"));
  return {
    game: game.value,
    title: /** @type {HTMLInputElement} */ (byId("title")).value,
    seats: Number(seats.value),
    players: who(),
    games: wanted.valueAsNumber,
    options: chosenOf(chosen().options, new FormData(form)),
    seed: seed ? Number(seed) : null,
  };
}

async function begin() {
  complain("");
  try {
    const { tournament } = await ask("POST", "/api/tournaments", order());
    await goTo(`/tournaments/${tournament}`);
  } catch (problem) {
    complain(problem);
  }
}

whenSent(form, once(begin));

async function showTournaments() {
  /** @type {Progress[]} */
  const found = await ask("GET", "/api/tournaments");
  const items = found.map((one) => () => {
    const closed = one.state === "closed";
    const shown = closed ? one.tournament : one.title || one.players.join(", ");
    const name = verbatim(shown);
    const about = closed ? t(one.message) : `${t(`${one.game}, ${one.seats} per table`)}, ${progressText(one)}, ${date(one.made)}`;
    const forget = async () => {
      if (!confirm(t(`Delete the tournament "${name}" and its games?`))) return;
      await ask("DELETE", `/api/tournaments/${one.tournament}`).catch(complain);
      await showTournaments().catch(complain);
    };
    const remove = button(t("Delete"), once(forget));
    remove.setAttribute("aria-label", t(`Delete the tournament ${name}`));
    const open = closed ? make("b", {}, shown) : make("a", { href: `/tournaments/${one.tournament}` }, shown);
    return make("li", {}, make("div", {}, open, make("div", { class: "soft" }, about)), remove);
  });
  fill(byId("tournaments"), items);
}

game.addEventListener("change", showGame);
form.addEventListener("input", showCount);
try {
  games = await ask("GET", "/api/games");
  game.replaceChildren(...games.map((one) => make("option", { value: one.name }, one.title)));
  showGame();
  form.inert = false; // it works only with the list of games
  await showTournaments();
} catch (problem) {
  complain(problem);
}

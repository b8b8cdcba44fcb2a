/** The start page: make a table, or go on with one. */

import { addressOf, ask } from "./access.js";
import { button, byId, make } from "./dom.js";
import { keep, recall } from "./kept.js";
import { chosenOf, fieldsOf } from "./setups.js";

/** @typedef {import("./protocol.js").Game} Game */
/** @typedef {import("./protocol.js").Listed} Listed */

const HUMAN = "human";

/** @type {Game[]} */
let games = [];

const game = /** @type {HTMLSelectElement} */ (byId("game"));
const players = /** @type {HTMLSelectElement} */ (byId("players"));
const form = /** @type {HTMLFormElement} */ (byId("new"));

const chosen = () => games.find((one) => one.name === game.value) ?? games[0];

/** @param {unknown} problem */
function complain(problem) {
  const text = problem instanceof Error ? problem.message : String(problem ?? "");
  byId("error").textContent = text;
  byId("error").hidden = !text;
}

// the form

function showGame() {
  const { players: numbers, options } = chosen();
  const before = players.value;
  players.replaceChildren(...numbers.map((n) => make("option", { value: String(n) }, String(n))));
  if (numbers.includes(Number(before))) players.value = before;
  byId("options").replaceChildren(...fieldsOf(options));
  showChairs();
}

function showChairs() {
  const list = byId("chairs");
  const before = [...list.querySelectorAll("select")].map((one) => one.value);
  const names = [...list.querySelectorAll("input")].map((one) => one.value);
  const { levels } = chosen();
  const usual = levels[Math.min(1, levels.length - 1)].player;
  list.replaceChildren(
    ...Array.from({ length: Number(players.value) }, (_, seat) =>
      chair(seat, before[seat] ?? (seat ? usual : HUMAN), names[seat] ?? recall(`name.${seat}`, "")),
    ),
  );
  byId("levels").textContent = levels.map((level) => `${level.label}: ${level.says}`).join(". ") + ".";
  showNames();
}

/**
 * @param {number} seat
 * @param {string} player
 * @param {string} name
 */
function chair(seat, player, name) {
  const { levels, others } = chosen();
  const who = make(
    "select",
    { "aria-label": `Who plays seat ${seat}` },
    make("option", { value: HUMAN }, "A person"),
    make("optgroup", { label: "Players of ours" }, ...levels.map((one) => make("option", { value: one.player }, `${one.label} (${one.player})`))),
    make("optgroup", { label: "Others" }, ...others.map((one) => make("option", { value: one }, one))),
  );
  who.value = player;
  if (who.selectedIndex < 0) who.value = levels[0].player;
  who.addEventListener("change", showNames);
  const called = make("input", { "aria-label": `Name of the person at seat ${seat}`, maxlength: "40", placeholder: "Name" });
  called.value = name;
  return make("li", {}, make("span", { class: `token seat-${seat}`, "aria-hidden": "true" }, String(seat)), who, called);
}

function showNames() {
  let people = 0;
  for (const item of byId("chairs").children) {
    const human = item.querySelector("select")?.value === HUMAN;
    people += Number(human);
    item.querySelector("input")?.toggleAttribute("hidden", !human);
  }
  byId("sharing").hidden = people < 2;
}

function order() {
  const data = new FormData(form);
  /** @type {Map<string, number>} How many of each player sit there so far. */
  const there = new Map();
  /** @param {string} player */
  const called = (player) => {
    const count = (there.get(player) ?? 0) + 1;
    there.set(player, count);
    const name = chosen().levels.find((level) => level.player === player)?.label ?? player;
    return count > 1 ? `${name} ${count}` : name;
  };
  const options = chosenOf(chosen().options, data);
  const chairs = [...byId("chairs").children].map((item) => {
    const player = item.querySelector("select")?.value ?? HUMAN;
    return { player, name: player === HUMAN ? item.querySelector("input")?.value ?? "" : called(player) };
  });
  const seed = /** @type {HTMLInputElement} */ (byId("seed")).value.trim();
  const title = /** @type {HTMLInputElement} */ (byId("title")).value;
  const sharing = byId("sharing").hidden ? "device" : String(data.get("sharing"));
  if (!/^\d{0,15}$/.test(seed)) throw new Error("Seed: expected a whole number of up to 15 digits, or nothing for a new one");
  return { game: game.value, title, chairs, options, sharing, seed: seed ? Number(seed) : null };
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  complain("");
  try {
    const wanted = order();
    wanted.chairs.forEach((one, seat) => one.player === HUMAN && keep(`name.${seat}`, one.name));
    const { table, links } = await ask("POST", "/api/tables", wanted);
    if (links.length) showLinks(links);
    else location.assign(`/tables/${table}`);
  } catch (problem) {
    complain(problem);
  }
});

// tables

/** @param {{seat: number, name: string, link: string}[]} links */
function showLinks(links) {
  const items = links.map(({ name, link }) => {
    const address = addressOf(link);
    const copy = button("Copy", async () => {
      await navigator.clipboard.writeText(address);
      copy.textContent = "Copied";
    });
    const open = make("a", { href: address, target: "_blank" }, address);
    return make("li", {}, make("div", {}, make("b", {}, name), make("div", {}, open)), copy);
  });
  const title = make("h2", { id: "links-title", tabindex: "-1" }, "A link for each person");
  const says = make("p", {}, "Whoever opens a link plays that seat. Keep them: they are not shown again.");
  byId("links").replaceChildren(title, says, make("ul", { class: "tables" }, ...items));
  byId("links").hidden = false;
  title.focus();
  showTables();
}

async function showTables() {
  /** @type {Listed[]} */
  const tables = await ask("GET", "/api/tables");
  const items = tables.map((one) => {
    const who = one.seats.map((seat) => seat.name).join(", ");
    const title = games.find((known) => known.name === one.game)?.title ?? one.game;
    const name = one.title || `${title}: ${who}`;
    const about = `${title}, ${one.decisions} decisions, ${new Date(1000 * one.made).toLocaleString()}`;
    const remove = button("Remove", async () => {
      if (!confirm(`Forget the table "${name}"?`)) return;
      await ask("DELETE", `/api/tables/${one.table}`).catch(complain);
      showTables();
    });
    remove.setAttribute("aria-label", `Remove the table ${name}`);
    const open = one.links ? make("b", { title: "Opened by the links of its seats" }, name) : make("a", { href: `/tables/${one.table}` }, name);
    return make("li", {}, make("div", {}, open, make("div", { class: "soft" }, one.title ? `${about}: ${who}` : about)), remove);
  });
  byId("tables").replaceChildren(...(items.length ? items : [make("li", { class: "soft" }, "None yet.")]));
}

game.addEventListener("change", showGame);
players.addEventListener("change", showChairs);
try {
  games = await ask("GET", "/api/games");
  game.replaceChildren(...games.map((one) => make("option", { value: one.name }, one.title)));
  showGame();
  await showTables();
} catch (problem) {
  complain(problem);
}

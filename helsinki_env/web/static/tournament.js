/** The page of a tournament, which polls its state. */

import { Unreachable, ask } from "./access.js";
import { button, byId, complain, counted, goTo, make } from "./dom.js";
import { download } from "./download.js";
import { number, t } from "./language.js";
import { duration, pairsTable, ratingsChart, standingsTable, stateOf } from "./standings.js";

/** @typedef {import("./standings.js").Progress} Progress */
/** @typedef {import("./standings.js").Figures} Figures */
/** @typedef {import("./standings.js").LatestGame} LatestGame */
/** @typedef {Progress & {figures: Figures | null, latest: LatestGame[]}} Standing */

/** Milliseconds between two requests, while games are being played and otherwise. */
const SOON = 1000;
const LATER = 4000;

const name = location.pathname.split("/").at(-1) ?? "";
const path = `/api/tournaments/${encodeURIComponent(name)}`;

/** @type {Standing | null} */
let shown = null;
let timer = 0;
/** Whether the tournament is being deleted, in which case the page stops polling. */
let leaving = false;
/** The listed games, as JSON. */
let listed = "";

/**
 * @param {string} id
 * @param {string} text
 */
function write(id, text) {
  if (byId(id).textContent !== text) byId(id).textContent = text;
}

/** @param {Standing} now */
function showFar(now) {
  const title = now.title || now.players.join(", ");
  document.title = title;
  write("title", title);
  write("state", stateOf(now));
  const lineups = now.lineups === 1 ? t("one line-up") : t(`${now.lineups} line-ups`);
  const options = now.options.length ? `, ${now.options.map(t).join(", ")}` : "";
  const table = [t(`${now.seats} players per table`), lineups, t(counted(now.deals, "deal")), t(`seed ${now.seed}`)];
  write("about", `${now.game}${options}, ${table.join(", ")}`);
  const progress = /** @type {HTMLProgressElement} */ (byId("progress"));
  progress.max = now.games;
  progress.value = now.done;
  const left = now.seconds_left === null || now.done === now.games ? "" : `, ${t(`about ${duration(now.seconds_left)} left`)}`;
  write("far", t(`${number(now.done)} of ${counted(now.games, "game")}`) + left);
  write("message", t(now.message));
  byId("message").hidden = !now.message;
  write("toggle", active(now) ? t("Stop") : t("Resume"));
  byId("toggle").hidden = now.state === "finished";
  byId("download").hidden = now.done === 0;
  byId("remove").hidden = false;
}

/** @param {Standing} now */
const active = (now) => now.state === "playing" || now.state === "waiting";

/** @param {Standing} now */
function showFigures(now) {
  const { figures } = now;
  const there = figures !== null;
  byId("ratings").hidden = now.done === 0;
  byId("cross").hidden = !there || figures.pairs.length === 0;
  write("without", there ? upper(t(figures.without ?? "")) : t("The ratings are being computed."));
  byId("without").hidden = there && figures.without === null;
  if (!there) return;
  byId("standings").replaceChildren(standingsTable(figures));
  byId("pairs").replaceChildren(pairsTable(figures));
  byId("scale").hidden = figures.without !== null;
  write(
    "scale",
    t(`From ${counted(figures.games, "game")}, in Elo points: a difference of 400 means odds of 10 : 1. Intervals are for the difference to ${figures.reference ?? ""}, whose rating is 0.`),
  );
  const two = now.seats === 2;
  write("cross-says", two ? t("Percentage of games that the row player wins against the column player.") : t("Percentage of games in which the row player finishes ahead of the column player."));
  showChart();
}

/** @param {string} text */
const upper = (text) => text && `${text[0].toUpperCase()}${text.slice(1)}.`;

function showChart() {
  const rated = shown?.figures?.players.filter((one) => one.rating !== null) ?? [];
  const width = byId("chart").clientWidth;
  byId("chart").replaceChildren(...(rated.length && width ? [ratingsChart(rated, width)] : []));
}

/** @param {LatestGame[]} games */
function showLatest(games) {
  const list = byId("latest");
  byId("games").hidden = games.length === 0;
  const latest = JSON.stringify(games);
  // The list must not change while the user is choosing a game.
  if (latest === listed || list.contains(document.activeElement) || list.matches(":hover")) return;
  listed = latest;
  list.replaceChildren(
    ...games.map(({ number: game, seats }) => {
      const who = seats.map(({ player, score, place }, seat) =>
        make(
          "span",
          { class: "seat" },
          make("span", { class: `token seat-${seat}`, "aria-hidden": "true" }, String(seat + 1)),
          place === 0 ? make("b", {}, `${player} ${score}`) : `${player} ${score}`,
          place === 0 ? make("span", { class: "pill gold" }, t("won")) : "",
        ),
      );
      const look = button(t("Analyze"), () => analyze(game), { class: "small", "aria-label": t(`Analyze game ${game + 1}`) });
      return make("li", {}, make("span", { class: "soft number" }, t(`Game ${game + 1}`)), make("span", { class: "played" }, ...who), look);
    }),
  );
}

/** @param {number} number */
async function analyze(number) {
  complain("");
  try {
    const { record } = await ask("POST", "/api/records", await ask("GET", `${path}/games/${number}`));
    await goTo(`/analysis/${record}`);
  } catch (problem) {
    complain(problem);
  }
}

/** @param {Standing} now */
function show(now) {
  const before = shown;
  shown = now;
  showFar(now);
  if (JSON.stringify(before?.figures) !== JSON.stringify(now.figures) || before?.done !== now.done) showFigures(now);
  showLatest(now.latest);
}

/** Request the state, show it, and request it again later. */
async function refresh() {
  clearTimeout(timer);
  if (leaving) return;
  try {
    const now = await ask("GET", path);
    if (leaving) return;
    show(now);
    write("line", "");
  } catch (problem) {
    if (leaving) return;
    if (!(problem instanceof Unreachable)) {
      if (!shown) write("state", t("This tournament cannot be shown"));
      return complain(problem);
    }
    write("line", t("The server does not respond; trying again …")); // it may become available again
  }
  const soon = shown === null || active(shown) || (shown.figures?.games ?? 0) !== shown.done;
  timer = setTimeout(refresh, soon ? SOON : LATER);
}

/**
 * Stop or resume the tournament, and show its state.
 *
 * @param {"go" | "stop"} what
 */
async function change(what) {
  complain("");
  try {
    await ask("POST", `${path}/${what}`);
  } catch (problem) {
    complain(problem);
  }
  await refresh();
}

byId("toggle").addEventListener("click", () => change(shown && active(shown) ? "stop" : "go"));
byId("download").addEventListener("click", () => download(`${path}/games`, `tournament-${name}.jsonl`).catch(complain));
byId("remove").addEventListener("click", async () => {
  if (!confirm(t("Delete this tournament and its games?"))) return;
  leaving = true;
  try {
    await ask("DELETE", path);
    await goTo("/tournaments");
  } catch (problem) {
    complain(problem);
    leaving = false;
    await refresh();
  }
});
if (globalThis.ResizeObserver) new ResizeObserver(showChart).observe(byId("chart"));
else addEventListener("resize", showChart);
refresh();

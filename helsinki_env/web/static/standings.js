/** The state of a tournament as text, tables and a chart of ratings. */

import { counted, make, makeSvg } from "./dom.js";
import { locale, number, percent, t } from "./language.js";

/**
 * @typedef {object} Progress  The progress of a tournament.
 * @property {string} tournament
 * @property {string} title
 * @property {number} made  Seconds since 1970.
 * @property {string} game
 * @property {string[]} options  Labels of the chosen options.
 * @property {number} seats
 * @property {string[]} players
 * @property {number} lineups
 * @property {number} deals
 * @property {number} seed
 * @property {number} games
 * @property {number} done
 * @property {"waiting" | "playing" | "stopped" | "finished" | "closed"} state
 * @property {number} at_once
 * @property {number | null} seconds_left
 * @property {string} message
 *
 * @typedef {object} Rated  The results of a player, with win rates from 0 to 1.
 * @property {string} player
 * @property {number | null} rating
 * @property {number | null} low
 * @property {number | null} high
 * @property {number} games
 * @property {number} win_share
 * @property {number | null} win_share_low
 * @property {number | null} win_share_high
 * @property {number} mean_points
 * @property {number} mean_place
 *
 * @typedef {object} Pair  The fraction of games in which a player finished ahead of an opponent; a tie counts one half.
 * @property {string} player
 * @property {string} opponent
 * @property {number} games
 * @property {number | null} ahead
 * @property {number | null} low
 * @property {number | null} high
 *
 * @typedef {object} Figures
 * @property {number} games
 * @property {number} deals
 * @property {Rated[]} players  Best first.
 * @property {Pair[]} pairs
 * @property {string | null} without  The reason why there are no ratings.
 * @property {string | null} reference  The player whose rating is zero.
 *
 * @typedef {object} LatestGame
 * @property {number} number
 * @property {{player: string, score: number, place: number}[]} seats
 */

const STATES = { waiting: t("Waiting"), playing: t("Playing"), stopped: t("Stopped"), finished: t("Finished"), closed: t("Closed") };

/** @param {number} share */
function rate(share) {
  if (share > 0 && share < 0.005) return `<${percent(0.01)}`;
  return share < 1 && share > 0.995 ? `>${percent(0.99)}` : percent(share);
}

/**
 * Format a number with digits after the decimal point.
 *
 * @param {number} value
 * @param {number} digits
 */
const decimal = (value, digits) => value.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** @param {number} value */
const signed = (value) => value.toFixed(0).replace(/^-0$/, "0").replace("-", "−");

/**
 * Return an approximate duration as text.
 *
 * @param {number} seconds
 */
export function duration(seconds) {
  if (seconds < 90) return counted(Math.max(1, Math.round(seconds)), "second");
  if (seconds < 90 * 60) return counted(Math.round(seconds / 60), "minute");
  return counted(Math.round(seconds / 3600), "hour");
}

/**
 * Return the progress of a tournament.
 *
 * @param {Progress} one
 */
export function progressText(one) {
  return `${STATES[one.state].toLowerCase()}, ${t(`${number(one.done)} of ${counted(one.games, "game")}`)}`;
}

/**
 * Return the current state of a tournament.
 *
 * @param {Progress} one
 */
export function stateOf(one) {
  if (one.state === "waiting") return t(`Waiting: at most ${counted(one.at_once, "tournament")} at a time`);
  return STATES[one.state];
}

/**
 * Return the table of players.
 *
 * @param {Figures} figures
 */
export function standingsTable(figures) {
  const heads = ["", t("Player"), t("Rating"), t("95% CI"), t("Win rate"), t("95% CI"), t("Mean points"), t("Mean rank"), t("Games")];
  const rows = figures.players.map((one, rank) => {
    const zero = one.player === figures.reference;
    const interval = zero ? t("reference") : one.low === null || one.high === null ? "–" : t(`${signed(one.low)} to ${signed(one.high)}`);
    const shares = one.win_share_low === null || one.win_share_high === null ? "–" : t(`${rate(one.win_share_low)} to ${rate(one.win_share_high)}`);
    const cells = [
      one.rating === null ? "–" : signed(one.rating),
      interval,
      rate(one.win_share),
      shares,
      decimal(one.mean_points, 1),
      decimal(one.mean_place, 2),
      number(one.games),
    ];
    return make(
      "tr",
      {},
      make("td", {}, String(rank + 1)),
      make("th", { scope: "row" }, one.player),
      ...cells.map((cell, i) => make("td", { class: i === 0 || i === 2 ? "strong" : null }, cell)),
    );
  });
  const head = make("tr", {}, ...heads.map((text) => (text ? make("th", { scope: "col" }, text) : make("td", {}))));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
}

/**
 * Return the table of pairs, which shows how often the row player finished ahead of the column player.
 *
 * @param {Figures} figures
 */
export function pairsTable(figures) {
  const names = figures.players.map((one) => one.player);
  const found = new Map(figures.pairs.map((pair) => [`${pair.player} ${pair.opponent}`, pair]));
  const head = make("tr", {}, make("td", {}), ...names.map((name) => make("th", { scope: "col" }, name)));
  const rows = names.map((name) =>
    make("tr", {}, make("th", { scope: "row" }, name), ...names.map((other) => pairCell(found.get(`${name} ${other}`)))),
  );
  return make("table", { class: "pairs" }, make("thead", {}, head), make("tbody", {}, ...rows));
}

/** @param {Pair | undefined} pair */
function pairCell(pair) {
  if (!pair || pair.ahead === null) return make("td", { class: "none" }, "·");
  const cell = make("td", {}, rate(pair.ahead));
  if (pair.low !== null && pair.high !== null) {
    cell.title = t(`${pair.player} ahead of ${pair.opponent}: ${rate(pair.low)} to ${rate(pair.high)} in ${counted(pair.games, "game")}`);
  }
  // Blue above one half, orange below: color-blind users can distinguish them.
  const strength = Math.abs(pair.ahead - 0.5) * 0.9;
  cell.style.backgroundColor = pair.ahead >= 0.5 ? `rgb(0 114 178 / ${strength})` : `rgb(230 120 0 / ${strength})`;
  return cell;
}

const ROW = 30;
const FOOT = 26;

/**
 * Return a chart of the ratings with their intervals, with the best player at the top.
 *
 * @param {Rated[]} players  each with a rating
 * @param {number} width  of the chart, in pixels
 */
export function ratingsChart(players, width) {
  const height = ROW * players.length + FOOT;
  const longest = Math.max(...players.map((one) => one.player.length));
  const left = Math.min(8 * longest + 12, 0.4 * width);
  const right = width - 58;
  const low = Math.min(0, ...players.map((one) => one.low ?? one.rating ?? 0));
  const high = Math.max(0, ...players.map((one) => one.high ?? one.rating ?? 0));
  const span = Math.max(high - low, 1);
  /** @param {number} elo */
  const x = (elo) => left + 8 + ((elo - low) / span) * (right - left - 8);
  const chart = makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
  chart.append(titled(t("Ratings with 95% confidence intervals; the table below has the numbers")));
  for (const tick of ticks(low, high, Math.max(2, (right - left) / 90))) {
    chart.append(makeSvg("line", { x1: x(tick), x2: x(tick), y1: 0, y2: height - FOOT + 4, class: tick === 0 ? "zero" : "grid" }));
    chart.append(written(signed(tick), { x: x(tick), y: height - 6, class: "tick" }));
  }
  players.forEach((one, i) => {
    const y = ROW * i + ROW / 2;
    const rating = one.rating ?? 0;
    chart.append(
      written(one.player, { x: left, y: y + 5, class: "name" }),
      makeSvg("line", { x1: x(one.low ?? rating), x2: x(one.high ?? rating), y1: y, y2: y, class: "interval" }),
      makeSvg("circle", { cx: x(rating), cy: y, r: 5.5, class: "rating" }),
      written(signed(rating), { x: x(Math.max(rating, one.high ?? rating)) + 9, y: y + 5, class: "value" }),
    );
  });
  return chart;
}

/**
 * @param {string} text
 * @param {Record<string, string | number>} attributes
 */
function written(text, attributes) {
  const element = makeSvg("text", attributes);
  element.textContent = text;
  return element;
}

/** @param {string} text */
function titled(text) {
  const element = makeSvg("title");
  element.textContent = text;
  return element;
}

/**
 * Return about `most` round numbers between two numbers.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} most
 */
function ticks(low, high, most) {
  const rough = (high - low) / most || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

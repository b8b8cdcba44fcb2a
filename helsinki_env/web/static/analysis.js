/** The page for uploading games and positions for analysis, with a list of the saved ones. */

import { Refused, ask, send } from "./access.js";
import { button, byId, counted, fill, goTo, make, once, whenSent } from "./dom.js";
import { date, number, recordTitle, t, verbatim } from "./language.js";

/** @typedef {import("./protocol.js").Brought} Brought */
/** @typedef {import("./protocol.js").Found} Found */
/** @typedef {import("./protocol.js").SavedRecord} SavedRecord */
/** @typedef {import("./protocol.js").Place} Place */

/** Maximum size, in bytes, of a file whose text is shown so that errors can be marked. */
const MOST_SHOWN = 200_000;
/** Number of characters shown on each side of an error. */
const AROUND = 60;

const form = /** @type {HTMLFormElement} */ (byId("bring"));
const file = /** @type {HTMLInputElement} */ (byId("file"));
const text = /** @type {HTMLTextAreaElement} */ (byId("text"));

/** @type {File | null} A file whose text is not shown. */
let large = null;
/** Number of uploads and edits so far; responses to earlier ones are ignored. */
let brought = 0;

// upload

/** @param {File} from */
async function take(from) {
  clear();
  const mine = ++brought;
  const head = new Uint8Array(await from.slice(0, 4).arrayBuffer());
  const shown = from.size <= MOST_SHOWN && new TextDecoder().decode(head) !== "PAR1";
  const content = shown ? await from.text() : "";
  if (mine !== brought) return;
  large = shown ? null : from;
  text.value = content;
  text.placeholder = shown ? "" : t(`${verbatim(from.name)}, ${number(from.size)} bytes`);
  await open();
}

async function open() {
  clear();
  const mine = ++brought;
  const content = large ?? text.value;
  try {
    /** @type {Found} */
    const found = await (await send("POST", "/api/records/look", content)).json();
    if (mine !== brought) return;
    if (found.kind === "position" || found.count === 1) await keep(content, 1);
    else showGames(content, found);
  } catch (problem) {
    if (mine === brought) complain(problem);
  }
}

/**
 * @param {BodyInit} content
 * @param {number} number
 */
async function keep(content, number) {
  const { record } = await (await send("POST", `/api/records?game=${number}`, content)).json();
  await goTo(`/analysis/${record}`);
}

/**
 * @param {BodyInit} content
 * @param {{count: number, games: Brought[]}} found
 */
function showGames(content, { count, games }) {
  const items = games.map((one) => () => {
    const who = one.players.map((name, seat) => (one.scores ? `${name} (${one.scores[seat]})` : name)).join(", ");
    const game = one.game[0].toUpperCase() + one.game.slice(1);
    const length = counted(one.decisions, "action");
    const about = `${game}, ${one.scores ? t(length) : t(`${length}, unfinished`)}`;
    const choose = button(t("Open"), once(() => keep(content, one.number).catch(complain)));
    choose.setAttribute("aria-label", t(`Open game ${one.number}: ${verbatim(who)}`));
    const words = make("div", {}, make("b", {}, `${one.number}. ${who}`), make("div", { class: "soft" }, about));
    return make("li", {}, words, choose);
  });
  const all = counted(count, "game");
  byId("found-title").textContent = count > games.length ? t(`${all}; the first ${games.length}`) : t(all);
  fill(byId("games"), items);
  byId("found").hidden = false;
  byId("found-title").focus();
}

// errors

function clear() {
  byId("error").hidden = true;
  byId("found").hidden = true;
}

/** @param {unknown} problem */
function complain(problem) {
  const said = t(problem instanceof Error ? problem.message : String(problem));
  const place = problem instanceof Refused && !large ? problem.place : null;
  byId("error").replaceChildren(make("p", {}, said), ...(place ? [excerpt(place)] : []));
  byId("error").hidden = false;
  if (place) mark(place);
}

/**
 * Return the line of text that contains the error.
 *
 * @param {Place} place
 */
function excerpt({ start, end, line }) {
  const letters = [...text.value];
  const from = Math.max(letters.lastIndexOf("\n", start - 1) + 1, start - AROUND);
  const over = letters.indexOf("\n", start);
  const to = Math.min(over < 0 ? letters.length : over, end + AROUND);
  const [before, wrong, after] = [
    letters.slice(from, start),
    letters.slice(start, Math.min(end, to)),
    letters.slice(Math.min(end, to), to),
  ].map((part) => part.join(""));
  const found = make("mark", {}, wrong || " ");
  return make("pre", { "aria-label": t(`Line ${line}`) }, `${line}: `, before, found, after);
}

/**
 * Select the error in the text and scroll to it.
 *
 * @param {Place} place
 */
function mark({ start, end }) {
  const letters = [...text.value];
  const [first, last] = [start, end].map((n) => letters.slice(0, n).join("").length);
  text.setSelectionRange(first, first);
  text.blur(); // browsers scroll to the selection when the text gets the focus
  text.focus();
  text.setSelectionRange(first, last);
}

// saved games

async function showSavedRecords() {
  /** @type {SavedRecord[]} */
  const kept = await ask("GET", "/api/records");
  const items = kept.map(({ record, title: saved, made, decisions }) => () => {
    const title = decisions === null ? t(saved) : recordTitle(saved);
    const about = t(decisions === null ? "position" : counted(decisions, "action"));
    const forget = async () => {
      if (!confirm(t(`Delete "${verbatim(title)}"?`))) return;
      await ask("DELETE", `/api/records/${record}`).catch(complain);
      await showSavedRecords().catch(complain);
    };
    const remove = button(t("Delete"), once(forget));
    remove.setAttribute("aria-label", t(`Delete ${verbatim(title)}`));
    const link = make("a", { href: `/analysis/${record}` }, title);
    return make("li", {}, make("div", {}, link, make("div", { class: "soft" }, `${about}, ${date(made)}`)), remove);
  });
  fill(byId("kept"), items);
}

whenSent(form, open);
text.addEventListener("input", () => {
  brought += 1;
  large = null;
  file.value = "";
});
file.addEventListener("change", () => {
  if (file.files?.[0]) take(file.files[0]).catch(complain);
  file.value = ""; // choosing the same file again, after a correction, is a change then
});
form.addEventListener("dragover", (event) => {
  event.preventDefault();
  form.classList.add("over");
});
form.addEventListener("dragleave", () => form.classList.remove("over"));
form.addEventListener("drop", (event) => {
  event.preventDefault();
  form.classList.remove("over");
  const dropped = event.dataTransfer?.files[0];
  if (dropped) take(dropped).catch(complain);
});
showSavedRecords().catch(complain);

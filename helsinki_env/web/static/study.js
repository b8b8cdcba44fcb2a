/** The page for analyzing a game or position. */

import { speak } from "../viewer/dom.js";
import { Viewer } from "../viewer/viewer.js";
import { ask } from "./access.js";
import { byId, complain, counted, make } from "./dom.js";
import { download } from "./download.js";
import { EvaluationPanel } from "./evaluation.js";
import { date, doing, recordTitle, t, verbatim } from "./language.js";
import { rewrite } from "./lettering.js";
import { playOn } from "./playon.js";
import { PositionView } from "./position.js";

/** @typedef {import("./protocol.js").Study} Study */

const name = decodeURIComponent(location.pathname.split("/").at(-1) ?? "");
const path = `/api/records/${encodeURIComponent(name)}`;

/**
 * @param {string} id
 * @param {() => Promise<unknown>} does
 */
function onClick(id, does) {
  byId(id).addEventListener("click", () => {
    byId("error").hidden = true;
    does().catch(complain);
  });
}

/** @param {Study} study */
async function show(study) {
  document.title = byId("title").textContent = study.kind === "record" ? recordTitle(study.title) : t(study.title);
  byId("wait").hidden = true;
  byId("tools").hidden = false;
  const panel = study.kind === "record" ? showGame(study) : showPosition(study);
  await panel?.begin();
}

/** @param {Extract<Study, {kind: "record"}>} study */
function showGame({ record, game, animation, players, evaluators, to_move: last }) {
  const button = /** @type {HTMLButtonElement} */ (byId("play-on"));
  const mover = (/** @type {number} */ number) => (number < animation.steps.length ? animation.steps[number].seat : last);
  const moved = (/** @type {number} */ number) => (button.disabled = mover(number) === null);
  // A name that differs from the record's is the label of a level.
  animation.players = animation.players.map((/** @type {string} */ name, /** @type {number} */ i) => (name === players[i] ? verbatim(recordTitle(name)) : name));
  const seats = animation.players.map((/** @type {string} */ name) => ({ name }));
  const drawn = (/** @type {SVGSVGElement} */ svg, /** @type {number} */ number) => {
    const step = animation.steps[number - 1];
    rewrite(svg, { seats, spots: {}, log: step ? [{ seat: step.seat, words: t(step.said) }] : [] })();
  };
  const viewer = new Viewer(byId("shown"), animation, { moved, drawn });
  const panel = new EvaluationPanel(record, evaluators, (evaluation) => viewer.showEvaluation(evaluation), complain);
  onClick("play-on", () => playOn(record, game, players, viewer.number, mover(viewer.number)));
  onClick("save", () => download(`${path}/file`, `${record}.jsonl`));
  onClick("save-page", () => download(`${path}/page?evaluator=${encodeURIComponent(panel.shown)}`, `${record}.html`));
  return panel;
}

/** @param {Extract<Study, {kind: "position"}>} study */
function showPosition({ record, game, position, evaluators }) {
  const view = new PositionView(byId("shown"), position);
  const seats = position.scores.map(() => "");
  byId("save").textContent = t("Save position");
  byId("save-page").hidden = true;
  onClick("save", () => download(`${path}/file`, `${record}.json`));
  if (position.done) {
    for (const id of ["play-on", "start", "evaluator"]) byId(id).toggleAttribute("disabled", true);
    return null;
  }
  onClick("play-on", () => playOn(record, game, seats, 0, position.seat));
  return new EvaluationPanel(record, evaluators, (advice) => view.showEvaluation(advice), complain);
}

async function showBranches() {
  /** @type {{table: string, title: string, decisions: number, made: number}[]} */
  const branches = await ask("GET", `${path}/branches`);
  byId("branches").hidden = !branches.length;
  const items = branches.map(({ table, title, decisions, made: at }) => {
    const link = make("a", { href: `/tables/${table}` }, title || t(`Branch of ${date(at)}`));
    return make("li", {}, link, make("span", { class: "soft" }, " ", t(`begins after ${counted(decisions, "action")}`)));
  });
  byId("branch-list").replaceChildren(...items);
}

speak(t, doing);
try {
  await showBranches();
  await show(await ask("GET", path));
} catch (problem) {
  byId("wait").hidden = true;
  complain(problem);
}

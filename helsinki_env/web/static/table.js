/** The page of a table, which shows its views and sends the user's actions. */

import { ask, key } from "./access.js";
import { Advice } from "./advice.js";
import { Again } from "./again.js";
import { analyzeButton } from "./apart.js";
import { areaOf, belowArea, boundsOf, showAreas } from "./areas.js";
import { Choices } from "./choices.js";
import { Clocks } from "./clocks.js";
import { Connection } from "./connection.js";
import { button, byId, complain, goTo, isSecondClick, make, makeSvg, once } from "./dom.js";
import { offerLinks } from "./invite.js";
import { KEEPS_NOTHING, keep, keeps, knows, recall } from "./kept.js";
import { Help, nextSpot, spotAt } from "./help.js";
import { keyOf } from "./keys.js";
import { doing, joined, t, translated } from "./language.js";
import { Lesson } from "./lesson.js";
import { Notices } from "./notices.js";
import { Picking } from "./picking.js";
import { Placing } from "./placing.js";
import { Practice } from "./practice.js";
import { Question } from "./question.js";
import { showSheet } from "./scores.js";
import { news, showLog, showSeats, showTurn } from "./side.js";
import { Stage } from "./stage.js";
import { Teaching } from "./teaching.js";

/** @typedef {import("./protocol.js").Decision} Decision */
/** @typedef {import("./protocol.js").Taken} Taken */
/** @typedef {import("./protocol.js").ToServer} ToServer */
/** @typedef {import("./protocol.js").View} View */
/** @typedef {import("./protocol.js").FromServer} FromServer */
/** @typedef {import("./placing.js").Direction} Direction */

/** @type {Record<string, Direction>} */
const ARROWS = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };
/** @type {Record<Direction, [number, number]>} */
const STEPS = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] };
/** Kinds of actions that can be selected in any order. Consecutive actions of these kinds are undone together. */
const TOGETHER = ["TAKE", "PAY", "ROOF", "DISCARD"];
/** Milliseconds after which the page shows that a message is unconfirmed. */
const PATIENCE = 300;

/** Milliseconds of a long touch, and the movement in pixels that ends it. */
const HOLD = 600;
const DRIFT = 8;

const isNarrow = () => globalThis.matchMedia?.("(max-width: 900px)").matches ?? innerWidth <= 900;

/** @type {View | null} */
let view = null;
/** Number of actions taken at the time when the page sent its last action. */
let sent = -1;
/** Whether the last pointer was not a mouse. If so, the first touch selects and the second touch confirms. */
let touching = false;
/** @type {ReturnType<typeof setTimeout> | undefined} Runs during a touch. */
let holding;
/** Whether the last touch was long, so that its click is ignored. */
let longTouch = false;
/** The time at which the player started computing, on this page's clock. */
let began = 0;
/** Whether the connection was lost, so that the table may have another position after the same number of actions. */
let stale = false;
/** @type {View | null} The view at the beginning of the latest turn. */
let turnBegan = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let impatient;
/** @type {HTMLElement | null} The focused element before the connection was lost; disabled buttons lose the focus. */
let focusedBefore = null;
let looks = recall("look", isNarrow() ? "follow" : "all");

const again = new Again(
  (then, words) => {
    stage.show(then, true);
    stage.offer([], () => "");
    stage.haunt([], null, false);
    headline(words);
  },
  () => {
    if (!view) return;
    stage.show(view, true);
    offer(view);
    headline(headlineOf(view));
  },
);
const placing = new Placing();
const picking = new Picking();
const question = new Question(
  byId("armed"),
  () => {
    point(question.about);
    showPlacing();
  },
  () => byId(placing.active ? "picture" : "headline").focus({ preventScroll: true }),
);
const stage = new Stage(byId("picture"), {
  spot: (decisions, x, y) => (decisions.length === 1 ? decide(decisions[0]) : openMenu(decisions, x, y)),
  move: (x, y, event) => {
    if (touching || question.open) return;
    aim(x, y);
    if (view) help.rest(isOwnBoard(x, y) ? null : spotAt(view.spots, x, y), event.clientX, event.clientY);
  },
  press: (x, y, event) => {
    if (!isOwnBoard(x, y)) return explain(x, y, event);
    const before = placing.candidate;
    if (!touching) question.drop();
    aim(x, y);
    if (!placing.candidate) return explain(x, y, event, t("The tile cannot lie here in this orientation."));
    if (!touching || placing.candidate === before) decide(placing.candidate);
  },
  leave: () => {
    help.hide();
    if (touching || question.open) return;
    placing.drop();
    showPlacing();
  },
  hover: (decision) => point(decision),
});
const choices = new Choices(
  byId("choices"),
  /** @type {HTMLDetailsElement} */ (byId("places")),
  (decision) => decide(decision),
  (decision) => point(decision),
);
const advice = new Advice(
  /** @type {HTMLInputElement} */ (byId("advise")),
  byId("advised"),
  (message) => connection.send(message),
  (id) => point(view?.decisions.find((one) => one.id === id) ?? null),
  (text) => (byId("said").textContent = text),
);
const help = new Help(
  (message) => connection.send(message),
  (text) => (byId("said").textContent = text),
  () => view?.number ?? 0,
  () => view?.game ?? "",
);
/** @type {string | null} The spot that the arrow keys have reached. */
let cursor = null;
const confirms = /** @type {HTMLInputElement} */ (byId("confirm"));
const shortcuts = /** @type {HTMLInputElement} */ (byId("shortcuts"));
const pace = /** @type {HTMLSelectElement} */ (byId("pace"));
const sendPace = () => connection.send({ type: "pace", milliseconds: Number(pace.value) });
const name = decodeURIComponent(location.pathname.split("/").at(-1) ?? "");
const practice = new Practice(
  name,
  (message) => connection.send(message),
  ({ best }) => {
    sent = -1;
    const decision = view?.decisions.find((one) => one.id === best) ?? null;
    placing.hold(decision);
    point(decision);
  },
);
const notices = new Notices(/** @type {HTMLInputElement} */ (byId("notices")));
const clocks = new Clocks(byId("seats"), (seat) => view?.mine.includes(seat) ?? false);
const teaching = new Teaching(
  /** @type {HTMLInputElement} */ (byId("teach")),
  (message) => connection.send(message),
  (decision, words, does) => question.ask(decision, words, does),
);
const lesson = new Lesson(
  name,
  (message) => connection.send(message),
  () => view && offer(view),
);
const connection = new Connection(name, {
  heard: (message) => heard(message),
  opened: () => {
    sendPace();
    lesson.begin();
    help.connected();
  },
  changed: (there) => showLine(there),
  waits: (something) => showWaiting(something),
});

/** @param {boolean} there  Show whether there is a connection; without a connection, disable the buttons. */
function showLine(there) {
  byId("line").textContent = there ? "" : t("No connection; trying again. Unconfirmed actions will be sent again.");
  sent = -1;
  advice.forget();
  stale = true;
  question.drop();
  closeMenu();
  if (!there && !document.body.classList.contains("cut")) focusedBefore = /** @type {HTMLElement | null} */ (document.activeElement);
  document.body.classList.toggle("cut", !there);
  switchButtons();
}

/** Enable the buttons that need a connection only while there is one. */
function switchButtons() {
  const all = "#act button, #handover button, #log button, #here, .deeper button";
  for (const one of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll(all))) {
    one.disabled = !connection.there;
  }
  if (!connection.there) return;
  if (focusedBefore?.isConnected && document.activeElement === document.body) focusedBefore.focus({ preventScroll: true });
  focusedBefore = null;
  showPlacing();
  showPicking();
}

/** @param {boolean} something  Whether a message is unconfirmed; shown after a delay. */
function showWaiting(something) {
  clearTimeout(impatient);
  if (!something) document.body.classList.remove("waiting");
  else impatient = setTimeout(() => document.body.classList.add("waiting"), PATIENCE);
}

/**
 * Send a message that changes the table. After a reconnect, it is sent again if the table is unchanged.
 *
 * @param {ToServer} message
 * @param {(now: View) => boolean} [still]  whether to send it again
 * @returns {boolean} whether it was sent
 */
function act(message, still) {
  const before = view && fingerprint(view);
  const unchanged = () => view !== null && (still ? still(view) : fingerprint(view) === before);
  const again = () => {
    if (!unchanged()) return false;
    if (message.type === "decide") sent = message.number;
    return true;
  };
  if (connection.act(message, again)) return true;
  complain(t("There is no connection to the server, so nothing was sent."));
  return false;
}

/** @param {View} of  Distinguishes positions with the same number of actions. */
const fingerprint = (of) => JSON.stringify([of.number, of.seat, of.log.at(-1), of.decisions.map((one) => one.id)]);

// incoming messages

/** @param {FromServer} from */
function heard(from) {
  const message = translated(from);
  if (message.type === "table") return show(message);
  if (message.type === "clock") return void (began = Date.now() - 1000 * message.seconds);
  if (message.type === "clocks") return clocks.heard(message);
  if (message.type === "explained") return help.heard(message);
  if (message.type === "lesson") {
    lesson.heard(message);
    return void (view && offer(view));
  }
  if (message.type === "practice") {
    // Another exercise may have the same number of actions.
    stale = true;
    view = null;
    help.another();
    return practice.heard(message);
  }
  if (message.type === "graded") return practice.graded(message);
  if (message.type === "taught") return teaching.heard(message);
  if (message.type === "rules") return help.showRules(message.sections);
  if (message.type === "evaluation" || message.type === "not_evaluated") return advice.heard(message);
  if (message.type !== "error" && message.type !== "refused") return;
  sent = -1;
  if (message.type === "refused") return showClosed(message.message);
  complain(message.message);
}

/** @param {string} why  Show only this reason and a link to the other tables. */
function showClosed(why) {
  byId("line").textContent = "";
  headline(t("You cannot open this table"));
  const others = make("p", {}, make("a", { href: "/" }, t("All tables")));
  byId("act").replaceChildren(byId("headline"), byId("error"), others);
  document.body.classList.add("closed");
  complain(why);
}

/** @param {View} next */
function show(next) {
  const before = view;
  const focused = byId("act").contains(document.activeElement) || byId("armed").contains(document.activeElement);
  if (!before && keeps && !lesson.on && !practice.on && !knows(next.game)) help.open();
  const same =
    !stale && before?.number === next.number && before.viewer === next.viewer && before.decisions.length > 0;
  stale = false;
  view = same && next.decisions.length ? { ...next, decisions: before.decisions, selection: before.selection } : next;
  if (!same && !question.standsFor(next)) question.drop();
  if (!same) {
    closeMenu();
    teaching.drop();
  }
  complain("");
  if (next.number !== before?.number) sent = -1;
  const quiet = before === null || next.number < before.number;
  if (turnBegan && next.number < turnBegan.number) turnBegan = null;
  if (before && next.number > before.number && !(turnBegan && before.turn.length && toMove(before) === toMove(turnBegan))) turnBegan = before;
  if (!practice.on) byId("title").textContent = next.name ? t(next.name) : next.seats.map((chair) => t(chair.name)).join(", ");
  byId("picture").hidden = next.handover !== null;
  showHandover(next);
  again.take(next);
  stage.show(next, quiet);
  showAreas(next, choose);
  if (!same || !next.decisions.length) {
    offer(view);
  }
  if (!practice.on) lesson.show(view);
  look();
  showPlacing();
  showSeats(byId("seats"), next, turnBegan);
  clocks.show();
  showSheet(byId("sheet-table"), next);
  if (next.done && !before?.done) /** @type {HTMLDetailsElement} */ (byId("sheet")).open = true;
  if (next.number !== before?.number) help.hide();
  showTurn(byId("turn"), next, undo);
  showLog(byId("log"), next, askTakeBack);
  byId("undo").hidden = next.undo === null;
  showPlayer(next);
  if (!practice.on) advice.show(next);
  headline(headlineOf(next));
  byId("note").hidden = !next.message;
  byId("note").textContent = next.message ?? "";
  switchButtons();
  if (focused && !byId("act").contains(document.activeElement)) byId("headline").focus({ preventScroll: true });
  const told = [news(next, before), next.decisions.length && !before?.decisions.length ? t("It is your turn.") : ""];
  byId("said").textContent = told.filter(Boolean).join(" ");
  if (told[1] && !practice.on) notices.tell(t("Your turn"), told[0] || byId("title").textContent || "");
}

/** @param {View} of  Return the seat to move, or -1. */
const toMove = (of) => of.seats.findIndex((chair) => chair.to_move);

/** @param {View} now  Show the possible actions; during a lesson, there is only one. */
function offer(now) {
  picking.take(lesson.leads(now) ? null : now.selection);
  const offered = lesson.offered(now, picking.offered(now.decisions));
  placing.take(offered, now.spots);
  choices.show(offered);
  byId("picture").classList.toggle("leads", lesson.leads(now));
  stage.offer(offered.filter((one) => one.turn === null), (one) => choices.keyOf(one), lesson.leads(now) ? topOf(offered[0], now) : "");
  if (!practice.on) lesson.show(now);
  look();
  showPlacing();
  showPicking();
}

/**
 * Return the uppermost spot of an action, where an arrow from above hides the least.
 *
 * @param {Decision} decision
 * @param {View} now
 */
const topOf = ({ at, covers }, now) => [...(covers.length ? covers : at)].sort((a, b) => now.spots[a][1] - now.spots[b][1])[0] ?? "";

/** @param {View} now */
function headlineOf(now) {
  const name = now.seats[now.seat].name;
  if (now.done) {
    const winners = now.seats.filter((chair) => chair.place === 0).map((chair) => chair.name);
    if (t(joined(winners)) === t("You")) return t("The game is over: you win");
    return winners.length === 1 ? t(`The game is over: ${winners[0]} wins`) : t(`The game is over: ${joined(winners)} share the victory`);
  }
  if (now.handover !== null) return t(`Turn of ${now.seats[now.handover].name}`);
  if (now.decisions.length) return now.mine.length > 1 ? t(`${name}, your turn`) : t("Your turn");
  if (now.paused) return t(`${name} is paused`);
  if (now.thinking && now.seats[now.seat].human && t(name) === t("You")) return t(`Time is up: ${now.thinking.player} plays for you`);
  if (now.thinking && now.seats[now.seat].human) return t(`Time is up: ${now.thinking.player} plays for ${name}`);
  return now.thinking ? t(`${name} is computing`) : t(`Turn of ${name}`);
}

/** @param {string} text */
function headline(text) {
  byId("headline").textContent = text;
  document.title = view?.decisions.length ? `● ${text}` : text;
}

/** @param {View} now  Show the buttons to pause and resume players, and to analyze the game. */
function showPlayer(now) {
  const row = byId("player");
  const kind = now.done ? "done" : now.paused ? "paused" : now.thinking && !now.seats[now.seat].human ? "thinking" : "";
  began = Date.now() - 1000 * (now.thinking?.seconds ?? 0);
  row.hidden = !kind;
  // A replaced button would miss a click in progress.
  if (row.dataset.kind === kind) return;
  row.dataset.kind = kind;
  if (!kind) return row.replaceChildren();
  const study = (/** @type {string} */ words) => (now.from_position ? [] : [analyzeButton(now.table, complain, words)]);
  if (now.done) return row.replaceChildren(...study(t("Analyze this game")), ...nextGames(now));
  if (now.paused) {
    const apart = now.seats.some((chair) => chair.human) ? [] : study(t("Analyze the game so far"));
    return row.replaceChildren(button(t("Resume"), () => act({ type: "go" }, (next) => next.paused), { class: "main" }), ...apart);
  }
  const clock = make("span", { class: "soft" });
  const tick = () => {
    clock.textContent = `${Math.floor((Date.now() - began) / 1000)} s`;
    if (clock.isConnected) setTimeout(tick, 1000);
  };
  const stop = () => act({ type: "stop" }, (next) => next.thinking !== null);
  row.replaceChildren(clock, button(t("Stop"), stop, { title: t("Pause this player") }));
  tick();
}

/** @param {View} now  Return the controls that start another game after this one. */
function nextGames(now) {
  const again = (/** @type {boolean} */ swap) =>
    once(async () => {
      try {
        const { table } = await ask("POST", `/api/tables/${now.table}/again`, { swap });
        await goTo(`/tables/${table}`);
      } catch (problem) {
        complain(problem);
      }
    });
  const fresh = make("a", { href: "/" }, t("New game"));
  if (key || !now.mine.length) return [fresh];
  return [button(t("Rematch"), again(false), { class: "main" }), button(t("Swap seats"), again(true)), fresh];
}

/** @param {View} now  Show the hand-over screen, which hides the cards until the next player has the device. */
function showHandover(now) {
  const sheet = byId("handover");
  const seat = now.handover;
  const came = seat !== null && sheet.hidden;
  sheet.hidden = seat === null;
  if (seat === null) return sheet.replaceChildren();
  if (!came && sheet.dataset.seat === String(seat)) return;
  sheet.dataset.seat = String(seat);
  const name = now.seats[seat].name;
  const look = () => act({ type: "look", seat }, (next) => next.handover === seat);
  const ready = button(t(`I am ${name}: show the table`), look, { class: "main" });
  sheet.replaceChildren(make("h2", {}, t(`Hand the device to ${name}`)), make("p", {}, t("Only this player should look at the screen now.")), ready);
  if (came) ready.focus();
}

// actions

/** @param {Decision} decision */
function decide(decision) {
  closeMenu();
  if (!view || sent === view.number) return;
  if (question.open && question.about === decision) return; // the question is already open
  question.drop();
  if (picking.has(decision.id)) return pick(decision);
  const { number } = view;
  const send = () => {
    if (!act({ type: "decide", number, action: decision.id })) return;
    sent = number;
    point(decision);
  };
  const confirm = () => {
    if (!confirms.checked || lesson.leads(now) || !(decision.ends || decision.reveals)) return send();
    question.ask(decision, `${decision.words}? ${outcome(decision)}`, send);
  };
  const now = view;
  if (practice.on) return send();
  teaching.check(now.rated || lesson.leads(now), number, decision, send, confirm);
}

/** @param {{ends: boolean, reveals: boolean}} what  Return the irreversible effect of an action. */
const outcome = ({ ends, reveals }) =>
  reveals ? t("This reveals hidden cards and cannot be undone.") : ends ? t("This ends your turn.") : "";

/** @param {Decision} decision  Add an action to the selection, or remove it. */
function pick(decision) {
  const why = picking.toggle(decision.id);
  showPicking();
  byId("said").textContent = why || byId("far").textContent;
  if (why) byId("means").textContent = why;
}

function showPicking() {
  const { selection, wanted, count, complete, between } = picking;
  byId("picked").hidden = selection === null || !view?.decisions.length;
  if (!selection) return;
  const times = (/** @type {number} */ id) => (picking.has(id) ? picking.times(id) : null);
  choices.pick(times, selection.items);
  stage.pick(times);
  byId("far").textContent = t(`${selection.items[0].words.split(/[ :]/)[0]}: ${count} of ${wanted}`);
  /** @type {HTMLButtonElement} */ (byId("settle")).disabled = !complete || !connection.there;
  const using = between ? t(`With "${between.words}".`) : "";
  const says = complete ? [using, outcome(selection)] : [t("In any order.")];
  byId("means").textContent = says.filter(Boolean).join(" ");
}

/** Send the selection in the order that the rules require. */
function confirmPicked() {
  if (!view || !picking.complete || sent === view.number) return;
  const { number } = view;
  const [action, ...more] = picking.inOrder();
  question.drop();
  const send = () => void (act({ type: "decide", number, action, more }) && (sent = number));
  const decision = view.decisions.find((one) => one.id === action) ?? null;
  if (decision) teaching.check(view.rated, number, decision, send, send);
  else send();
}

/** @param {number} to  Index of the first action to undo; selections are undone as a whole. */
function undo(to) {
  question.drop();
  if (!view || view.undo === null) return;
  const kinds = new Map(view.turn.map((one) => [one.number, one.kind]));
  const kind = kinds.get(to) ?? "";
  while (TOGETHER.includes(kind) && kinds.get(to - 1) === kind && to > view.undo) to -= 1;
  act({ type: "undo", number: view.number, to });
}

/** Deselect the last selected item or, if there is none, undo the last action. */
function undoLast() {
  if (!picking.count) return undo((view?.number ?? 0) - 1);
  picking.back();
  showPicking();
  byId("said").textContent = byId("far").textContent;
}

/** @param {Taken} taken */
function askTakeBack(taken) {
  if (!view) return;
  const words = t(`Return to before ${doing(view.seats[taken.seat].name, taken.words)}? All later actions are deleted.`);
  const isThere = (/** @type {View} */ next) =>
    next.log.some((one) => one.number === taken.number && one.words === taken.words);
  const does = () => view && act({ type: "takeback", number: view.number, to: taken.number }, isThere);
  // On the user's turn, Enter and clicks have a different meaning, so the question closes.
  question.ask(null, words, does, (next) => !next.decisions.length && isThere(next));
}

// the picture

/** @param {Decision | null} decision  Mark an action in the picture and in the list. */
function point(decision) {
  const meant = decision ?? question.about;
  stage.point(meant);
  choices.mark(meant);
  if (meant?.turn != null) stage.haunt(placing.places, meant, question.about === meant);
  else showPlacing();
}

/**
 * Select the position of the current tile at a point of the user's board; a finger may miss it by half a cell.
 *
 * @param {number} x
 * @param {number} y
 */
function aim(x, y) {
  if (!placing.active || !view) return;
  const [, , width] = view.spots[placing.places[0]?.covers[0]] ?? [0, 0, 0, 0];
  if (isOwnBoard(x, y)) placing.near(x, y, touching ? width / 2 : 0);
  else placing.drop();
  showPlacing();
}

/**
 * Return whether a tile must be placed and a point is on the board for the tile.
 *
 * @param {number} x
 * @param {number} y
 */
function isOwnBoard(x, y) {
  const board = placing.active ? view?.spots[`board ${view.seat}`] : undefined;
  return board !== undefined && x >= board[0] && x <= board[0] + board[2] && y >= board[1] && y <= board[1] + board[3];
}

/**
 * Explain the spot at a point of the picture, and why it cannot be used.
 *
 * @param {number} x
 * @param {number} y
 * @param {PointerEvent} event
 * @param {string} [reason]  if the server knows no reason
 */
function explain(x, y, event, reason = "") {
  const spot = view && spotAt(view.spots, x, y);
  if (spot) help.ask(spot, event.clientX, event.clientY, reason);
  else help.hide();
}

/** @param {MouseEvent} event  Explain the spot under a long touch, and ignore the click that may follow. */
function hold(event) {
  clearTimeout(holding);
  if (!longTouch) stage.locate(event, (x, y, at) => explain(x, y, at));
  longTouch = true;
}

/** @param {Direction} direction  Explain the next part of the picture in a direction. */
function browse(direction) {
  if (!view) return;
  cursor = nextSpot(view.spots, cursor, STEPS[direction]);
  const at = stage.cursor(cursor);
  if (cursor && at) help.ask(cursor, at.x, at.y);
}

function showPlacing() {
  byId("placing").hidden = !placing.active;
  const meant = question.about?.turn != null ? question.about : placing.candidate;
  stage.haunt(placing.places, meant, question.open);
  /** @type {HTMLButtonElement} */ (byId("here")).disabled = meant === null || !connection.there;
  for (const id of ["rotate", "flip"]) {
    /** @type {HTMLButtonElement} */ (byId(id)).disabled = placing.orientations < 2;
  }
  const wins = meant?.wins?.length ? ` (${meant.wins.join(", ")})` : "";
  byId("meant").textContent = meant ? meant.words + wins : t("Point at a position, or use the arrow keys");
  const held = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (byId("held")));
  held.dataset.turn = String(placing.turn);
  const any = placing.places[0];
  const boxes = any?.covers.flatMap((name) => (view?.spots[name] ? [view.spots[name]] : [])) ?? [];
  if (!any || !boxes.length) return held.replaceChildren();
  held.setAttribute("viewBox", boundsOf(boxes).join(" "));
  held.replaceChildren(
    ...boxes.map(([x, y, width, height], i) => {
      const kind = any.covers[i] === any.marked ? "marked" : "";
      return makeSvg("rect", { class: kind, x: x + 2, y: y + 2, width: width - 4, height: height - 4, rx: 5 });
    }),
  );
}

/** Zoom to the whole table, to the user's area, or to the area of the current action. */
function look() {
  for (const one of byId("views").querySelectorAll("button")) {
    one.setAttribute("aria-pressed", String(one.dataset.look === looks));
  }
  if (view) stage.look(areaOf(view, looks, isNarrow()), belowArea(view, looks, isNarrow()));
}

/** @param {string} id  Zoom to an area. */
function choose(id) {
  looks = id;
  if (/^(all|own|follow)$/.test(id)) keep("look", id);
  look();
}

/** On narrow screens, move the buttons for the current tile to the bar at the bottom, next to Undo. */
function arrange() {
  const sheet = byId("placing");
  if (isNarrow()) byId("undo").before(sheet);
  else byId("picture").after(sheet);
  look();
}

/**
 * Open a menu with the actions at a spot.
 *
 * @param {Decision[]} decisions
 * @param {number} x  of the page
 * @param {number} y
 */
function openMenu(decisions, x, y) {
  const menu = byId("menu");
  menu.replaceChildren(...decisions.map((one) => button(one.words, () => decide(one), { class: "choice" })));
  menu.hidden = false;
  menu.style.left = `${Math.max(8, Math.min(x, innerWidth - menu.offsetWidth - 8))}px`;
  menu.style.top = `${Math.max(8, Math.min(y, innerHeight - menu.offsetHeight - 8))}px`;
  menu.querySelector("button")?.focus();
}

function closeMenu() {
  const focused = byId("menu").contains(document.activeElement);
  byId("menu").hidden = true;
  if (focused) byId("picture").focus({ preventScroll: true });
}

// keys, buttons and settings

/** @param {KeyboardEvent} event */
function pressed(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.matches("select, textarea, input:not([type=checkbox])") || event.altKey) return;
  if (document.querySelector("dialog[open]")) return;
  const key = keyOf(event);
  if (event.repeat && !(key in ARROWS)) return key === "Enter" && event.preventDefault(); // ignore keys that are held down
  if (event.ctrlKey || event.metaKey) {
    if (key === "z") undoLast();
    return;
  }
  if (event.key.length === 1 && !shortcuts.checked) return;
  if (event.key === "?") return help.open();
  if (key === "Escape") {
    closeMenu();
    help.hide();
    stage.cursor(null);
    cursor = null;
    if (question.open) return question.drop();
    if (picking.count) {
      picking.clear();
      return showPicking();
    }
    placing.drop();
    return showPlacing();
  }
  if (key === "Enter") {
    if (target.matches("button, a, summary")) return;
    if (question.open) question.yes();
    else if (picking.complete) confirmPicked();
    else if (placing.candidate) decide(placing.candidate);
    else if (cursor && target.matches("#picture") && view) useCursor(cursor);
    return;
  }
  if (placing.active && (key in ARROWS || key === "r" || key === "f")) {
    event.preventDefault();
    byId("picture").focus({ preventScroll: true });
    return steer(key === "r" ? "rotate" : key === "f" ? "flip" : ARROWS[key]);
  }
  if (key in ARROWS && target.matches("#picture")) {
    event.preventDefault();
    return browse(ARROWS[key]);
  }
  if (key === "u") return undoLast();
  const meant = choices.of(key);
  if (meant) decide(meant);
}

/** @param {string} spot  Take the action at a spot, offer several actions, or explain the spot. */
function useCursor(spot) {
  const found = stage.at(spot, picking.offered(view?.decisions ?? []));
  const at = stage.cursor(spot);
  if (!at) return;
  if (found.length === 1) decide(found[0]);
  else if (found.length) openMenu(found, at.x, at.y);
  else help.ask(spot, at.x, at.y);
}

/** @param {Direction | "rotate" | "flip"} how  Rotate, flip or move the current tile. */
function steer(how) {
  question.drop();
  if (how === "rotate") placing.rotate();
  else if (how === "flip") placing.flip();
  else placing.step(how);
  showPlacing();
  byId("said").textContent = placing.candidate?.words ?? placing.places[0]?.words ?? "";
}

/**
 * Elements that ignore the second click of a double click, because a different element may then be under the pointer.
 * Items of a selection are harmless: they send nothing.
 */
const ONCE = ".choice:not([aria-pressed]), .spot:not([data-pick]), #armed button, #here, #settle, #undo, #turn button, #log button, #player button, #handover button, #lesson button";

document.addEventListener("click", (event) => {
  const target = /** @type {Element} */ (event.target);
  const placed = !touching && placing.active && target.closest("#picture");
  const ignored = longTouch && event.detail > 0 && target.closest("#picture");
  longTouch = false;
  if (!ignored && (!isSecondClick(event) || !(placed || target.closest(ONCE)))) return;
  event.preventDefault();
  event.stopPropagation();
}, true);
document.addEventListener("keydown", pressed);
document.addEventListener("pointerdown", (event) => {
  touching = event.pointerType !== "mouse";
  if (!byId("menu").contains(/** @type {Node} */ (event.target))) closeMenu();
});
byId("undo").addEventListener("click", undoLast);
byId("settle").addEventListener("click", confirmPicked);
byId("rotate").addEventListener("click", () => steer("rotate"));
byId("flip").addEventListener("click", () => steer("flip"));
byId("here").addEventListener("click", () => placing.candidate && decide(placing.candidate));
for (const one of document.querySelectorAll("button[data-step]")) {
  one.addEventListener("click", () => steer(/** @type {Direction} */ (one.getAttribute("data-step"))));
}
for (const one of byId("views").querySelectorAll("button")) one.addEventListener("click", () => choose(one.dataset.look ?? "all"));
const narrow = globalThis.matchMedia?.("(max-width: 900px)");
narrow?.addEventListener("change", arrange);
arrange();
confirms.checked = recall("confirm", "yes") === "yes";
confirms.addEventListener("change", () => keep("confirm", confirms.checked ? "yes" : "no"));
shortcuts.checked = recall("shortcuts", "yes") === "yes";
shortcuts.addEventListener("change", () => keep("shortcuts", shortcuts.checked ? "yes" : "no"));
pace.value = recall("pace", "400");
pace.addEventListener("change", () => {
  keep("pace", pace.value);
  sendPace();
});
byId("picture").addEventListener("click", (event) => {
  if (/** @type {Element} */ (event.target).closest(".below")) choose("own");
});
// A long touch explains the spot instead of using it. Not all browsers send "contextmenu" for it.
byId("picture").addEventListener("pointerdown", (event) => {
  longTouch = false;
  if (event.pointerType !== "mouse") holding = setTimeout(() => hold(event), HOLD);
});
byId("picture").addEventListener("pointermove", (event) => {
  if (event.pointerType !== "mouse" && Math.hypot(event.movementX, event.movementY) > DRIFT) clearTimeout(holding);
});
for (const end of ["pointerup", "pointercancel"]) byId("picture").addEventListener(end, () => clearTimeout(holding));
byId("picture").addEventListener("contextmenu", (event) => {
  if (!touching || !view) return;
  event.preventDefault();
  hold(event);
});
offerLinks(name, complain);
byId("unkept").hidden = keeps;
byId("unkept").textContent = t(KEEPS_NOTHING);

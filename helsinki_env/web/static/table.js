/** A table: shows what the server says of it, and sends what is decided. */

import { Advice } from "./advice.js";
import { takeApart } from "./apart.js";
import { Choices } from "./choices.js";
import { Connection } from "./connection.js";
import { button, byId, make, makeSvg } from "./dom.js";
import { keep, recall } from "./kept.js";
import { Placing } from "./placing.js";
import { news, showLog, showSeats, showTurn } from "./side.js";
import { Stage } from "./stage.js";

/** @typedef {import("./protocol.js").Decision} Decision */
/** @typedef {import("./protocol.js").Taken} Taken */
/** @typedef {import("./protocol.js").View} View */
/** @typedef {import("./protocol.js").FromServer} FromServer */
/** @typedef {import("./placing.js").Direction} Direction */

const NARROW = matchMedia("(max-width: 900px)");
/** @type {Record<string, Direction>} */
const ARROWS = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };

/** @type {View | null} */
let view = null;
/**
 * What waits for a yes: the decision it is about, if any, what a yes does, and whether it stands when the table is another.
 *
 * @type {{about: Decision | null, yes: () => void, stands: (next: View) => boolean} | null}
 */
let armed = null;
/** The number of decisions for which one has been sent already. */
let sent = -1;
/** Whether the last pointer was no mouse: then a first touch shows and a second one decides. */
let touching = false;
/** When the player that thinks began, by this page's clock. */
let began = 0;
/** Whether the line was down: the table may have gone back and on since, to another position with the same number. */
let stale = false;
let looks = recall("look", NARROW.matches ? "follow" : "all");

const placing = new Placing();
const stage = new Stage(byId("picture"), {
  spot: (decisions, x, y) => (decisions.length === 1 ? decide(decisions[0]) : openMenu(decisions, x, y)),
  move: (x, y) => {
    if (!touching && !armed) aim(x, y);
  },
  press: (x, y) => {
    const before = placing.candidate;
    if (armed && !touching) disarm();
    aim(x, y);
    if (placing.candidate && (!touching || placing.candidate === before)) decide(placing.candidate);
  },
  leave: () => {
    if (touching || armed) return;
    placing.candidate = null;
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
const confirms = /** @type {HTMLInputElement} */ (byId("confirm"));
const pace = /** @type {HTMLSelectElement} */ (byId("pace"));
const connection = new Connection(
  decodeURIComponent(location.pathname.split("/").at(-1) ?? ""),
  (message) => heard(message),
  (there) => {
    byId("line").textContent = there ? "" : "No connection, trying again";
    sent = -1;
    advice.forget();
    stale = true;
    if (there) connection.send({ type: "pace", milliseconds: Number(pace.value) });
  },
);

// what comes in

/** @param {FromServer} message */
function heard(message) {
  if (message.type === "table") return show(message);
  if (message.type === "clock") return void (began = Date.now() - 1000 * message.seconds);
  if (message.type === "opinion" || message.type === "unjudged") return advice.heard(message);
  sent = -1;
  complain(message.message);
  if (message.type === "refused") headline("This table is closed to you");
}

/** @param {View} next */
function show(next) {
  const before = view;
  const focused = byId("act").contains(document.activeElement);
  const same =
    !stale && before?.number === next.number && before.viewer === next.viewer && before.decisions.length > 0;
  stale = false;
  view = same && next.decisions.length ? { ...next, decisions: before.decisions } : next;
  if (!same && !armed?.stands(next)) disarm();
  if (!same) closeMenu();
  complain("");
  if (next.number !== before?.number) sent = -1;
  const back = before !== null && next.number < before.number;
  byId("title").textContent = next.name || next.seats.map((chair) => chair.name).join(", ");
  byId("picture").hidden = next.curtain !== null;
  showCurtain(next);
  stage.show(next, back);
  if (!same || !next.decisions.length) {
    placing.take(next.decisions, next.spots);
    choices.show(next.decisions);
    stage.offer(next.decisions.filter((one) => one.turn === null), (one) => choices.keyOf(one));
  }
  look();
  showPlacing();
  showSeats(byId("seats"), next);
  showTurn(byId("turn"), next, undo);
  showLog(byId("log"), next, askTakeBack);
  byId("undo").hidden = next.undo === null;
  showPlayer(next);
  advice.show(next);
  headline(headlineOf(next));
  byId("note").hidden = !next.message;
  byId("note").textContent = next.message ?? "";
  if (focused && !byId("act").contains(document.activeElement)) byId("headline").focus({ preventScroll: true });
  const told = [news(next, before), next.decisions.length && !before?.decisions.length ? "It is your turn." : ""];
  byId("said").textContent = told.filter(Boolean).join(" ");
}

/** @param {View} now */
function headlineOf(now) {
  const name = now.seats[now.seat].name;
  if (now.done) {
    const winners = now.seats.filter((chair) => chair.place === 0).map((chair) => chair.name);
    return winners.length === 1 ? `The game is over: ${winners[0]} wins` : `${winners.join(" and ")} share the victory`;
  }
  if (now.curtain !== null) return `It is the turn of ${now.seats[now.curtain].name}`;
  if (now.decisions.length) return now.mine.length > 1 ? `${name}, your turn` : "Your turn";
  if (now.paused) return `${name} waits`;
  return now.thinking ? `${name} thinks` : `${name} decides`;
}

/** @param {string} text */
function headline(text) {
  byId("headline").textContent = text;
  document.title = view?.decisions.length ? `● ${text}` : text;
}

/** @param {View} now  Stop and go on, for players that think; at the end what can be done with the game. */
function showPlayer(now) {
  const row = byId("player");
  const kind = now.done ? "done" : now.paused ? "paused" : now.thinking ? "thinking" : "";
  began = Date.now() - 1000 * (now.thinking?.seconds ?? 0);
  row.hidden = !kind;
  // A button that is exchanged while somebody presses it hears nothing of that.
  if (row.dataset.kind === kind) return;
  row.dataset.kind = kind;
  if (!kind) return row.replaceChildren();
  if (now.done) return row.replaceChildren(takeApart(now.table, complain, "Take this game apart"));
  if (now.paused) {
    const apart = now.seats.some((chair) => chair.human) ? [] : [takeApart(now.table, complain, "Take apart so far")];
    return row.replaceChildren(button("Go on", () => connection.send({ type: "go" }), { class: "main" }), ...apart);
  }
  const clock = make("span", { class: "soft" });
  const tick = () => {
    clock.textContent = `${Math.floor((Date.now() - began) / 1000)} s`;
    if (clock.isConnected) setTimeout(tick, 1000);
  };
  row.replaceChildren(clock, button("Stop", () => connection.send({ type: "stop" }), { title: "Let this player wait" }));
  tick();
}

/** @param {View} now  What hides the cards until the next player has the device. */
function showCurtain(now) {
  const sheet = byId("curtain");
  const seat = now.curtain;
  const came = seat !== null && sheet.hidden;
  sheet.hidden = seat === null;
  if (seat === null) return sheet.replaceChildren();
  if (!came && sheet.dataset.seat === String(seat)) return;
  sheet.dataset.seat = String(seat);
  const name = now.seats[seat].name;
  const ready = button(`I am ${name}: show the table`, () => connection.send({ type: "look", seat }), { class: "main" });
  sheet.replaceChildren(make("h2", {}, `Hand the device to ${name}`), make("p", {}, "Nobody else should look."), ready);
  if (came) ready.focus();
}

// what is decided

/** @param {Decision} decision */
function decide(decision) {
  closeMenu();
  if (!view || sent === view.number) return;
  if (armed?.about === decision) return yes();
  disarm();
  const number = view.number;
  const send = () => {
    if (connection.send({ type: "decide", number, action: decision.id })) sent = number;
  };
  if (!confirms.checked || !(decision.ends || decision.reveals)) return send();
  const why = decision.reveals ? "Something hidden will be seen: it cannot be undone." : "It ends your turn.";
  arm(decision, `${decision.words}? ${why}`, send);
}

/**
 * Ask before something is done.
 *
 * @param {Decision | null} about
 * @param {string} words
 * @param {() => void} does
 * @param {(next: View) => boolean} [stands]  whether it may still be done when the table is another
 */
function arm(about, words, does, stands = () => false) {
  armed = { about, yes: does, stands };
  const box = byId("armed");
  const sure = button("Yes", () => yes(), { class: "main" });
  sure.append(" ", make("kbd", { "aria-hidden": "true" }, "Enter"));
  const no = button("No", () => disarm());
  no.append(" ", make("kbd", { "aria-hidden": "true" }, "Esc"));
  box.replaceChildren(make("p", {}, words), make("div", { class: "row" }, sure, no));
  box.hidden = false;
  sure.focus({ preventScroll: true });
  box.scrollIntoView({ block: "nearest" });
  point(about);
  showPlacing();
}

function yes() {
  const does = armed?.yes;
  disarm();
  does?.();
}

function disarm() {
  if (!armed) return;
  armed = null;
  const focused = byId("armed").contains(document.activeElement);
  byId("armed").hidden = true;
  byId("armed").replaceChildren();
  if (focused) byId(placing.active ? "picture" : "headline").focus({ preventScroll: true });
  point(null);
  showPlacing();
}

/** @param {number} to  the decision before which it goes back */
function undo(to) {
  disarm();
  if (view && view.undo !== null) connection.send({ type: "undo", number: view.number, to });
}

const undoLast = () => undo((view?.number ?? 0) - 1);

/** @param {Taken} taken */
function askTakeBack(taken) {
  if (!view) return;
  const words = `Play on from before ${view.seats[taken.seat].name} ${taken.words}? All that came after is forgotten.`;
  const does = () => view && connection.send({ type: "takeback", number: view.number, to: taken.number });
  const isThere = (/** @type {Taken} */ one) => one.number === taken.number && one.words === taken.words;
  // At the own turn it is asked anew: there Enter and clicks mean something else.
  arm(null, words, does, (next) => !next.decisions.length && next.log.some(isThere));
}

// the picture

/** @param {Decision | null} decision  Mark a decision in the picture and in the list. */
function point(decision) {
  const meant = decision ?? armed?.about ?? null;
  stage.point(meant);
  choices.mark(meant);
  if (meant?.turn != null) stage.haunt(placing.places, meant, armed?.about === meant);
  else showPlacing();
}

/**
 * Mean the place for the tile in hand that is nearest to a point, if that is on the own board.
 *
 * @param {number} x
 * @param {number} y
 */
function aim(x, y) {
  if (!placing.active || !view) return;
  const board = view.spots[`board ${view.seat}`];
  const within = board && x >= board[0] && x <= board[0] + board[2] && y >= board[1] && y <= board[1] + board[3];
  placing.near(x, y, within ? Infinity : -1);
  showPlacing();
}

function showPlacing() {
  byId("placing").hidden = !placing.active;
  const meant = armed?.about?.turn != null ? armed.about : placing.candidate;
  stage.haunt(placing.places, meant, armed !== null);
  /** @type {HTMLButtonElement} */ (byId("here")).disabled = meant === null;
  for (const id of ["rotate", "flip"]) {
    /** @type {HTMLButtonElement} */ (byId(id)).disabled = placing.orientations < 2;
  }
  byId("meant").textContent = meant?.words ?? "Point at a place, or use the arrows";
  const held = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (byId("held")));
  held.dataset.turn = String(placing.turn);
  const any = placing.places[0];
  const boxes = any?.covers.flatMap((name) => (view?.spots[name] ? [view.spots[name]] : [])) ?? [];
  if (!any || !boxes.length) return held.replaceChildren();
  const [left, top] = [0, 1].map((axis) => Math.min(...boxes.map((box) => box[axis])));
  const [right, bottom] = [0, 1].map((axis) => Math.max(...boxes.map((box) => box[axis] + box[axis + 2])));
  held.setAttribute("viewBox", `${left} ${top} ${right - left} ${bottom - top}`);
  held.replaceChildren(
    ...boxes.map(([x, y, width, height], i) => {
      const kind = any.covers[i] === any.marked ? "marked" : "";
      return makeSvg("rect", { class: kind, x: x + 2, y: y + 2, width: width - 4, height: height - 4, rx: 5 });
    }),
  );
}

/** Look at what is to be seen: all of the table, the own area, or what is decided about. */
function look() {
  for (const one of byId("views").querySelectorAll("button")) {
    one.setAttribute("aria-pressed", String(one.dataset.look === looks));
  }
  if (!view) return;
  const own = view.spots[`seat ${view.viewer ?? view.mine[0] ?? view.seat}`];
  const onBoard = view.decisions.some((one) => one.at.some((name) => name.startsWith("cell ")));
  stage.look(looks === "own" || (looks === "follow" && onBoard) ? own ?? null : null);
}

/**
 * Let somebody choose among the decisions that a spot can mean.
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
  byId("menu").hidden = true;
}

/** @param {string} text  What is wrong; empty: nothing any more. */
function complain(text) {
  byId("error").hidden = !text;
  byId("error").textContent = text;
}

// keys, buttons and settings

/** @param {KeyboardEvent} event */
function pressed(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.matches("select, textarea, input:not([type=checkbox])") || event.altKey) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key === "Enter" && event.repeat) return event.preventDefault(); // a key held down answers no question
  if (event.ctrlKey || event.metaKey) {
    if (key === "z") undoLast();
    return;
  }
  if (key === "Escape") {
    closeMenu();
    if (armed) return disarm();
    placing.candidate = null;
    return showPlacing();
  }
  if (key === "Enter") {
    if (target.matches("button, a, summary")) return;
    if (armed) yes();
    else if (placing.candidate) decide(placing.candidate);
    return;
  }
  if (placing.active && (key in ARROWS || key === "r" || key === "f")) {
    event.preventDefault();
    byId("picture").focus({ preventScroll: true });
    return steer(key === "r" ? "rotate" : key === "f" ? "flip" : ARROWS[key]);
  }
  if (key === "u") return undoLast();
  const meant = choices.of(key);
  if (meant) decide(meant);
}

/** @param {Direction | "rotate" | "flip"} how  Turn or move the tile in hand. */
function steer(how) {
  disarm();
  if (how === "rotate") placing.rotate();
  else if (how === "flip") placing.flip();
  else placing.step(how);
  showPlacing();
  byId("said").textContent = placing.candidate?.words ?? placing.places[0]?.words ?? "";
}

document.addEventListener("keydown", pressed);
document.addEventListener("pointerdown", (event) => {
  touching = event.pointerType !== "mouse";
  if (!byId("menu").contains(/** @type {Node} */ (event.target))) closeMenu();
});
byId("undo").addEventListener("click", undoLast);
byId("rotate").addEventListener("click", () => steer("rotate"));
byId("flip").addEventListener("click", () => steer("flip"));
byId("here").addEventListener("click", () => placing.candidate && decide(placing.candidate));
for (const one of document.querySelectorAll("button[data-step]")) {
  one.addEventListener("click", () => steer(/** @type {Direction} */ (one.getAttribute("data-step"))));
}
for (const one of byId("views").querySelectorAll("button")) {
  one.addEventListener("click", () => {
    looks = one.dataset.look ?? "all";
    keep("look", looks);
    look();
  });
}
confirms.checked = recall("confirm", "yes") === "yes";
confirms.addEventListener("change", () => keep("confirm", confirms.checked ? "yes" : "no"));
pace.value = recall("pace", "400");
pace.addEventListener("change", () => {
  keep("pace", pace.value);
  connection.send({ type: "pace", milliseconds: Number(pace.value) });
});

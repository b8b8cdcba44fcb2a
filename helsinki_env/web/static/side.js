/** What stands beside the picture: who plays, what was decided in this turn, and the log. */

import { button, make, showItems } from "./dom.js";

/** @typedef {import("./protocol.js").View} View */
/** @typedef {import("./protocol.js").Taken} Taken */

const PLACES = ["1st", "2nd", "3rd", "4th"];

/**
 * Show the seats with their points, and their places once the game is over.
 *
 * @param {HTMLElement} list
 * @param {View} view
 */
export function showSeats(list, view) {
  list.replaceChildren(
    ...view.seats.map((chair, seat) => {
      const who = [
        make("span", { class: `token seat-${seat}`, "aria-hidden": "true" }, String(seat)),
        make("span", { class: "name" }, chair.name),
      ];
      if (chair.name !== chair.player && !chair.human) who.push(make("span", { class: "soft" }, chair.player));
      if (view.mine.includes(seat) && view.mine.length === 1) who.push(make("span", { class: "pill" }, "you"));
      if (chair.to_move) who.push(make("span", { class: "pill gold" }, "to move"));
      if (view.done) who.push(make("span", { class: "pill gold" }, PLACES[chair.place]));
      const points = make("span", { class: "points" }, make("b", {}, String(chair.score)), chair.score === 1 ? " point" : " points");
      return make("li", { class: chair.to_move ? "active" : null }, ...who, points);
    }),
  );
}

/**
 * Show what was decided in this turn; what can be undone is a button that goes back to before it.
 *
 * @param {HTMLElement} list
 * @param {View} view
 * @param {(to: number) => void} undo
 */
export function showTurn(list, view, undo) {
  const items = view.turn.map((one) => {
    const free = view.undo !== null && one.number >= view.undo;
    const item = () => {
      const inside = free
        ? button(one.words, () => undo(one.number), { title: `Go back to before "${one.words}"` })
        : make("span", { title: "Something hidden has been seen since: this stands" }, one.words);
      return make("li", { class: free ? "free" : null }, inside);
    };
    return { key: JSON.stringify([one, free]), item };
  });
  showItems(list, items);
  list.hidden = view.turn.length === 0;
}

/**
 * Show the log, the latest turn first.
 *
 * @param {HTMLElement} list
 * @param {View} view
 * @param {(taken: Taken) => void} takeBack
 */
export function showLog(list, view, takeBack) {
  /** @type {Taken[][]} */
  const turns = [];
  for (const one of view.log) {
    const last = turns.at(-1);
    if (last && last[0].turn === one.turn) last.push(one);
    else turns.push([one]);
  }
  const own = new Set(view.takeback);
  const items = turns.reverse().map((turn) => {
    const chair = view.seats[turn[0].seat];
    const first = turn.find((one) => own.has(one.number));
    const item = () => {
      const entry = make(
        "li",
        {},
        make("span", { class: `token seat-${turn[0].seat}`, "aria-hidden": "true" }, String(turn[0].seat)),
        make("span", {}, make("b", {}, chair.name), " ", turn.map((one) => one.words).join("; "), "."),
      );
      if (first) {
        const name = `Take back: play on from before ${chair.name} ${first.words}`;
        entry.append(button("Take back", () => takeBack(first), { class: "small", "aria-label": name }));
      }
      return entry;
    };
    return { key: JSON.stringify([turn, first?.number]), item };
  });
  showItems(list, items);
}

/**
 * Return in words what others have done since a view, for those who cannot see the picture.
 *
 * @param {View} view
 * @param {View | null} before
 */
export function news(view, before) {
  if (!before || view.number < before.number) return "";
  return view.log
    .filter((one) => one.number >= before.number)
    .map((one) => `${view.seats[one.seat].name} ${one.words}.`)
    .join(" ");
}

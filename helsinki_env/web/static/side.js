/** The side panel: the players, the actions of this turn, and the log. */

import { button, make, showItems } from "./dom.js";
import { doing, t } from "./language.js";

/** @typedef {import("./protocol.js").View} View */
/** @typedef {import("./protocol.js").Taken} Taken */

const RANKS = [t("1st"), t("2nd"), t("3rd"), t("4th")];

/**
 * Show the seats with their points, and their ranks once the game is over.
 *
 * @param {HTMLElement} list
 * @param {View} view
 * @param {View | null} before  the view at the beginning of the latest turn; points won since are marked
 */
export function showSeats(list, view, before) {
  list.replaceChildren(
    ...view.seats.map((chair, seat) => {
      const who = [
        make("span", { class: `token seat-${seat}`, "aria-hidden": "true" }, String(seat + 1)),
        make("span", { class: "name", title: chair.human ? null : chair.player }, t(chair.name)),
      ];
      if (view.mine.includes(seat) && view.mine.length === 1) who.push(make("span", { class: "pill" }, t("you")));
      if (chair.to_move) who.push(make("span", { class: "pill gold" }, t("to move")));
      if (view.done) who.push(make("span", { class: "pill gold" }, RANKS[chair.place]));
      const won = before && before.number < view.number ? chair.score - before.seats[seat].score : 0;
      if (won) who.push(make("span", { class: "pill won" }, won > 0 ? `+${won}` : String(won)));
      const points = make("span", { class: "points" }, make("b", {}, String(chair.score)), " ", chair.score === 1 ? t("point") : t("points"));
      return make("li", { class: chair.to_move ? "active" : null }, ...who, points);
    }),
  );
}

/**
 * Show the actions of this turn. Actions that can be undone have a button for undoing them.
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
        ? button(one.words, () => undo(one.number), { title: t(`Undo back to before "${one.words}"`) })
        : make("span", { title: t("Hidden cards were revealed since, so this cannot be undone") }, one.words);
      return make("li", { class: free ? "free" : null }, inside);
    };
    return { key: JSON.stringify([one, free]), item };
  });
  showItems(list, items);
  list.hidden = view.turn.length === 0;
}

/**
 * Show the log, with the latest turn first.
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
      const name = t(chair.name);
      const entry = make(
        "li",
        {},
        make("span", { class: `token seat-${turn[0].seat}`, "aria-hidden": "true" }, String(turn[0].seat + 1)),
        make("span", {}, make("b", {}, name), doing(name, turn.map((one) => one.words).join("; ")).slice(name.length), "."),
      );
      if (first) {
        const label = t(`Take back: return to before ${doing(chair.name, first.words)}`);
        entry.append(button(t("Take back"), () => takeBack(first), { class: "small", "aria-label": label }));
      }
      return entry;
    };
    return { key: JSON.stringify([turn, first?.number]), item };
  });
  showItems(list, items);
}

/**
 * Describe the other players' actions since a view, for screen readers.
 *
 * @param {View} view
 * @param {View | null} before
 */
export function news(view, before) {
  if (!before || view.number < before.number) return "";
  return view.log
    .filter((one) => one.number >= before.number)
    .map((one) => `${doing(t(view.seats[one.seat].name), one.words)}.`)
    .join(" ");
}

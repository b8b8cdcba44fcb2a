/** The score sheet: the points of every seat by category. */

import { make } from "./dom.js";
import { t } from "./language.js";

/** @typedef {import("./protocol.js").View} View */

/**
 * Fill the score sheet, with a row for each category and a column for each seat.
 *
 * @param {HTMLElement} table
 * @param {View} view
 */
export function showSheet(table, view) {
  /** @type {Map<string, string>} */
  const labels = new Map();
  for (const chair of view.seats) for (const line of chair.sheet) labels.set(line.label, line.note);
  const heads = view.seats.map((chair, seat) =>
    make("th", { scope: "col", title: t(chair.name) }, make("span", { class: `token seat-${seat}` }, String(seat + 1)), make("span", { class: "unseen" }, t(chair.name))),
  );
  const rows = [...labels].map(([label, note], i) => {
    const cells = view.seats.map((chair) => {
      const line = chair.sheet.find((one) => one.label === label);
      if (!line) return make("td", {}, "–");
      return make("td", { class: line.points ? "strong" : "soft" }, line.scores ? String(line.points) : `(${line.count})`);
    });
    const head = make("th", { scope: "row" }, label, " ", make("span", { class: "soft" }, note));
    const row = make("tr", { class: view.done ? "counted" : null }, head, ...cells);
    row.style.setProperty("--turn", String(i));
    return row;
  });
  const total = make(
    "tr",
    { class: view.done ? "total counted" : "total" },
    make("th", { scope: "row" }, t("Total")),
    ...view.seats.map((chair) => make("td", { class: "strong" }, String(chair.score))),
  );
  total.style.setProperty("--turn", String(labels.size));
  table.replaceChildren(make("thead", {}, make("tr", {}, make("td", {}), ...heads)), make("tbody", {}, ...rows, total));
}

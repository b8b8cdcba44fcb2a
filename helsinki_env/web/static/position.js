/** A position that is taken apart: its picture, and what a judge thinks of the decisions there. */

import { make } from "./dom.js";

/** @typedef {import("./protocol.js").Advice} Advice */
/** @typedef {import("./protocol.js").Position} Position */

/** @param {number | null} share */
const percent = (share) => (share === null ? "–" : `${Math.round(100 * share)} %`);

export class PositionView {
  #seats = make("ol", { class: "seats" });
  #advice = make("div", { class: "advice" });

  /**
   * @param {HTMLElement} root
   * @param {Position} position
   */
  constructor(root, position) {
    this.position = position;
    const read = new DOMParser().parseFromString(position.svg, "image/svg+xml").documentElement;
    for (const name of ["width", "height"]) read.removeAttribute(name);
    for (const part of read.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
    const picture = make("div", { class: "picture" }, document.importNode(read, true));
    const players = make("section", { class: "sheet", "aria-label": "Seats" }, this.#seats);
    const thought = make("section", { class: "sheet", "aria-label": "Decisions" }, this.#advice);
    root.replaceChildren(make("div", { class: "desk" }, picture, make("aside", { class: "side" }, players, thought)));
    this.judge(null);
  }

  /** @param {Advice | null} advice */
  judge(advice) {
    const { scores, seat, done } = this.position;
    const items = scores.map((points, i) => {
      const words = `Seat ${i}${!done && i === seat ? ", to move" : ""}`;
      const share = advice ? [make("b", {}, percent(advice.shares[i]))] : [];
      const token = make("span", { class: `token seat-${i}`, "aria-hidden": "true" }, String(i));
      return make("li", {}, token, make("span", { class: "name" }, words), ...share, make("span", { class: "points" }, `${points} points`));
    });
    this.#seats.replaceChildren(...items);
    this.#advice.replaceChildren(...(advice ? choices(advice) : [make("p", { class: "soft" }, done ? "The game is over." : "Not judged yet.")]));
  }
}

/** @param {Advice} advice */
function choices({ choices }) {
  const rows = choices.map(({ words, probability, share }) => {
    const bar = make("meter", { min: "0", max: "1", value: String(probability), "aria-label": "How likely it is taken" });
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, words),
      make("td", {}, bar, ` ${percent(probability)}`),
      make("td", {}, make("b", {}, percent(share))),
    );
  });
  const titles = ["Decision", "Likely", "Wins"].map((title) => make("th", { scope: "col" }, title));
  return [make("table", {}, make("thead", {}, make("tr", {}, ...titles)), make("tbody", {}, ...rows))];
}

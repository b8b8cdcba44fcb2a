/** An analyzed position, with its picture and an evaluation of its actions. */

import { make } from "./dom.js";
import { percent, t } from "./language.js";

/** @typedef {Pick<import("./protocol.js").PositionEvaluation, "shares" | "choices">} Thought */
/** @typedef {import("./protocol.js").Position} Position */

export class PositionView {
  #seats = make("ol", { class: "seats" });
  #advice = make("div", { class: "act" });

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
    const players = make("section", { class: "sheet", "aria-label": t("Seats") }, this.#seats);
    const thought = make("section", { class: "sheet", "aria-label": t("Actions") }, this.#advice);
    root.replaceChildren(make("div", { class: "desk" }, picture, make("aside", { class: "side" }, players, thought)));
    this.showEvaluation(null);
  }

  /** @param {Thought | null} advice */
  showEvaluation(advice) {
    const { scores, seat, done } = this.position;
    const items = scores.map((points, i) => {
      const token = make("span", { class: `token seat-${i}`, "aria-hidden": "true" }, String(i + 1));
      const item = make("li", {}, token, make("span", { class: "name" }, t(`Player ${i + 1}`)));
      if (!done && i === seat) item.append(make("span", { class: "pill gold" }, t("to move")));
      if (advice) item.append(make("b", {}, percent(advice.shares[i])));
      item.append(make("span", { class: "points" }, points === 1 ? t("1 point") : t(`${points} points`)));
      return item;
    });
    this.#seats.replaceChildren(...items);
    this.#advice.replaceChildren(...(advice ? choices(advice) : [make("p", { class: "soft" }, done ? t("The game is over.") : t("Not evaluated yet."))]));
  }
}

/** @param {Thought} advice */
function choices({ choices }) {
  const items = choices.map(({ words, probability, share }) => {
    const bar = make("meter", { min: "0", max: "1", value: String(probability), "aria-label": t("Probability of the action") });
    const wins = make("b", {}, share === null ? "" : t(`wins ${percent(share)}`));
    return make("li", {}, make("span", { class: "decision" }, t(words)), wins, bar, make("span", {}, percent(probability)));
  });
  const says = t("Bars: probability that the network takes the action. Wins: win probability after it, based on what the seat to move sees.");
  return [make("ol", { class: "choices-evaluated" }, ...items), make("p", { class: "soft" }, says)];
}

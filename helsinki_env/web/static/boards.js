/** The editor of a board of one's own: costs and strengths of the board actions. */

import { Refused, ask } from "./access.js";
import { button, make } from "./dom.js";

/** @typedef {{name: string, cost: number, strength: number | null}} Field */

export class BoardEditor {
  /** The game and the name of the board that the next table uses; empty: the published one. */
  #used = { game: "", components: "" };
  #game = "";

  /** @param {HTMLElement} holder */
  constructor(holder) {
    this.holder = holder;
  }

  /** Return the options for a new table of the shown game. */
  get options() {
    return this.#used.game === this.#game && this.#used.components ? { components: this.#used.components } : {};
  }

  /** @param {string} game  Show the editor of a game, if it has board actions. */
  async show(game) {
    this.#game = game;
    /** @type {Field[]} */
    const fields = await ask("GET", `/api/games/${game}/board`);
    if (game !== this.#game) return;
    this.holder.hidden = !fields.length;
    const said = make("p", { class: "soft", role: "status" });
    const inputs = fields.flatMap(({ name, cost, strength }) => [
      this.#input(name, "cost", cost),
      ...(strength === null ? [] : [this.#input(name, "strength", strength)]),
    ]);
    const rows = fields.map(({ name }) => {
      const own = inputs.filter((one) => one.dataset.action === name);
      return make("div", { class: "board-row" }, make("span", {}, name.replaceAll("_", " ")), ...own, make("span", { class: "wrong", id: `wrong-${name}`, role: "alert" }));
    });
    const use = button("Use this board", () => this.#use(inputs, said));
    const reset = button("Published board", () => {
      for (const one of inputs) one.value = one.defaultValue;
      this.#used = { game: "", components: "" };
      this.#mark("", "");
      said.textContent = "The next table has the published board.";
    });
    const heads = make("p", { class: "soft" }, "Cost in coats of arms, and strength, of each board action. Cover actions with the option above.");
    this.holder.replaceChildren(make("summary", {}, "A board of your own"), heads, ...rows, make("div", { class: "row" }, use, reset), said);
  }

  /**
   * @param {string} action
   * @param {"cost" | "strength"} kind
   * @param {number} value
   */
  #input(action, kind, value) {
    const words = `${kind === "cost" ? "Cost" : "Strength"} of ${action.replaceAll("_", " ")}`;
    return make("input", { type: "number", "data-action": action, "data-kind": kind, value: String(value), "aria-label": words, "aria-describedby": `wrong-${action}`, placeholder: kind });
  }

  /**
   * Show a message at a field; an empty one removes all messages.
   *
   * @param {string} key  such as actions.two_points.cost
   * @param {string} text
   */
  #mark(key, text) {
    const [, action, kind] = key.split(".");
    for (const one of this.holder.querySelectorAll(".wrong")) one.textContent = one.id === `wrong-${action}` ? text : "";
    for (const one of /** @type {NodeListOf<HTMLInputElement>} */ (this.holder.querySelectorAll("input"))) {
      const wrong = one.dataset.action === action && one.dataset.kind === kind;
      if (wrong) one.setAttribute("aria-invalid", "true");
      else one.removeAttribute("aria-invalid");
      if (wrong) one.focus();
    }
  }

  /**
   * @param {HTMLInputElement[]} inputs
   * @param {HTMLElement} said
   */
  async #use(inputs, said) {
    /** @type {Record<string, Record<string, number>>} */
    const actions = {};
    for (const one of inputs) (actions[one.dataset.action ?? ""] ??= {})[one.dataset.kind ?? ""] = Number(one.value);
    try {
      const { components } = await ask("POST", "/api/boards", { game: this.#game, actions });
      this.#used = { game: this.#game, components };
      this.#mark("", "");
      said.textContent = "The next table has this board. Click Start to play it.";
    } catch (problem) {
      const text = problem instanceof Error ? problem.message : String(problem);
      const [key, ...rest] = text.split(": ");
      const known = problem instanceof Refused && key.startsWith("actions.");
      this.#mark(known ? key : "", known ? rest.join(": ") : "");
      said.textContent = known ? "" : text;
    }
  }
}

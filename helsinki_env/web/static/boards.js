/** The editor for a custom board: the values of a component file, and the abilities in play. */

import { Refused, ask } from "./access.js";
import { button, fill, make, once } from "./dom.js";
import { t, verbatim } from "./language.js";

/**
 * @typedef {{key: string, value: number}} Field
 * @typedef {{title: string, heads: string[], rows: {label: string, fields: (Field | null)[]}[]}} Group
 * @typedef {{components: string, values: Record<string, number>}} Saved  with the changed values
 */

/** @param {string} name */
const words = (name) => name.replaceAll("_", " ");

export class BoardEditor {
  /** The game and the options for the next table; no options select the published board. */
  #used = /** @type {{game: string, options: {components?: string, denied?: string[]}}} */ ({ game: "", options: {} });
  #game = "";
  /** @type {HTMLInputElement[]} */
  #inputs = [];
  #said = make("p", { class: "soft", role: "status" });
  #list = make("ul", { class: "tables" });
  #saved = make("fieldset", { class: "board-group" }, make("legend", {}, t("Saved boards")), this.#list);

  /** @param {HTMLElement} holder */
  constructor(holder) {
    this.holder = holder;
  }

  /** Return the options for a new table of the displayed game. */
  get options() {
    return this.#used.game === this.#game ? this.#used.options : {};
  }

  /** @param {string} game  Show the editor for a game. */
  async show(game) {
    this.#game = game;
    /** @type {{groups: Group[], abilities: string[], saved: Saved[]}} */
    const { groups, abilities, saved } = await ask("GET", `/api/games/${game}/board`);
    if (game !== this.#game) return;
    this.#inputs = [];
    this.#said.textContent = "";
    const shown = groups.map((group) => this.#group(group));
    if (abilities.length) shown.push(this.#abilities(abilities));
    const row = make("div", { class: "row" }, button(t("Use this board"), () => this.#use()), button(t("Published board"), () => this.#reset()));
    this.holder.hidden = !groups.length;
    this.holder.replaceChildren(make("summary", {}, t("A board of your own")), ...shown, row, this.#said, this.#saved);
    this.#showSaved(saved);
  }

  /** @param {Saved[]} saved  Show the saved boards, described by their changed values. */
  #showSaved(saved) {
    this.#saved.hidden = !saved.length;
    fill(this.#list, saved.map((board) => () => this.#item(board)));
  }

  /** @param {Saved} board */
  #item({ components, values }) {
    const changed = this.#inputs.filter((one) => one.dataset.key && one.dataset.key in values);
    const about = changed.map((one) => `${one.getAttribute("aria-label")}: ${values[one.dataset.key ?? ""]}`).join("; ") || t("Published board");
    const show = () => {
      this.#reset();
      for (const one of changed) one.value = String(values[one.dataset.key ?? ""]);
      this.#said.textContent = t('Click "Use this board" to play with these numbers.');
    };
    const forget = async () => {
      if (!confirm(t(`Delete the board "${verbatim(about)}" and its exercises?`))) return;
      try {
        await ask("DELETE", `/api/boards/${components}`);
        if (this.#used.options.components === components) this.#reset();
        await this.#refresh();
        this.#said.textContent = t("The board is deleted.");
      } catch (problem) {
        this.#said.textContent = t(problem instanceof Error ? problem.message : String(problem));
      }
    };
    const buttons = [
      button(t("Show"), show, { "aria-label": t(`Show the board ${verbatim(about)}`) }),
      button(t("Delete"), once(forget), { "aria-label": t(`Delete the board ${verbatim(about)}`) }),
    ];
    return make("li", {}, make("div", {}, about), make("div", { class: "row" }, ...buttons));
  }

  async #refresh() {
    const game = this.#game;
    const { saved } = await ask("GET", `/api/games/${game}/board`);
    if (game === this.#game) this.#showSaved(saved);
  }

  /** @param {Group} group */
  #group({ title, heads, rows }) {
    const kind = heads.length > 2 ? "board-row wide" : "board-row";
    const head = heads.length > 1 ? [make("div", { class: `${kind} soft`, "aria-hidden": "true" }, make("span"), ...heads.map((text) => make("span", {}, t(text))))] : [];
    const lines = rows.map(({ label, fields }) => {
      const inputs = fields.map((field, i) => (field ? this.#input(field, [label, heads[i]].filter(Boolean).map(t).join(", ")) : make("span")));
      const wrong = fields.map((field) => make("span", { class: "wrong", id: `wrong-${field?.key}`, role: "alert" }));
      return make("div", { class: kind }, make("span", {}, t(label)), ...inputs, ...wrong);
    });
    const section = make("fieldset", { class: "board-group" }, make("legend", {}, t(title)), ...head, ...lines);
    section.style.setProperty("--columns", String(heads.length));
    return section;
  }

  /**
   * @param {Field} field
   * @param {string} label
   */
  #input({ key, value }, label) {
    const input = make("input", { type: "number", "data-key": key, value: String(value), "aria-label": label, "aria-describedby": `wrong-${key}` });
    input.addEventListener("input", () => (this.#said.textContent = t('Click "Use this board" to play with these numbers.')));
    this.#inputs.push(input);
    return input;
  }

  /** @param {string[]} names */
  #abilities(names) {
    const boxes = names.map((name) => make("label", {}, make("input", { type: "checkbox", value: name, checked: true }), ` ${t(words(name))}`));
    return make("fieldset", { class: "board-group" }, make("legend", {}, t("Abilities in play")), make("div", { class: "several" }, ...boxes));
  }

  #boxes() {
    return /** @type {HTMLInputElement[]} */ ([...this.holder.querySelectorAll("input[type=checkbox]")]);
  }

  #reset() {
    for (const one of this.#inputs) one.value = one.defaultValue;
    for (const one of this.#boxes()) one.checked = true;
    this.#used = { game: "", options: {} };
    this.#mark("", "");
    this.#said.textContent = t("The next table has the published board.");
  }

  /**
   * Show a message next to a field; an empty message removes all messages.
   *
   * @param {string} key  such as actions.two_points.cost
   * @param {string} text
   * @returns {boolean} whether there is such a field
   */
  #mark(key, text) {
    for (const one of this.holder.querySelectorAll(".wrong")) one.textContent = one.id === `wrong-${key}` ? text : "";
    for (const one of this.#inputs) {
      const wrong = one.dataset.key === key;
      if (wrong) one.setAttribute("aria-invalid", "true");
      else one.removeAttribute("aria-invalid");
      if (wrong) one.focus();
    }
    return this.#inputs.some((one) => one.dataset.key === key);
  }

  async #use() {
    const values = Object.fromEntries(this.#inputs.map((one) => [one.dataset.key, one.value === "" ? null : Number(one.value)]));
    try {
      const { components } = await ask("POST", "/api/boards", { game: this.#game, values });
      const denied = this.#boxes().filter((one) => !one.checked).map((one) => one.value);
      this.#used = { game: this.#game, options: { components, ...(denied.length && { denied }) } };
      this.#mark("", "");
      this.#said.textContent = t("The next table has this board. Click Start to play it.");
      await this.#refresh();
    } catch (problem) {
      const text = problem instanceof Error ? problem.message : String(problem);
      const [key, ...rest] = text.split(": ");
      const known = this.#mark(problem instanceof Refused ? key : "", t(rest.join(": ")));
      this.#said.textContent = known ? "" : t(text);
    }
  }
}

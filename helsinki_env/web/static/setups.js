/** Form fields for the options of a game. */

import { make } from "./dom.js";
import { t } from "./language.js";

/** @typedef {import("./protocol.js").Game["options"][number]} Option */

/**
 * Return the form fields for a game's options.
 *
 * @param {Option[]} options
 */
export function fieldsOf(options) {
  const kinds = { flag, several, one };
  return options.map((option) => kinds[option.type](option));
}

/** @param {Option} option */
function flag(option) {
  const box = make("input", { type: "checkbox", name: `option ${option.name}` });
  return make("label", { title: t(option.says) }, box, ` ${t(option.label)} `, make("span", { class: "soft" }, t(option.says)));
}

/** @param {Option} option */
function several(option) {
  const boxes = option.choices.map((choice) => {
    const box = make("input", { type: "checkbox", name: `option ${option.name}`, value: choice });
    return make("label", {}, box, ` ${t(choice.replaceAll("_", " "))}`);
  });
  const inside = make("div", { class: "several" }, ...boxes);
  return make("details", {}, make("summary", {}, `${t(option.label)}: ${t(option.says)}`), inside);
}

/** @param {Option} option */
function one(option) {
  const choices = option.choices.map((choice) => make("option", { value: choice }, t(choice.replaceAll("_", " "))));
  return make("label", { title: t(option.says) }, `${t(option.label)} `, make("select", { name: `option ${option.name}` }, ...choices));
}

/**
 * Return the chosen options in the server's format.
 *
 * @param {Option[]} options
 * @param {FormData} data  of the form with the fields
 */
export function chosenOf(options, data) {
  /** @type {Record<string, boolean | string | string[]>} */
  const chosen = {};
  for (const option of options) {
    const found = data.getAll(`option ${option.name}`).map(String);
    if (option.type === "one" && found[0] !== option.choices[0]) chosen[option.name] = found[0];
    else if (option.type !== "one" && found.length) chosen[option.name] = option.type === "several" ? found : true;
  }
  return chosen;
}

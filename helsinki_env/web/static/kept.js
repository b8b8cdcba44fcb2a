/** Settings stored in this browser. If site data are blocked, they are lost when the page closes. */

/** @type {Map<string, string>} Settings that the browser does not store. */
const memory = new Map();

/** Whether this browser stores settings. */
export const keeps = probe();

/** The notice shown if the browser stores no settings. */
export const KEEPS_NOTHING =
  "Site data are blocked, so this browser stores nothing: settings, names and links are lost when you leave this page.";

/** @returns {boolean} */
function probe() {
  try {
    localStorage.setItem("table.probe", "yes");
    localStorage.removeItem("table.probe");
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {string} name
 * @param {string} fallback
 */
export function recall(name, fallback) {
  try {
    return memory.get(name) ?? localStorage.getItem(`table.${name}`) ?? fallback;
  } catch {
    return fallback;
  }
}

/** @param {string} game  Return whether this browser has shown its rules; "seen" was stored for all games in the past. */
export const knows = (game) => recall("rules", "").split(" ").some((one) => one === game || one === "seen");

/** @param {string} game  Store that this browser has shown its rules. */
export const learn = (game) => knows(game) || keep("rules", `${recall("rules", "")} ${game}`.trim());

/**
 * @param {string} name
 * @param {string} value  empty: delete it
 */
export function keep(name, value) {
  memory.set(name, value);
  try {
    if (value) localStorage.setItem(`table.${name}`, value);
    else localStorage.removeItem(`table.${name}`);
    memory.delete(name);
  } catch {
    // `memory` has it
  }
}

/** Settings stored in this browser. If site data are blocked, they last only until the page is closed. */

/** @type {Map<string, string>} Settings that the browser could not store. */
const memory = new Map();

/** Whether this browser stores settings. */
export const keeps = probe();

/** A notice for browsers that do not store settings. */
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

/**
 * @param {string} name
 * @param {string} value  an empty value deletes the setting
 */
export function keep(name, value) {
  memory.set(name, value);
  try {
    if (value) localStorage.setItem(`table.${name}`, value);
    else localStorage.removeItem(`table.${name}`);
    memory.delete(name);
  } catch {
    // it stays in `memory`
  }
}

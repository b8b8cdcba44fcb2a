/** What this browser remembers of how somebody plays. If site data are blocked, nothing outlives the page. */

/** @type {Map<string, string>} What is remembered where the browser keeps nothing. */
const memory = new Map();

/** Whether this browser keeps what it is given. */
export const keeps = probe();

/** The sentence for people whose browser keeps nothing. */
export const KEEPS_NOTHING =
  "This browser stores nothing for this page, because site data are blocked: settings, names and links are lost when you leave it.";

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
 * @param {string} usual
 */
export function recall(name, usual) {
  try {
    return memory.get(name) ?? localStorage.getItem(`table.${name}`) ?? usual;
  } catch {
    return usual;
  }
}

/**
 * @param {string} name
 * @param {string} value  empty: forget it
 */
export function keep(name, value) {
  memory.set(name, value);
  try {
    if (value) localStorage.setItem(`table.${name}`, value);
    else localStorage.removeItem(`table.${name}`);
    memory.delete(name);
  } catch {
    // the memory of this page has it
  }
}

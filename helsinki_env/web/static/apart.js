/** A button that opens the game of a table for analysis. */

import { ask } from "./access.js";
import { button, goTo, once } from "./dom.js";

/**
 * Create the button.
 *
 * @param {string} table
 * @param {(text: string) => void} complain
 * @param {string} text
 * @param {string} [label]  the accessible name
 */
export function analyzeButton(table, complain, text, label = text) {
  const open = async () => {
    const { record } = await ask("POST", "/api/records", { table });
    await goTo(`/analysis/${record}`);
  };
  return button(text, once(() => open().catch((problem) => complain(problem.message))), { "aria-label": label });
}

/** From a table to the page on which its game is taken apart. */

import { ask } from "./access.js";
import { button, goTo, once } from "./dom.js";

/**
 * Make the button that leads there.
 *
 * @param {string} table
 * @param {(text: string) => void} complain
 * @param {string} text
 * @param {string} [label]  the text for those who cannot see where the button stands
 */
export function takeApart(table, complain, text, label = text) {
  const leads = async () => {
    const { record } = await ask("POST", "/api/records", { table });
    await goTo(`/analysis/${record}`);
  };
  return button(text, once(() => leads().catch((problem) => complain(problem.message))), { "aria-label": label });
}

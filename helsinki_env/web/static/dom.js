/** Helpers for elements. Text is always inserted as text, never as HTML. */

import { pageOf } from "./access.js";
import { number, t } from "./language.js";

/**
 * Create an element.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | boolean | null>} [attributes]  true: present; false and null: left out.
 * @param {...(Node | string)} inside
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, attributes = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...inside);
  return element;
}

/**
 * Create an SVG element.
 *
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number>} [attributes]
 * @returns {SVGElementTagNameMap[K]}
 */
export function makeSvg(tag, attributes = {}) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/**
 * Create a button with a click handler.
 *
 * @param {string} text
 * @param {(event: Event) => void} does
 * @param {Record<string, string | boolean | null>} [attributes]
 */
export function button(text, does, attributes = {}) {
  const element = make("button", { type: "button", ...attributes }, text);
  element.addEventListener("click", does);
  return element;
}

/**
 * Return an event handler that ignores the second click of a double click, and events while it is still running.
 *
 * @param {() => Promise<unknown>} does  must handle its errors
 * @returns {(event: Event) => Promise<void>}
 */
export function once(does) {
  let going = false;
  return async (event) => {
    if (going || isSecondClick(event)) return;
    going = true;
    await does().finally(() => (going = false));
  };
}

/** @param {Event} event  Return whether it is the second click of a double click. */
export const isSecondClick = (event) => event instanceof MouseEvent && event.detail > 1;

/** Milliseconds after which the page accepts events again if the browser has not left it. */
const LEAVES_WITHIN = 3000;

/**
 * Return a number followed by a noun in the singular or plural.
 *
 * @param {number} count
 * @param {string} noun  in the singular
 */
export function counted(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * Navigate to another page. Until then, handlers created by `once` ignore events.
 *
 * @param {string} address
 * @returns {Promise<void>}
 */
export function goTo(address) {
  location.assign(pageOf(address));
  return new Promise((stayed) => setTimeout(stayed, LEAVES_WITHIN));
}

/**
 * Handle the submission of a form, ignoring the second click of a double click.
 *
 * @param {HTMLFormElement} form
 * @param {(event: Event) => unknown} does
 */
export function whenSent(form, does) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    does(event);
  });
  form.addEventListener("click", (event) => {
    const { target } = event;
    if (isSecondClick(event) && target instanceof HTMLButtonElement && target.type === "submit") event.preventDefault();
  });
  // A browser cannot focus an invalid field in closed details, and would then not say why nothing is sent.
  const open = (/** @type {Event} */ { target }) => target instanceof Element && target.closest("details")?.setAttribute("open", "");
  form.addEventListener("invalid", open, true);
}

/**
 * Show items in a list. Existing items are not replaced, because a replaced element would miss a click in progress.
 *
 * @param {HTMLElement} list
 * @param {{key: string, item: () => HTMLElement}[]} items  in order, with unique keys
 */
export function showItems(list, items) {
  const wanted = new Set(items.map((one) => one.key));
  const there = new Map();
  for (const item of /** @type {HTMLElement[]} */ (Array.from(list.children))) {
    if (wanted.has(item.dataset.key ?? "")) there.set(item.dataset.key, item);
    else item.remove();
  }
  let next = list.firstElementChild;
  for (const { key, item } of items) {
    const shown = there.get(key) ?? item();
    shown.dataset.key = key;
    if (shown === next) next = shown.nextElementSibling;
    else list.insertBefore(shown, next);
  }
}

/**
 * Replace the items of a list. If an item had the focus, such as its "Delete" button, the item in its place gets it.
 *
 * @param {HTMLElement} list
 * @param {HTMLElement[]} items
 */
function replaceItems(list, items) {
  const at = [...list.children].findIndex((item) => item.contains(document.activeElement));
  list.replaceChildren(...items);
  if (at >= 0) [...(items[Math.min(at, items.length - 1)]?.querySelectorAll("button") ?? [])].at(-1)?.focus();
}

/** Number of items of a long list that are shown initially and added by each click. */
const SHOWN = 25;

/**
 * Fill a list. A long list ends with a button that shows more items.
 *
 * @param {HTMLElement} list  stores the number of items shown
 * @param {(() => HTMLElement)[]} items  functions that make the items
 */
export function fill(list, items) {
  const most = Math.max(SHOWN, Number(list.dataset.shown ?? 0));
  replaceItems(list, items.slice(0, most).map((item) => item()));
  if (!items.length) list.append(make("li", { class: "soft" }, t("None yet.")));
  if (items.length <= most) return;
  const rest = items.length - most;
  const more = button(t(`Show ${Math.min(SHOWN, rest)} more (${number(rest)} left)`), () => {
    list.dataset.shown = String(most + SHOWN);
    fill(list, items);
    const first = list.children[most]?.querySelector("a, button");
    if (first instanceof HTMLElement) first.focus();
  });
  list.append(make("li", { class: "more" }, more));
}

/**
 * Fill a list from the server in parts. A long list ends with a button that requests more items.
 *
 * @template T
 * @param {HTMLElement} list  stores the number of items shown
 * @param {(offset: number, limit: number) => Promise<{part: T[], total: number}>} get
 * @param {(one: T) => HTMLElement} item
 * @returns {Promise<number>} the total number of items
 */
export async function fillByParts(list, get, item) {
  const { part, total } = await get(0, Math.max(SHOWN, Number(list.dataset.shown ?? 0)));
  replaceItems(list, part.map(item));
  if (!total) list.append(make("li", { class: "soft" }, t("None yet.")));
  const more = button("", once(async () => {
    const shown = list.children.length - 1;
    try {
      const next = await get(shown, SHOWN);
      more.parentElement?.before(...next.part.map(item));
      count(next.total);
      const first = list.children[shown]?.querySelector("a, button");
      if (first instanceof HTMLElement) first.focus();
    } catch (problem) {
      complain(problem);
    }
  }));
  list.append(make("li", { class: "more" }, more));
  /** @param {number} all */
  const count = (all) => {
    const shown = list.children.length - 1;
    list.dataset.shown = String(shown);
    more.textContent = t(`Show ${Math.min(SHOWN, all - shown)} more (${number(all - shown)} left)`);
    more.parentElement?.toggleAttribute("hidden", all <= shown);
  };
  count(total || 1);
  return total;
}

/**
 * Return the element with an id, which must exist.
 *
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}

/**
 * Show an error message in an element; an empty message hides the element.
 *
 * @param {unknown} problem
 * @param {string} [id]
 */
export function complain(problem, id = "error") {
  const text = t(problem instanceof Error ? problem.message : String(problem ?? ""));
  byId(id).textContent = text;
  byId(id).hidden = !text;
}

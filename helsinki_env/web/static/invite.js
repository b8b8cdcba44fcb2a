/** The links of a table's seats, for people with separate browsers, as text to copy and as QR codes. */

import { addressOf, ask, networkAddress } from "./access.js";
import { button, byId, make, makeSvg } from "./dom.js";
import { keep, keeps, recall } from "./kept.js";
import { t } from "./language.js";

/** @typedef {{seat: number, name: string, link: string}} Link */

/**
 * Store the links of a table in this browser, because the server sends them only once.
 *
 * @param {string} table
 * @param {Link[]} links  none: delete them
 */
export function keepLinks(table, links) {
  keep(`links.${table}`, links.length ? JSON.stringify(links) : "");
}

/**
 * Return the stored links of a table.
 *
 * @param {string} table
 * @returns {Link[]}
 */
export function keptLinks(table) {
  try {
    return JSON.parse(recall(`links.${table}`, "[]") || "[]");
  } catch {
    return [];
  }
}

/**
 * Copy the text of an element, or select it if the clipboard is not accessible, as over plain HTTP.
 *
 * @param {string} text
 * @param {HTMLElement} shown  has the text
 * @returns {Promise<boolean>} whether the text was copied; if not, it is selected
 */
async function copyText(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection()?.selectAllChildren(shown);
    try {
      return document.execCommand("copy");
    } catch {
      return false;
    }
  }
}

/**
 * Request the QR code of a text from the server.
 *
 * @param {string} text
 * @param {string} label
 */
async function qrCode(text, label) {
  const { size, path } = await ask("POST", "/api/qr", { text });
  const code = makeSvg("svg", { viewBox: `0 0 ${size} ${size}`, class: "qr", role: "img", "aria-label": label });
  code.append(makeSvg("path", { d: `M0 0h${size}v${size}h-${size}z`, fill: "#fff" }), makeSvg("path", { d: path, fill: "#000" }));
  return code;
}

/**
 * Show the links of a table's seats.
 *
 * @param {HTMLElement} section
 * @param {Link[]} links
 */
export async function showLinks(section, links) {
  const network = await networkAddress();
  const items = links.map(({ name, link }) => {
    const address = addressOf(link, network || location.origin);
    const open = make("a", { href: address, target: "_blank" }, address);
    const note = make("span", { class: "soft", role: "status" });
    const copy = button(t("Copy"), async () => {
      const copied = await copyText(address, open);
      copy.textContent = copied ? t("Copied") : t("Copy");
      note.textContent = copied ? "" : t("This browser does not allow copying. The link is selected: copy it with the menu or the keyboard.");
    });
    const item = make("li", {}, make("div", {}, make("b", { class: "name" }, t(name)), make("div", {}, open), note), copy);
    if (network) qrCode(address, t(`QR code of the link of ${name}`)).then((code) => item.append(code), (problem) => (note.textContent = t(problem.message)));
    return item;
  });
  const title = make("h2", { id: "links-title", tabindex: "-1" }, t("Links for the seats"));
  const where = keeps
    ? t('Each link gives control of its seat. To see the links again in this browser, click "Links" in the list of tables, or "Invite" at the table.')
    : t("Each link gives control of its seat. Copy the links now: this browser stores nothing, so you cannot see them again.");
  const scan = network ? ` ${t("Another device in the same network can scan the code.")}` : "";
  const here = t(`These links work on this machine only, because the server listens at ${location.host}. For other devices, start it with --host and the address of this machine.`);
  const warning = network ? [] : [make("p", { class: "note" }, here)];
  section.replaceChildren(title, ...warning, make("p", {}, where + scan), make("ul", { class: "tables links" }, ...items));
  section.hidden = false;
  title.focus();
}

/**
 * Show a button that opens the links of a table, if this browser has stored them.
 *
 * @param {string} table
 * @param {(text: string) => void} complain
 */
export function offerLinks(table, complain) {
  const links = keptLinks(table);
  const dialog = /** @type {HTMLDialogElement} */ (byId("invitation"));
  byId("invite").hidden = !links.length;
  byId("invite").addEventListener("click", () => {
    showLinks(byId("links"), links).then(() => dialog.showModal(), (problem) => complain(problem.message));
  });
  byId("invitation-close").addEventListener("click", () => dialog.close());
}

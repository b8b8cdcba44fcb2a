/** Browser notifications for the user's turn while the page is not visible. */

import { keep, recall } from "./kept.js";

export class Notices {
  /** @type {Notification | null} */
  #shown = null;

  /** @param {HTMLInputElement} wanted  checkbox that enables notifications */
  constructor(wanted) {
    this.wanted = wanted;
    const label = /** @type {HTMLElement} */ (wanted.closest("label"));
    label.hidden = !("Notification" in globalThis) || !globalThis.isSecureContext;
    wanted.checked = !label.hidden && recall("notices", "no") === "yes" && Notification.permission === "granted";
    wanted.addEventListener("change", () => this.#allow());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.#shown?.close());
  }

  async #allow() {
    if (this.wanted.checked) this.wanted.checked = (await Notification.requestPermission()) === "granted";
    keep("notices", this.wanted.checked ? "yes" : "no");
  }

  /**
   * Show a notification unless the page is visible.
   *
   * @param {string} title
   * @param {string} body
   */
  tell(title, body) {
    if (!this.wanted.checked || document.visibilityState === "visible") return;
    this.#shown?.close();
    try {
      this.#shown = new Notification(title, { body, tag: location.pathname, icon: "/static/icon.svg" });
      this.#shown.onclick = () => globalThis.focus();
    } catch {
      // Chrome for Android shows only notifications from service workers; the mark in the page title is used there.
    }
  }
}

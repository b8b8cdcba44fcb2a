/** Parts of the picture to zoom to: boards, cards, board actions, and the parts needed for the current action. */

import { button, byId } from "./dom.js";
import { t } from "./language.js";

/** @typedef {import("./protocol.js").Box} Box */
/** @typedef {import("./protocol.js").View} View */

/** Areas other than seats, with their labels and the names of their spots. */
const COMMON = [
  { id: "cards", label: t("Cards"), spots: /^(space|slot|draw|discard)\b/ },
  { id: "actions", label: t("Actions"), spots: /^action\b/ },
  { id: "supply", label: t("Supply"), spots: /^kind\b/ },
];

/**
 * Return the bounding box of several boxes: left, top, width and height.
 *
 * @param {Box[]} boxes  at least one
 * @returns {Box}
 */
export function boundsOf(boxes) {
  const [left, top] = [0, 1].map((axis) => Math.min(...boxes.map((box) => box[axis])));
  const [right, bottom] = [0, 1].map((axis) => Math.max(...boxes.map((box) => box[axis] + box[axis + 2])));
  return [left, top, right - left, bottom - top];
}

/**
 * Return the bounding box of all spots whose names match.
 *
 * @param {View} view
 * @param {RegExp} names
 */
function boxOf(view, names) {
  const boxes = Object.entries(view.spots).flatMap(([name, box]) => (names.test(name) ? [box] : []));
  return boxes.length ? boundsOf(boxes) : null;
}

/**
 * Return the box that an area shows, or null for the whole table.
 *
 * @param {View} view
 * @param {string} id
 * @param {boolean} narrow  whether the screen is too narrow for the whole table
 */
export function areaOf(view, id, narrow) {
  const own = view.viewer ?? view.mine[0] ?? view.seat;
  if (id === "own") return view.spots[`seat ${own}`] ?? null;
  if (id === "follow") return following(view, own, narrow);
  const common = COMMON.find((one) => one.id === id);
  return common ? boxOf(view, common.spots) : (view.spots[id] ?? null);
}

/**
 * Return the box that is needed for the current action.
 *
 * @param {View} view
 * @param {number} own  the seat whose cards are shown
 * @param {boolean} narrow
 */
function following(view, own, narrow) {
  const names = [...view.decisions, ...(view.selection?.items ?? [])].flatMap((one) => one.at);
  const seat = view.spots[`seat ${own}`] ?? null;
  if (names.some((name) => name.startsWith("cell "))) return (narrow && view.spots[`board ${own}`]) || seat;
  if (!narrow || !names.length) return null;
  const used = COMMON.filter((one) => names.some((name) => one.spots.test(name)));
  return used.length ? boxOf(view, used[0].spots) : seat;
}

/**
 * Return the box shown below an area: the user's board and hand, if the page follows an action outside of it.
 *
 * @param {View} view
 * @param {string} id
 * @param {boolean} narrow
 */
export function belowArea(view, id, narrow) {
  const own = view.spots[`seat ${view.viewer ?? view.mine[0] ?? view.seat}`];
  const above = narrow && id === "follow" ? areaOf(view, id, narrow) : null;
  return own && above && above[1] + above[3] <= own[1] ? own : null;
}

/**
 * Show a button for each area; the areas of the game have buttons only on narrow screens.
 *
 * @param {View} view
 * @param {(id: string) => void} choose
 */
export function showAreas(view, choose) {
  const own = view.viewer ?? view.mine[0];
  const seats = view.seats.flatMap((chair, seat) => (seat === own ? [] : [{ id: `seat ${seat}`, label: t(chair.name) }]));
  const common = COMMON.filter((one) => boxOf(view, one.spots));
  const wanted = [...common, ...seats];
  const list = byId("areas");
  const now = wanted.map((one) => one.id + one.label).join();
  if (list.dataset.now === now) return;
  list.dataset.now = now;
  list.replaceChildren(...wanted.map(({ id, label }) => button(label, () => choose(id), { "data-look": id })));
}

// The open section for keyboards and screen readers: a grid of rows and seats with a roving focus.
// The map shows the focused seat.

import { el } from "../../shared/ui/dom.js";
import { won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { FREE, MINE } from "../../shared/seatmap/sprites.js";

export function seatGrid({ plan, map, grades, stateOf, describe, toggle }) {
  const box = el("div", { class: "sr" });
  const cells = new Map();
  let section = null;
  let focused = -1;

  function open(index) {
    section = plan.sections[index];
    cells.clear();
    const grade = grades[section.grade];
    const label = t("gridLabel", section.name, grade?.grade ?? "", won(grade?.price ?? 0));
    const grid = el("div", { role: "grid", "aria-label": label }, section.rows.map((row) =>
      el("div", { role: "row" }, Array.from({ length: row.end - row.from }, (_, offset) => cell(row.from + offset)))));
    grid.addEventListener("keydown", onKey);
    grid.addEventListener("focusin", (event) => mark(Number(event.target.dataset.seat)));
    grid.addEventListener("focusout", () => map.focusSeat(-1));
    box.replaceChildren(el("p", {}, t("mapKeys")), grid);
    go(nextFree(section.first - 1));
  }

  function close() {
    section = null;
    cells.clear();
    box.replaceChildren();
  }

  function cell(i) {
    const element = el("div", { role: "gridcell", tabindex: "-1", "data-seat": i });
    cells.set(i, element);
    say(i);
    return element;
  }

  function say(i) {
    const element = cells.get(i);
    const state = stateOf(i);
    element.setAttribute("aria-label", describe(i));
    element.setAttribute("aria-selected", String(state === MINE));
    element.toggleAttribute("aria-disabled", false);
    if (state !== FREE && state !== MINE) element.setAttribute("aria-disabled", "true");
  }

  function mark(i) {
    if (focused >= 0 && cells.has(focused)) cells.get(focused).tabIndex = -1;
    focused = i;
    cells.get(i).tabIndex = 0;
    map.focusSeat(i);
  }

  function go(i) {
    if (!cells.has(i)) return;
    mark(i);
    cells.get(i).focus({ preventScroll: true });
  }

  function onKey(event) {
    const i = focused;
    const row = section.rows[plan.row[i]];
    const moves = {
      ArrowRight: () => Math.min(row.end - 1, i + 1),
      ArrowLeft: () => Math.max(row.from, i - 1),
      ArrowDown: () => nearest(i, plan.row[i] + 1),
      ArrowUp: () => nearest(i, plan.row[i] - 1),
      Home: () => row.from,
      End: () => row.end - 1,
      n: () => nextFree(i),
    };
    const move = moves[event.key];
    if (move) go(move());
    else if (event.key === "Enter" || event.key === " ") toggle(i);
    else if (event.key === "Escape") map.showAll();
    else return;
    event.preventDefault();
  }

  function nearest(i, rowIndex) {
    const row = section.rows[rowIndex];
    if (!row) return i;
    const distance = (j) => (plan.x[j] - plan.x[i]) ** 2 + (plan.y[j] - plan.y[i]) ** 2;
    let best = row.from;
    for (let j = row.from; j < row.end; j += 1) if (distance(j) < distance(best)) best = j;
    return best;
  }

  function nextFree(i) {
    const { first, count } = section;
    for (let step = 1; step <= count; step += 1) {
      const j = first + ((i - first + step) % count);
      if (stateOf(j) === FREE) return j;
    }
    return Math.max(first, i);
  }

  return { element: box, open, close, refresh: (i) => cells.has(i) && say(i) };
}

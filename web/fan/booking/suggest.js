// Proposals of the best seats: up to three, each shown on the map when it is chosen. Nothing is held
// until the fan presses the button for it.

import { get } from "../../shared/app/api.js";
import { announce, el } from "../../shared/ui/dom.js";
import { won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { toneOf } from "../catalog/grades.js";

/** `show(seats)` selects them instead of what was selected. */
export function suggestionBox({ page, plan, grades, map, nameOf, priceOf, openAt }, show) {
  const list = el("ul", { class: "proposals num" });
  const element = el("div", { class: "suggestions stack tight", role: "group", "aria-label": t("suggestTitle"), hidden: true },
    el("b", {}, t("suggestTitle")), list, el("p", { class: "quiet" }, t("suggestNote")));
  const indexes = new Map(plan.seats.map((seat, i) => [seat.id, i]));
  let shown = [];

  /** Asks for `count` seats, of the grade that the map shows. Throws what the server says. */
  async function ask(count) {
    const query = new URLSearchParams({ scheduleId: page.id, count, ...(map.filter === null ? {} : { grade: grades[map.filter].grade }) });
    const { items } = await get(`/api/booking/seats/suggestions?${query}`, { scheduleId: page.id, signal: page.signal });
    shown = items.map(({ seatIds }) => seatIds.map((id) => indexes.get(id)));
    if (!shown.length) throw new Error(t("suggestNone", count));
    list.replaceChildren(...shown.map(line));
    element.hidden = false;
    choose(0);
  }

  function line(seats, index) {
    const [first] = seats;
    return el("li", {}, el("button", { type: "button", class: `proposal ${toneOf(plan.grade[first])}`, onclick: () => choose(index) },
      el("i", { "aria-hidden": "true" }), el("span", {}, runOf(seats), el("small", {}, plan.seats[first].grade)),
      el("span", { class: "price" }, won(seats.reduce((sum, i) => sum + priceOf(i), 0)))));
  }

  /** `101, row 5, seats 7 to 9`; places of a standing zone are only counted. */
  function runOf(seats) {
    const [first, last] = [plan.seats[seats[0]], plan.seats[seats.at(-1)]];
    if (first.standing) return `${nameOf(seats[0])} × ${seats.length}`;
    return seats.length < 2 ? nameOf(seats[0]) : t("seatRun", nameOf(seats[0]), last.number.split("-").at(-1));
  }

  function choose(index) {
    const seats = shown[index];
    [...list.querySelectorAll("button")].forEach((button, i) => button.setAttribute("aria-pressed", String(i === index)));
    show(seats);
    openAt(seats[0]);
    announce(`${runOf(seats)}. ${t("suggestNote")}`);
  }

  /** Other seats are selected now. */
  function close() {
    element.hidden = true;
    shown = [];
  }

  return { element, ask, close };
}

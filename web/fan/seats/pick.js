// Beside the map: the seats picked so far, and the best seats on request.

import { el, whileBusy } from "../../shared/dom.js";
import { won } from "../../shared/format.js";
import { t } from "../../shared/i18n.js";

/** Most seats in one hold. */
export const SEATS_MAX = 4;

/** The seats picked so far, their sum, and the two ways to hold some. */
export function pickPanel({ nameOf, prices, onDrop, onHold, onBest, grades }) {
  const list = el("ul", { class: "picks num" });
  const total = el("b", {});
  const heading = el("h2", {});
  const offerBox = el("div", { class: "note warn stack", hidden: true });
  const holdButton = el("button", { class: "btn primary wide", type: "button" }, t("hold"));
  holdButton.addEventListener("click", () => whileBusy(holdButton, onHold).then(update));
  let seats = [];

  function update() {
    holdButton.disabled = seats.length === 0;
  }

  function show(next) {
    seats = next;
    heading.textContent = t("yourSeatsCount", seats.length, SEATS_MAX);
    total.textContent = won(seats.reduce((sum, seat) => sum + (prices.get(seat.grade) ?? 0), 0));
    const line = (seat) => el("li", {},
      el("span", {}, el("b", {}, nameOf(seat)), el("span", { class: "quiet" }, `${seat.grade} · ${won(prices.get(seat.grade) ?? 0)}`)),
      el("button", { class: "btn", type: "button", "aria-label": t("drop", nameOf(seat)), onclick: () => onDrop(seat) }, "×"));
    list.replaceChildren(...(seats.length ? seats.map(line) : [el("li", { class: "quiet" }, t("pickSome", SEATS_MAX))]));
    update();
  }

  function offer(others, accept) {
    offerBox.hidden = others.length === 0;
    if (!others.length) return;
    offerBox.replaceChildren(
      el("p", {}, t("insteadOf", others.map(nameOf).join(", "))),
      el("button", { class: "btn", type: "button", onclick: accept }, t("takeThese")));
  }

  const element = el("div", { class: "stack" },
    heading, list, offerBox,
    el("p", { class: "row apart" }, el("span", {}, t("total")), total),
    holdButton,
    el("p", { class: "quiet" }, t("holdNote")),
    bestForm(grades, onBest));
  return { element, show, offer };
}

function bestForm(grades, onBest) {
  const options = (values) => values.map(([value, text]) => el("option", { value }, text));
  const amount = el("select", { class: "btn", "aria-label": t("howMany") },
    options([1, 2, 3, 4].map((n) => [n, t("nSeats", n)])));
  const grade = el("select", { class: "btn", "aria-label": t("grade") },
    options([["", t("anyGrade")], ...grades.map((it) => [it.grade, it.grade])]));
  const button = el("button", { class: "btn wide", type: "button" }, t("best"));
  amount.value = "2";
  button.addEventListener("click", () => whileBusy(button, () => onBest(Number(amount.value), grade.value)));
  return el("div", { class: "best stack" }, el("div", { class: "row" }, amount, grade), button);
}

// Beside the map: the seats picked so far.

import { el, whileBusy } from "../../shared/dom.js";
import { won } from "../../shared/format.js";
import { t } from "../../shared/i18n.js";

/** Most seats in one hold. */
export const SEATS_MAX = 4;

/** The seats picked so far, their sum, and the two ways to hold some. */
export function pickPanel({ nameOf, prices, onDrop, onHold }) {
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
    el("p", { class: "quiet" }, t("holdNote")));
  return { element, show, offer };
}

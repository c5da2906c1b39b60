// Beside the map: the selected seats, their total, the best-seats button, and lost seats.

import { el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { toneOf } from "../catalog/grades.js";
import { feeNote } from "../payments/order.js";
import { standbyBox } from "./standby.js";

const OFFERS_MAX = 3;

export function pickPanel(sale, { onHold, onBest, proposals }) {
  const { page, schedule, grades, plan, picked, own, seatsMax, room, nameOf, priceOf, toggle } = sale;
  const list = el("ul", { class: "picks num" });
  const total = el("b", {});
  const counter = el("small", { class: "num" });
  const problem = problemBox();
  const lostBox = el("div", { class: "note warn stack tight", role: "alert", hidden: true });
  const fullBox = el("div", { class: "note stack tight", role: "status", hidden: true });
  const ownNote = el("p", { class: "quiet own-note", hidden: true });
  const best = bestRow(sale, onBest);
  const holdButton = el("button", { class: "btn primary wide", type: "button" }, t("hold"));
  holdButton.addEventListener("click", () => whileBusy(holdButton, onHold).then(show));

  function show() {
    const seats = [...picked];
    counter.textContent = t("counter", own.size + seats.length, seatsMax);
    total.textContent = won(costOf(seats));
    list.replaceChildren(...(seats.length ? seats.map(line) : [nothing()]));
    holdButton.disabled = seats.length === 0;
    ownNote.hidden = own.size === 0;
    ownNote.textContent = room() ? t("ownNote", own.size, seatsMax, room()) : t("ownFull", seatsMax);
    best.refresh();
    element.classList.toggle("empty", seats.length === 0);
  }

  /** With the fees, which are part of the price from the first one shown. */
  function costOf(seats) {
    if (!seats.length) return 0;
    const { booking, order } = schedule.fees ?? {};
    return seats.reduce((sum, i) => sum + priceOf(i) + (booking?.amount ?? 0), order?.amount ?? 0);
  }

  function line(i) {
    const remove = el("button", { class: "x", type: "button", "aria-label": t("drop", nameOf(i)), onclick: () => toggle(i) }, icon("close"));
    return el("li", { class: toneOf(plan.grade[i]) },
      el("i", { "aria-hidden": "true" }),
      el("span", {}, el("b", {}, nameOf(i)), el("small", {}, plan.seats[i].grade, plan.seats[i].standing ? ` · ${t("zoneNumberLater")}` : null)),
      el("span", { class: "price" }, won(priceOf(i))),
      remove);
  }

  function nothing() {
    return el("li", { class: "none" }, el("span", { class: "grapes", "aria-hidden": "true" }), t("pickSome", room()));
  }

  /** Names the seats that another fan got, and offers alternatives. */
  function lost(seats, alternatives, accept) {
    const offer = (others) => el("button", { class: "btn small", type: "button", onclick: () => {
      lostBox.hidden = true;
      accept(others);
    } }, others.map(nameOf).join(", "));
    lostBox.replaceChildren(
      el("b", {}, t("justMissed")),
      el("p", {}, t("seatsLost", seats.map(nameOf).join(", "))),
      ...(alternatives.length ? [el("p", {}, t("insteadOf")), ...alternatives.slice(0, OFFERS_MAX).map(offer)] : []));
    lostBox.hidden = false;
  }

  /** Tells fans who are admitted after everything is sold, and points to the standby list. */
  function full(isFull) {
    if (fullBox.hidden === !isFull) return;
    fullBox.hidden = !isFull;
    if (isFull) fullBox.replaceChildren(el("b", {}, t("fullTitle")), standbyBox(page, schedule, grades));
  }

  const element = el("aside", { class: "panel", "aria-label": t("yourSeats") },
    el("div", { class: "panel-head" },
      el("span", { class: "handle", "aria-hidden": "true" }),
      el("h2", {}, t("yourSeats"), counter),
      best.element),
    el("div", { class: "panel-body" }, ownNote, fullBox, problem.element, lostBox, proposals, list),
    el("div", { class: "panel-foot num" },
      el("p", { class: "row apart sum" }, el("span", {}, t("total")), total),
      feeNote(schedule),
      holdButton,
      el("p", { class: "quiet" }, t("holdNote"))));
  return { element, show, lost, full, problem };
}

function bestRow({ room }, onBest) {
  let count = Math.min(2, room());
  const output = el("output", { class: "num" });
  const step = (by, words) => el("button", { type: "button", "aria-label": words, onclick: () => {
    count += by;
    refresh();
  } }, icon(by < 0 ? "minus" : "plus"));
  const steps = [step(-1, t("oneLess")), step(1, t("oneMore"))];
  const button = el("button", { class: "btn grow", type: "button" }, icon("star"), t("best"));
  button.addEventListener("click", () => whileBusy(button, () => onBest(count)).then(refresh));
  /** The fan's own seats leave less to choose. */
  function refresh() {
    count = Math.max(1, Math.min(room(), count));
    output.textContent = String(count);
    for (const it of [...steps, button]) it.disabled = room() === 0;
  }
  const element = el("div", { class: "best" },
    el("span", { class: "stepper", role: "group", "aria-label": t("howMany") }, steps[0], output, steps[1]),
    button);
  return { element, refresh };
}

// Beside the map: the selected seats, their total, the best-seats button, and lost seats.

import { el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { toneOf } from "../catalog/grades.js";
import { standbyBox } from "./standby.js";

const OFFERS_MAX = 3;

export function pickPanel(sale, { onHold, onBest }) {
  const { page, schedule, grades, plan, picked, seatsMax, nameOf, priceOf, toggle } = sale;
  const list = el("ul", { class: "picks num" });
  const total = el("b", {});
  const counter = el("small", { class: "num" });
  const problem = problemBox();
  const lostBox = el("div", { class: "note warn stack tight", role: "alert", hidden: true });
  const fullBox = el("div", { class: "note stack tight", role: "status", hidden: true });
  const holdButton = el("button", { class: "btn primary wide", type: "button" }, t("hold"));
  holdButton.addEventListener("click", () => whileBusy(holdButton, onHold).then(show));

  function show() {
    const seats = [...picked];
    counter.textContent = `${seats.length} / ${seatsMax}`;
    total.textContent = won(seats.reduce((sum, i) => sum + priceOf(i), 0));
    list.replaceChildren(...(seats.length ? seats.map(line) : [nothing()]));
    holdButton.disabled = seats.length === 0;
    element.classList.toggle("empty", seats.length === 0);
  }

  function line(i) {
    const remove = el("button", { class: "x", type: "button", "aria-label": t("drop", nameOf(i)), onclick: () => toggle(i) }, icon("close"));
    return el("li", { class: toneOf(plan.grade[i]) },
      el("i", { "aria-hidden": "true" }),
      el("span", {}, el("b", {}, nameOf(i)), el("small", {}, plan.seats[i].grade)),
      el("span", { class: "price" }, won(priceOf(i))),
      remove);
  }

  function nothing() {
    return el("li", { class: "none" }, el("span", { class: "grapes", "aria-hidden": "true" }), t("pickSome", seatsMax));
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
      bestRow(seatsMax, onBest)),
    el("div", { class: "panel-body" }, fullBox, problem.element, lostBox, list),
    el("div", { class: "panel-foot num" },
      el("p", { class: "row apart sum" }, el("span", {}, t("total")), total),
      holdButton,
      el("p", { class: "quiet" }, t("holdNote"))));
  return { element, show, lost, full, problem };
}

function bestRow(seatsMax, onBest) {
  let count = Math.min(2, seatsMax);
  const output = el("output", { class: "num" }, String(count));
  const step = (by, words) => el("button", { type: "button", "aria-label": words, onclick: () => {
    count = Math.max(1, Math.min(seatsMax, count + by));
    output.textContent = String(count);
  } }, icon(by < 0 ? "minus" : "plus"));
  const button = el("button", { class: "btn grow", type: "button" }, icon("star"), t("best"));
  button.addEventListener("click", () => whileBusy(button, () => onBest(count)));
  return el("div", { class: "best" },
    el("span", { class: "stepper", role: "group", "aria-label": t("howMany") }, step(-1, t("oneLess")), output, step(1, t("oneMore"))),
    button);
}

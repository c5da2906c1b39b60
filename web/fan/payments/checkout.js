// Checkout: the hold's remaining time, payment by one of the offered methods, or releasing the seats.

import { act, get, remove } from "../../shared/app/api.js";
import { every, msUntil } from "../../shared/app/clock.js";
import { ask } from "../../shared/ui/dialog.js";
import { announce, el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { countdown, moment, usePlace, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { showUrgency } from "../../shared/ui/timer.js";
import { keep, recall } from "../../shared/app/session.js";
import { goToGateway } from "./gateways.js";
import { lastDecline } from "./declines.js";
import { legalPages } from "../identity/legal.js";
import { payMethods } from "./methods.js";
import { orderChoices } from "./order.js";
import { poster } from "../catalog/poster.js";
import { periodsOf, refundTerms } from "./refunds.js";
import { bookingSteps } from "./steps.js";

const WARNINGS_MS = [120_000, 60_000, 30_000];

export async function checkout(page) {
  page.main.className = "narrow";
  const scheduleId = recall("schedule", page.id) ?? undefined;
  const reservation = await get(`/api/booking/reservations/${page.id}`, { scheduleId, signal: page.signal });
  keep("schedule", page.id, reservation.scheduleId ?? scheduleId ?? null);
  const shown = { HELD: heldPage, PAYING: payingPage, CONFIRMED: confirmedPage }[reservation.status] ?? overPage;
  await shown(page, reservation);
}

function payingPage(page, reservation) {
  const payment = reservation.depositPaymentId ?? recall("payment", page.id);
  if (payment) return location.replace(`#/paid/${payment}`);
  showWords(page, t("payingElsewhere"), el("button", { class: "btn", type: "button", onclick: page.again }, t("tryAgain")));
}

function confirmedPage(page) {
  showWords(page, t("alreadyPaid"), el("a", { class: "btn primary", href: "#/tickets" }, t("myTickets")));
}

function overPage(page, reservation) {
  const scheduleId = reservation.scheduleId ?? recall("schedule", page.id);
  const back = scheduleId ? `#/seats/${scheduleId}` : "#/";
  showWords(page, t("holdOver"), el("a", { class: "btn primary", href: back }, t("chooseAgain")));
}

function showWords(page, words, action) {
  page.main.replaceChildren(el("div", { class: "card pad stack" }, el("h1", {}, t("checkout")), el("p", {}, words), action));
}

async function heldPage(page, reservation) {
  const [wallet, schedule, taken] = await Promise.all([
    get("/api/wallet", { signal: page.signal }),
    get(`/api/schedules/${reservation.scheduleId}`, { signal: page.signal, isPublic: true }),
    get("/api/payment/gateways", { signal: page.signal, isPublic: true }),
  ]);
  usePlace(schedule);
  const [event, pages] = await Promise.all([
    get(`/api/events/${schedule.eventId}`, { signal: page.signal, isPublic: true }),
    legalPages(),
  ]);
  const problem = problemBox();
  problem.show(lastDecline(page.id) ?? "");
  const depositDate = event.depositDates.find(({ scheduleId }) => scheduleId === schedule.id);
  const offered = event.paymentMethods.filter((method) => method !== "VIRTUAL_ACCOUNT" || depositDate);
  const form = payForm(page, reservation, { balance: wallet.balance, offered, taken, depositDate, problem, terms: termsCard(refundTerms(event.refundRules, periodsOf(event, schedule.id)), pages) });
  page.main.className = "";
  page.main.replaceChildren(bookingSteps(1), form);
  form.prepend(
    el("h1", { class: "sr" }, t("checkout")),
    holdTimer(page, reservation, form),
    orderCard(page, reservation, { schedule, event, form }));
}

function orderCard(page, reservation, { schedule, event, form }) {
  const total = el("b", {}, won(reservation.amount));
  const onChange = () => {
    total.textContent = won(reservation.amount);
    form.dispatchEvent(new Event("orderchange"));
  };
  return el("section", { class: "card pad stack order", "aria-label": t("orderSeats", reservation.seats.length) },
    el("div", { class: "bought" }, poster(event),
      el("div", {},
        el("h2", {}, schedule.eventTitle),
        el("p", { class: "quiet num" }, moment(schedule.startsAt)),
        el("p", { class: "quiet" }, `${event.venueName} · ${event.hallName}`))),
    orderChoices(page, reservation, { schedule, onChange }),
    el("p", { class: "row apart sum num" }, el("span", {}, t("total")), total));
}

/** The one timer of the page. At the end it stops the payment; the server decides about the seats. */
function holdTimer(page, { holdExpiresAt, scheduleId }, form) {
  const clock = el("b", { class: "num", role: "timer", "aria-label": t("heldFor") });
  const words = el("span", {}, t("heldFor"));
  const box = el("div", { class: "timer hold" }, words, clock);
  let before = Infinity;
  every(500, page.signal, () => {
    const left = msUntil(holdExpiresAt);
    clock.textContent = countdown(left);
    showUrgency(box, left);
    if (WARNINGS_MS.some((mark) => left <= mark && mark < before && before !== Infinity)) {
      announce(t("holdSaid", countdown(left)));
    }
    if (left === 0 && before !== 0) {
      form.dispatchEvent(new Event("holdover"));
      words.replaceChildren(t("holdEnded"), " ", el("a", { href: `#/seats/${scheduleId}` }, t("chooseAgain")));
      // Its clock may be slightly behind our estimate.
      setTimeout(page.again, 1_000);
    }
    before = left;
  });
  return box;
}

function payForm(page, reservation, { balance, offered, taken, depositDate, problem, terms }) {
  const pay = el("button", { class: "btn primary wide" });
  let isOver = false;
  const show = () => {
    const chosen = methods.chosen();
    const isFree = reservation.amount === 0;
    const words = chosen ? t(`pay${chosen.method}`, won(reservation.amount)) : t("payNone");
    pay.textContent = isFree ? t("payFree") : words;
    pay.disabled = isOver || !(chosen || isFree);
    methods.element.hidden = isFree;
  };
  const methods = payMethods({ amountOf: () => reservation.amount, currency: reservation.currency, balance, offered, taken, depositDate, problem, onChange: show });
  show();
  const form = el("form", { class: "checkout", novalidate: true },
    el("div", { class: "stack choices" }, methods.element, terms.element),
    el("div", { class: "stack action" },
      problem.element,
      pay,
      el("p", { class: "quiet promise" }, icon("shield"), t("payNote")),
      releaseButton(page)));
  form.addEventListener("holdover", () => {
    isOver = true;
    show();
  });
  form.addEventListener("orderchange", () => {
    methods.refresh();
    show();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!terms.isAgreed()) return problem.show(t("termsMissing"));
    // An order of zero won needs no gateway: the wallet confirms it.
    const how = reservation.amount === 0 ? { method: "WALLET" } : methods.chosen();
    whileBusy(pay, () => requestPayment(page, how, problem)).then(show);
  });
  return form;
}

/**
 * The rules that apply to this booking, with their dates, and the terms of use if there are any. The
 * box starts empty.
 */
function termsCard(rules, pages) {
  const page = pages.find(({ kind }) => kind === "TERMS");
  const box = el("input", { type: "checkbox", name: "terms", required: true });
  const element = el("section", { class: "card pad stack", "aria-label": t("terms") },
    el("h2", {}, t("refundRules")),
    rules,
    el("label", { class: "choice" }, box, el("span", {}, t(page ? "termsAgree" : "termsAgreeRules"))),
    page ? el("a", { class: "quiet", href: page.path, target: "_blank", rel: "noopener" }, t("termsRead")) : null);
  const isAgreed = () => {
    box.toggleAttribute("aria-invalid", false);
    if (box.checked) return true;
    box.setAttribute("aria-invalid", "true");
    box.focus();
    return false;
  };
  return { element, isAgreed };
}

async function requestPayment(page, { method, gateway }, problem) {
  problem.show("");
  const scheduleId = recall("schedule", page.id) ?? undefined;
  const body = { reservationId: page.id, method, ...(gateway ? { gateway } : {}) };
  try {
    const payment = await act("/api/payment/request", body, { scheduleId });
    keep("payment", page.id, payment.paymentId);
    keep("paying", payment.paymentId, { reservationId: page.id, scheduleId, method, gateway });
    keep("declined", page.id, null);
    if (payment.checkout.gateway) return goToGateway(payment.paymentId, payment.checkout);
    page.go(`#/paid/${payment.paymentId}`);
  } catch (error) {
    if (error.status === 401) return page.fail(error);
    problem.show(error.message);
  }
}

function releaseButton(page) {
  const release = async () => {
    const scheduleId = recall("schedule", page.id) ?? undefined;
    const done = await ask({
      title: t("release"),
      content: el("p", {}, t("releaseSure")),
      yes: t("release"),
      isDanger: true,
      act: () => remove(`/api/booking/seats/release?reservationId=${page.id}`, { scheduleId }),
    });
    if (done) page.go(scheduleId ? `#/seats/${scheduleId}` : "#/");
  };
  return el("button", { class: "link", type: "button", onclick: release }, t("release"));
}

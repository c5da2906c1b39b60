// Checkout: the hold's remaining time, payment by wallet or card, or releasing the seats.

import { act, get, remove } from "../../shared/app/api.js";
import { every, msUntil } from "../../shared/app/clock.js";
import { ask } from "../../shared/ui/dialog.js";
import { announce, el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { countdown, moment, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { keep, recall } from "../../shared/app/session.js";
import { chargeAt, goToGateway } from "./gateways.js";
import { poster } from "../catalog/poster.js";

const CHARGE_MIN = 100_000;
const WARNINGS_MS = [300_000, 120_000, 60_000];

export async function checkout(page) {
  page.main.className = "narrow";
  const scheduleId = recall("schedule", page.id) ?? undefined;
  const reservation = await get(`/api/booking/reservations/${page.id}`, { scheduleId, signal: page.signal });
  keep("schedule", page.id, reservation.scheduleId ?? scheduleId ?? null);
  const shown = { HELD: heldPage, PAYING: payingPage, CONFIRMED: confirmedPage }[reservation.status] ?? overPage;
  await shown(page, reservation);
}

function payingPage(page) {
  const payment = recall("payment", page.id);
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
  const [wallet, schedule, { gateways }] = await Promise.all([
    get("/api/wallet", { signal: page.signal }),
    get(`/api/schedules/${reservation.scheduleId}`, { signal: page.signal, isPublic: true }),
    get("/api/payment/gateways", { signal: page.signal, isPublic: true }),
  ]);
  const problem = problemBox();
  const form = payForm(page, reservation, { balance: wallet.balance, gateways, problem });
  page.main.replaceChildren(
    el("div", { class: "card" },
      el("div", { class: "head row apart" }, el("h1", {}, t("checkout")), holdTimer(page, reservation)),
      el("div", { class: "pad stack" },
        el("div", { class: "bought" }, poster(schedule.eventTitle, "poster"),
          el("div", {}, el("h2", {}, schedule.eventTitle), el("p", { class: "quiet num" }, moment(schedule.startsAt)))),
        el("ul", { class: "lines num" }, reservation.seats.map((seat) =>
          el("li", {}, el("span", {}, el("b", {}, t("seatName", seat.number)), el("small", { class: "quiet" }, seat.grade)), el("span", {}, won(seat.price))))),
        el("p", { class: "row apart sum num" }, el("span", {}, t("total")), el("b", {}, won(reservation.amount))),
        form,
        problem.element,
        el("p", { class: "quiet" }, t("payNote")),
        releaseButton(page))));
}

function holdTimer(page, { holdExpiresAt }) {
  const clock = el("b", { class: "num", role: "timer", "aria-label": t("heldFor") });
  let before = Infinity;
  every(500, page.signal, () => {
    const left = msUntil(holdExpiresAt);
    clock.textContent = countdown(left);
    if (WARNINGS_MS.some((mark) => left <= mark && mark < before && before !== Infinity)) {
      announce(t("holdSaid", countdown(left)));
    }
    // The server decides what happened to the seats; its clock may be slightly behind our estimate.
    if (left === 0 && before !== 0) setTimeout(page.again, 1_000);
    before = left;
  });
  return el("span", { class: "timer" }, `${t("heldFor")} `, clock);
}

function payForm(page, reservation, { balance, gateways, problem }) {
  const choice = (value, text, { extra, gateway } = {}) => el("label", { class: "choice boxed" },
    el("input", { type: "radio", name: "method", value, "data-gateway": gateway, checked: value === "WALLET" }), el("span", {}, text, extra ?? null));
  const balanceText = el("span", { class: "quiet num" });
  const charge = el("button", { class: "btn", type: "button" });
  const pay = el("button", { class: "btn primary wide" }, t("pay", won(reservation.amount)));

  const showBalance = (next) => {
    balance = next;
    balanceText.textContent = ` ${t("balance", won(balance))}`;
    // A sufficient balance needs no charge.
    charge.hidden = reservation.amount <= balance;
    charge.textContent = t("chargeWallet", won(chargeAmount(reservation.amount, balance)));
  };
  charge.addEventListener("click", () => whileBusy(charge, async () => {
    problem.show("");
    try {
      const answer = await act("/api/wallet/charge", { amount: chargeAmount(reservation.amount, balance) });
      if (answer.checkout) return chargeAt(answer, location.hash);
      showBalance(answer.balance);
      announce(t("balance", won(answer.balance)));
    } catch (error) {
      problem.show(error.message);
    }
  }));
  showBalance(balance);

  const form = el("form", { class: "stack" },
    el("fieldset", { class: "stack" },
      el("legend", { class: "sr" }, t("howToPay")),
      choice("WALLET", t("wallet"), { extra: balanceText }),
      charge,
      gateways.map((gateway) => choice("CARD", gateways.length === 1 ? t("card") : t("cardThrough", t(`gateway${gateway}`)), { gateway }))),
    pay);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { value: method, dataset } = form.querySelector("input[name=method]:checked");
    whileBusy(pay, () => requestPayment(page, { method, gateway: dataset.gateway }, problem));
  });
  return form;
}

/** At least the missing amount, rounded up. */
function chargeAmount(amount, balance) {
  const missing = Math.max(0, amount - balance);
  return Math.max(CHARGE_MIN, Math.ceil(missing / 10_000) * 10_000);
}

async function requestPayment(page, { method, gateway }, problem) {
  problem.show("");
  const scheduleId = recall("schedule", page.id) ?? undefined;
  const body = { reservationId: page.id, method, ...(gateway ? { gateway } : {}) };
  try {
    const payment = await act("/api/payment/request", body, { scheduleId });
    keep("payment", page.id, payment.paymentId);
    keep("paying", payment.paymentId, { reservationId: page.id, scheduleId });
    if (method === "CARD") return goToGateway(payment.paymentId, payment.checkout);
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

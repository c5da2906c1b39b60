// Paying for held seats: how long they are held, the wallet or a card, or giving them back.

import { act, get, remove } from "../shared/api.js";
import { every, msUntil } from "../shared/clock.js";
import { announce, el, problemBox, whileBusy } from "../shared/dom.js";
import { countdown, won } from "../shared/format.js";
import { t } from "../shared/i18n.js";
import { keep, recall } from "../shared/session.js";

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
  const wallet = await get("/api/wallet", { signal: page.signal });
  const problem = problemBox();
  const form = payForm(page, reservation, wallet.balance, problem);
  page.main.replaceChildren(
    el("div", { class: "card pad stack" },
      el("div", { class: "row apart" }, el("h1", {}, t("checkout")), holdTimer(page, reservation)),
      el("ul", { class: "picks num" }, reservation.seats.map((seat) =>
        el("li", {}, el("b", {}, seat.number), el("span", {}, `${seat.grade} · ${won(seat.price)}`)))),
      el("p", { class: "row apart big num" }, el("span", {}, t("total")), el("b", {}, won(reservation.amount))),
      form,
      problem.element,
      el("p", { class: "quiet" }, t("payNote")),
      releaseButton(page, problem)));
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
    // The server says what became of the seats; its clock may be a little behind our guess of it.
    if (left === 0 && before !== 0) setTimeout(page.again, 1_000);
    before = left;
  });
  return el("span", { class: "timer" }, `${t("heldFor")} `, clock);
}

function payForm(page, reservation, balance, problem) {
  const choice = (value, text, extra) => el("label", { class: "choice" },
    el("input", { type: "radio", name: "method", value, checked: value === "WALLET" }), el("span", {}, text, extra ?? null));
  const balanceText = el("span", { class: "quiet num" });
  const charge = el("button", { class: "btn", type: "button" });
  const pay = el("button", { class: "btn primary wide" }, t("pay", won(reservation.amount)));

  const showBalance = (next) => {
    balance = next;
    balanceText.textContent = ` ${t("balance", won(balance))}`;
    charge.textContent = t("chargeWallet", won(chargeAmount(reservation.amount, balance)));
  };
  charge.addEventListener("click", () => whileBusy(charge, async () => {
    problem.show("");
    try {
      const answer = await act("/api/wallet/charge", { amount: chargeAmount(reservation.amount, balance) });
      if (answer.checkout?.url) return goToGateway(answer.checkout.url);
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
      choice("WALLET", t("wallet"), balanceText),
      charge,
      choice("CARD", t("card"))),
    pay);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const method = new FormData(form).get("method");
    whileBusy(pay, () => requestPayment(page, method, problem));
  });
  return form;
}

/** At least what is missing, in round amounts. */
function chargeAmount(amount, balance) {
  const missing = Math.max(0, amount - balance);
  return Math.max(CHARGE_MIN, Math.ceil(missing / 10_000) * 10_000);
}

async function requestPayment(page, method, problem) {
  problem.show("");
  const scheduleId = recall("schedule", page.id) ?? undefined;
  const body = { reservationId: page.id, method, ...(method === "CARD" ? { gateway: "sandbox" } : {}) };
  try {
    const payment = await act("/api/payment/request", body, { scheduleId });
    keep("payment", page.id, payment.paymentId);
    keep("paying", payment.paymentId, { reservationId: page.id, scheduleId });
    if (method === "CARD") return goToGateway(payment.checkout.url);
    page.go(`#/paid/${payment.paymentId}`);
  } catch (error) {
    if (error.status === 401) return page.fail(error);
    problem.show(error.message);
  }
}

/** Gateways are on our own origin (the sandbox) or https, and nothing else. */
function goToGateway(url) {
  const target = new URL(url, location.href);
  const isSafe = target.origin === location.origin || target.protocol === "https:";
  if (!isSafe) throw new Error(`not a payment page: ${url}`);
  location.assign(target.href);
}

function releaseButton(page, problem) {
  const button = el("button", { class: "link", type: "button" }, t("release"));
  button.addEventListener("click", () => {
    if (!confirm(t("releaseSure"))) return;
    whileBusy(button, async () => {
      const scheduleId = recall("schedule", page.id) ?? undefined;
      try {
        await remove(`/api/booking/seats/release?reservationId=${page.id}`, { scheduleId });
        page.go(scheduleId ? `#/seats/${scheduleId}` : "#/");
      } catch (error) {
        problem.show(error.message);
      }
    });
  });
  return button;
}

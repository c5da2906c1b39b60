// After the pay button: confirms the payment, shows what is known, and never pays twice. For seats,
// and for wallet charges through a gateway.

import { act, get, Problem } from "../../shared/app/api.js";
import { pause } from "../../shared/app/clock.js";
import { el } from "../../shared/ui/dom.js";
import { won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { keep, recall } from "../../shared/app/session.js";
import { showDeposit } from "./deposit.js";
import { declineWords, noteDecline } from "./declines.js";
import { showBooked } from "./done.js";
import { rememberMethod } from "./methods.js";

const POLL_MS = 2_000;

/** Another tab or an earlier attempt is confirming: the payment itself shows the outcome. */
const ALREADY = ["PAYMENT_RUNNING", "ALREADY_PAID", "PAYMENT_OVER", "IDEMPOTENCY_KEY_RUNNING"];

/** What differs: where to read it, how to confirm it, the name of the confirmation. */
const SEATS = { path: (id) => `/api/payment/${id}`, confirm: "/api/payment/confirm", name: "paymentId" };
const WALLET = { path: (id) => `/api/wallet/charge/${id}`, confirm: "/api/wallet/charge/confirm", name: "chargeId" };

export async function paid(page) {
  page.main.className = "narrow";
  showWait(page, t("paymentChecking"));
  follow(page).catch(page.fail);
}

/** The stored payment decides what to do, so a reload continues where the page was. */
async function follow(page) {
  let payment = await look(page);
  const isNew = payment.status !== "CAPTURED";
  while (["READY", "REQUESTED", "UNKNOWN"].includes(payment.status)) {
    const mayConfirm = payment.method === "WALLET" || page.query.get("paymentKey");
    if (payment.status === "READY" && !mayConfirm) return showNotPaid(page, payment);
    payment = payment.status === "READY" ? await confirm(page, payment) : await askAgain(page, payment);
  }
  const reservationId = reservationOf(page, payment);
  if (payment.status === "AWAITING_DEPOSIT") return showDeposit(page, { ...payment, id: page.id }, reservationId);
  if (payment.status !== "CAPTURED" || subject(page) === WALLET) return showOutcome(page, payment);
  const { method, gateway } = recall("paying", page.id) ?? payment;
  rememberMethod({ method, gateway });
  await showBooked(page, { reservationId, amount: payment.amount, isNew }).catch((error) => {
    // The payment is what counts: it is confirmed even if the show can't be read right now.
    if (!(error instanceof Problem) || error.status === 401) throw error;
    showOutcome(page, payment);
  });
}

function reservationOf(page, payment) {
  return payment.reservation?.id ?? payment.reservationId ?? recall("paying", page.id)?.reservationId;
}

async function askAgain(page, payment) {
  showWait(page, t("paymentUnknown"));
  await pause(payment.pollAfterMs ?? POLL_MS, page.signal);
  return look(page);
}

function subject(page) {
  return recall("charging", page.id) ? WALLET : SEATS;
}

function options(page) {
  return { scheduleId: recall("paying", page.id)?.scheduleId, signal: page.signal };
}

/** Reads the payment, and retries through lost connections. */
async function look(page) {
  for (;;) {
    try {
      return await get(subject(page).path(page.id), options(page));
    } catch (error) {
      // Another tab started it: only the server knows that it is a wallet charge.
      if (error.status === 404 && subject(page) === SEATS) {
        keep("charging", page.id, { back: "#/me" });
        continue;
      }
      const mayPass = error instanceof Problem && error.isOpen && error.status !== 401;
      if (!mayPass) throw error;
      showWait(page, t("paymentOffline"));
      await pause(Math.max(POLL_MS, error.retryAfterMs), page.signal);
    }
  }
}

async function confirm(page, payment) {
  const paymentKey = page.query.get("paymentKey") ?? undefined;
  const { confirm: path, name } = subject(page);
  const body = { [name]: page.id, paymentKey, amount: payment.amount };
  try {
    const answer = await act(path, body, { scheduleId: options(page).scheduleId });
    return { ...payment, status: "CAPTURED", ...answer };
  } catch (error) {
    if (error.code === "PAYMENT_DECLINED") return { ...payment, status: "FAILED", why: declineWords(error.body.reason) };
    // Without a connection, it is unknown whether the call arrived. Reads the payment; if it is
    // still untouched, repeats the same call with the same idempotency key, which cannot pay twice.
    if (error.status === 0 || 500 <= error.status) return lookLater(page, t("paymentOffline"));
    if (ALREADY.includes(error.code)) return lookLater(page, t("paymentChecking"));
    // The payment is untouched and the seats are still held: back to the payment options.
    if (error instanceof Problem && error.status !== 401) return { ...payment, status: "REFUSED", why: error.message };
    throw error;
  }
}

async function lookLater(page, words) {
  showWait(page, words);
  await pause(POLL_MS, page.signal);
  return look(page);
}

function showWait({ main }, words) {
  if (main.querySelector("[data-words]")?.textContent === words) return;
  main.replaceChildren(
    el("div", { class: "card pad stack" },
      el("h1", {}, t("payment")),
      el("progress", { "aria-label": t("payment") }),
      el("p", { role: "status", "data-words": "" }, words)));
}

function showNotPaid(page, payment) {
  show(page, { payment, kind: "warn", title: t("notPaidYet"), words: t("notPaidYetHow") });
}

function showOutcome(page, payment) {
  const outcomes = {
    CAPTURED: subject(page) === WALLET
      ? { kind: "ok", title: t("chargedTitle"), words: t("chargedWords", won(payment.amount, payment.currency)) }
      : { kind: "ok", title: t("paidTitle"), words: t("paidPlain", won(payment.amount, payment.currency)) },
    FAILED: { kind: "danger", title: t("declined"), words: payment.why ?? t("declinedWords") },
    REFUSED: { kind: "danger", title: t("declined"), words: payment.why },
    CANCELED: payment.deposit
      ? { kind: "warn", title: t("depositMissed"), words: t("depositMissedWords") }
      : { kind: "warn", title: t("paymentCanceled"), words: t("declinedWords") },
    REFUND_DUE: { kind: "warn", title: t("refundDue"), words: t("refundDueWords", won(payment.amount, payment.currency)) },
    REFUNDED: { kind: "ok", title: t("refunded"), words: t("refundedWords") },
    PARTIALLY_REFUNDED: { kind: "ok", title: t("refunded"), words: t("refundedWords") },
  };
  const outcome = outcomes[payment.status] ?? { kind: "warn", title: t("payment"), words: t("troubleUnknown") };
  if (outcome.kind === "danger") noteDecline(reservationOf(page, payment), outcome.words);
  show(page, { payment, ...outcome });
}

function show(page, { payment, kind, title, words }) {
  const { main, id } = page;
  const charging = recall("charging", id);
  const reservationId = reservationOf(page, payment);
  const onward = (href, words) => el("a", { class: "btn primary", href }, words);
  const ofSeats = () => (reservationId && payment.status !== "CAPTURED" ? onward(`#/checkout/${reservationId}`, t("backToCheckout")) : onward("#/tickets", t("myTickets")));
  const next = charging ? onward(charging.back, t("goOn")) : ofSeats();
  const heading = el("h1", { tabindex: "-1" }, title);
  main.replaceChildren(
    el("div", { class: "card pad stack" },
      heading,
      el("p", { class: `note ${kind}`, role: kind === "danger" ? "alert" : "status" }, words),
      kind === "danger" ? el("p", { class: "quiet" }, t("declinedWords")) : null,
      next));
  document.title = `${title} — podo`;
  heading.focus();
}

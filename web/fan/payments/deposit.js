// A payment to a virtual account: where to pay and until when, giving it up, and the bank account
// that a refund goes to.

import { act, call, get } from "../../shared/app/api.js";
import { every, msUntil, pause } from "../../shared/app/clock.js";
import { user } from "../../shared/app/session.js";
import { ask } from "../../shared/ui/dialog.js";
import { announce, el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { countdown, moment, usePlace, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";

const POLL_MS = 3_000;
const DAY_MS = 86_400_000;

const BANKS = ["KDB", "IBK", "KOOKMIN", "SUHYUP", "NONGHYUP", "LOCAL_NONGHYUP", "WOORI", "STANDARD_CHARTERED", "CITI", "DAEGU", "BUSAN", "KWANGJU",
  "JEJU", "JEONBUK", "KYONGNAM", "KFCC", "SHINHYUP", "SAVINGS_BANK", "POST", "HANA", "SHINHAN", "K_BANK", "KAKAO", "TOSS"];

/** A gateway may name a bank that isn't on our list. */
const bankName = (bank) => (BANKS.includes(bank) ? t(`bank${bank}`) : bank);

/** Where to pay. Follows the payment until the deposit is there or the order has ended. */
export function showDeposit(page, payment, reservationId) {
  usePlace({ currency: payment.currency });
  const received = el("p", { class: "note warn num", role: "status", hidden: true });
  const heading = el("h1", { tabindex: "-1" }, t("depositTitle"));
  page.main.className = "narrow";
  page.main.replaceChildren(
    el("section", { class: "card pad stack deposit" },
      heading,
      el("p", {}, t("depositWords")),
      el("dl", { class: "facts num" },
        fact("depositAmount", el("b", {}, won(payment.deposit.amount))),
        fact("depositBank", bankName(payment.deposit.bank)),
        fact("depositNumber", el("b", {}, payment.deposit.accountNumber), copyButton(payment.deposit.accountNumber)),
        payment.deposit.holder ? fact("depositHolder", payment.deposit.holder) : null,
        fact("depositDue", moment(payment.deposit.dueAt))),
      timer(page, payment.deposit.dueAt),
      received,
      el("p", { class: "quiet" }, t("depositNote")),
      el("div", { class: "row" },
        el("a", { class: "btn primary", href: "#/me" }, t("depositLater")),
        payment.gateway === "sandbox" ? el("a", { class: "btn", href: bankPage(payment) }, t("depositPractice")) : null),
      giveUpButton(page, payment, reservationId)));
  document.title = `${t("depositTitle")} — podo`;
  heading.focus();
  follow(page, payment, received).catch((error) => {
    if (error.name !== "AbortError") page.fail(error);
  });
}

function fact(key, ...content) {
  return el("div", { class: "row apart" }, el("dt", {}, t(key)), el("dd", { class: "row" }, content));
}

function copyButton(text) {
  if (!navigator.clipboard) return null;
  const copy = el("button", { class: "btn small", type: "button" }, t("copy"));
  copy.addEventListener("click", () => whileBusy(copy, async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = t("copied");
    announce(t("copied"));
  }));
  return copy;
}

/** On the last day it counts down; before that the date says enough. */
function timer(page, dueAt) {
  const clock = el("b", { class: "num", role: "timer", "aria-label": t("depositLeft") });
  const box = el("div", { class: "timer hold" }, el("span", {}, t("depositLeft")), clock);
  every(1_000, page.signal, () => {
    const left = msUntil(dueAt);
    box.hidden = DAY_MS < left;
    clock.textContent = left ? countdown(left) : t("depositOver");
  });
  return box;
}

/** The practice page of the sandbox, where anybody can play the bank. */
function bankPage(payment) {
  const orderId = payment.id.replaceAll("-", "");
  return `/pay/sandbox?orderId=${orderId}&amount=${payment.deposit.amount}&method=VIRTUAL_ACCOUNT&deposit=1`;
}

async function follow(page, payment, received) {
  for (;;) {
    const now = await get(`/api/payment/${payment.id}`, { signal: page.signal }).catch((error) => {
      if (error.name === "AbortError" || error.status === 401) throw error;
      return payment;
    });
    if (now.status !== "AWAITING_DEPOSIT") return page.again();
    received.hidden = !now.deposit.received;
    const missing = now.deposit.amount - now.deposit.received;
    const words = t("depositPart", won(now.deposit.received), won(missing));
    if (received.textContent !== words) received.textContent = words;
    await pause(POLL_MS, page.signal);
  }
}

function giveUpButton(page, payment, reservationId) {
  const giveUp = async () => {
    const done = await ask({
      title: t("depositCancel"),
      content: el("p", {}, t("depositCancelSure")),
      yes: t("depositCancel"),
      isDanger: true,
      act: () => act(`/api/payment/${payment.id}/deposit/cancel`, {}),
    });
    if (!done) return;
    if (done.status === "CANCELED") return page.go("#/me");
    page.go(done.status === "REFUND_DUE" ? `#/refund-account/${reservationId}` : location.hash);
    page.again();
  };
  return el("button", { class: "link", type: "button", onclick: giveUp }, t("depositCancel"));
}

/** Leads to the form, if a refund of this booking waits for a bank account. */
export function refundAccountNote({ id, needsRefundAccount }) {
  if (!needsRefundAccount) return null;
  return el("p", { class: "note warn" }, el("a", { href: `#/refund-account/${id}` }, t("refundAccountNeeded")));
}

export async function refundAccount(page) {
  if (!user()) return page.login();
  const reservation = await get(`/api/booking/reservations/${page.id}`, { signal: page.signal });
  page.main.className = "narrow";
  if (!reservation.depositPaymentId) {
    return page.main.replaceChildren(el("p", { class: "note" }, t("refundAccountNone")));
  }
  const path = `/api/payment/${reservation.depositPaymentId}/refund-account`;
  const known = await get(path, { signal: page.signal });
  page.main.replaceChildren(el("section", { class: "card pad stack" },
    el("h1", {}, t("refundAccountTitle")),
    el("p", {}, t("refundAccountWords")),
    known.account
      ? el("p", { class: "note ok num" }, t("refundAccountKnown", bankName(known.account.bank), known.account.lastDigits, known.account.holder))
      : null,
    accountForm(page, path)));
}

function accountForm(page, path) {
  const problem = problemBox();
  const save = el("button", { class: "btn primary wide" }, t("refundAccountSave"));
  const form = el("form", { class: "stack" },
    el("label", { class: "field" }, t("depositBank"),
      el("select", { name: "bank", required: true }, el("option", { value: "" }, t("refundAccountBank")),
        BANKS.map((bank) => el("option", { value: bank }, t(`bank${bank}`))))),
    el("label", { class: "field" }, t("depositNumber"),
      el("input", { name: "number", required: true, inputmode: "numeric", autocomplete: "off", maxlength: 24 })),
    el("label", { class: "field" }, t("depositHolder"), el("input", { name: "holder", required: true, autocomplete: "name", maxlength: 50 })),
    problem.element,
    save,
    el("p", { class: "quiet" }, t("refundAccountPrivacy")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    problem.show("");
    whileBusy(save, async () => {
      try {
        await call("PUT", path, { body: Object.fromEntries(new FormData(form)) });
        announce(t("refundAccountSaved"));
        page.again();
      } catch (error) {
        problem.show(error.body?.errors?.map(({ detail }) => detail).join(" ") || error.message);
      }
    });
  });
  return form;
}

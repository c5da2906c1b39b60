// Tickets: the QR code, transfers, and cancellation with a refund preview.

import { act, get, remove } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { moment, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { user } from "../../shared/app/session.js";
import { posterOfDate } from "../catalog/poster.js";
import { calendarButton, pdfButton, walletButtons } from "./calendar.js";
import { changeCard } from "./changes.js";
import { showCode } from "./code.js";
import { resaleButton, resaleCard } from "./resale.js";
import { refundAccountNote } from "../payments/deposit.js";
import { gradeWords } from "../payments/order.js";
import { refundTerms } from "../payments/refunds.js";

export async function tickets(page) {
  if (!user()) return page.login();
  const [owned, reservations, offers, changes, resales, wallets] = await Promise.all([
    get("/api/tickets?limit=100", { signal: page.signal }),
    get("/api/booking/reservations?limit=50", { signal: page.signal }),
    get("/api/users/me/offers", { signal: page.signal }),
    get("/api/booking/changes", { signal: page.signal }),
    get("/api/users/me/resales", { signal: page.signal }),
    get("/api/tickets/wallets", { signal: page.signal }),
  ]);
  const open = reservations.items.filter((it) => ["HELD", "PAYING"].includes(it.status));
  const groups = new Map();
  for (const ticket of owned.items) groups.set(ticket.reservationId, [...(groups.get(ticket.reservationId) ?? []), ticket]);
  page.main.replaceChildren(
    el("div", { class: "stack loose" },
      el("h1", {}, t("myTickets")),
      open.map((it) => el("p", { class: "note warn" }, el("a", { href: `#/checkout/${it.id}` }, t(it.depositPaymentId ? "depositUnfinished" : "unfinished")))),
      reservations.items.map(refundAccountNote),
      emailHint(page),
      offers.items.length ? offersCard(page, offers.items) : null,
      resales.offered.length ? resaleCard(page, resales.offered) : null,
      owned.items.length ? null : nothing(),
      [...groups].map(([id, list]) => bookingCard(page, list, {
        reservation: reservations.items.find((it) => it.id === id),
        change: changes.items.find((it) => it.reservationId === id),
        listings: resales.listed,
        wallets,
      }))));
}

/**
 * Offers are shown only to accounts with a confirmed address: explains this where confirming is
 * possible. The tickets don't wait for it.
 */
function emailHint(page) {
  const hint = el("p", { class: "note", hidden: true }, el("a", { href: "#/me" }, t("offersNeedEmail")));
  const options = { signal: page.signal };
  Promise.all([get("/api/users/me", options), get("/api/auth/options", options)]).then(([profile, { confirmEmail: canMail }]) => {
    hint.hidden = !profile.email || profile.emailVerified || !canMail;
  }).catch(() => null);
  return hint;
}

/** Tickets offered to this account's address. */
function offersCard(page, offers) {
  const item = (offer) => {
    const problem = problemBox();
    const button = el("button", { class: "btn primary", type: "button" }, t("transferAccept"));
    button.addEventListener("click", () => whileBusy(button, async () => {
      try {
        await act(`/api/tickets/${offer.ticketId}/accept`, {});
        page.again();
      } catch (error) {
        problem.show(error.message);
      }
    }));
    return el("li", { class: "stack tight" },
      el("b", {}, offer.eventTitle),
      el("span", { class: "quiet num" }, `${moment(offer.startsAt, offer.timeZone)} · ${offer.venueName} · ${t("seatName", offer.seatNumber)} · ${offer.grade}`),
      el("span", { class: "quiet num" }, t("offerUntil", moment(offer.expiresAt, offer.timeZone))),
      problem.element,
      el("div", { class: "row" }, button));
  };
  return el("section", { class: "card pad stack" }, el("h2", {}, t("sentToYou")), el("ul", { class: "stack" }, offers.map(item)));
}

function nothing() {
  return el("div", { class: "card pad stack center-text" },
    el("p", { class: "quiet" }, t("noTickets")),
    el("p", {}, el("a", { class: "btn primary", href: "#/" }, t("toEvents"))));
}

function bookingCard(page, list, { reservation, change, listings, wallets }) {
  const [first] = list;
  const isLive = list.some((it) => it.status === "VALID");
  const isMine = reservation?.status === "CONFIRMED";
  return el("section", { class: "card booking", "aria-label": `${first.eventTitle} ${first.bookingNumber}` },
    el("div", { class: "head" },
      posterOfDate(first),
      el("div", { class: "grow" },
        el("h2", {}, first.eventTitle),
        el("p", { class: "quiet num" }, `${moment(first.startsAt, first.timeZone)} · ${first.venueName}`),
        el("p", { class: "quiet num" }, `${t("bookingNumber")} ${first.bookingNumber}`)),
      isLive ? el("div", { class: "row" }, calendarButton(first)) : null),
    change && isLive ? el("div", { class: "pad" }, changeCard(page, change, reservation)) : null,
    ticketStack(inSeatOrder(list).map((ticket) => ticketItem(page, ticket, { listings: isMine ? listings : null, wallets })), first.eventTitle),
    isLive && isMine ? refundRules(reservation) : null,
    isLive && isMine ? el("div", { class: "pad row foot" },
      el("button", { class: "btn danger", type: "button", onclick: () => cancel(page, reservation, list) }, t("cancelReservation"))) : null);
}

/** Seat 9 before seat 10. */
function inSeatOrder(list) {
  return [...list].sort((a, b) => a.seatNumber.localeCompare(b.seatNumber, "en", { numeric: true }));
}

/** On a phone a stack to swipe, which says which ticket is in front; with the keyboard it scrolls. */
function ticketStack(items, title) {
  const stack = el("ul", { class: "tickets pad", ...(1 < items.length ? { tabindex: "0", "aria-label": title } : {}) }, items);
  if (items.length < 2) return stack;
  const counter = el("p", { class: "swipe num", "aria-hidden": "true" }, t("counter", 1, items.length));
  stack.addEventListener("scroll", () => {
    const at = Math.round((stack.scrollLeft / Math.max(1, stack.scrollWidth - stack.clientWidth)) * (items.length - 1));
    counter.textContent = t("counter", at + 1, items.length);
  }, { passive: true });
  return [stack, counter];
}

/** The policy under which this booking was made, loaded when it is opened. */
function refundRules(reservation) {
  const body = el("div", { role: "status" });
  const details = el("details", { class: "more pad" }, el("summary", {}, t("refundRules")), body);
  details.addEventListener("toggle", async () => {
    try {
      const { policy, periods } = await get(`/api/booking/reservations/${reservation.id}/refund`);
      body.replaceChildren(refundTerms(policy, periods));
    } catch (error) {
      body.replaceChildren(error.message);
    }
  }, { once: true });
  return details;
}

/** `listings` are absent for a ticket that the fan didn't buy. */
function ticketItem(page, ticket, { listings, wallets }) {
  const code = el("div", { class: "code" });
  const isValid = ticket.status === "VALID";
  if (isValid) showCode(page, ticket, code);
  // A used ticket stays readable: its holder looks for the seat now.
  const state = { VALID: "ticket", USED: "ticket used" }[ticket.status] ?? "ticket over";
  return el("li", { class: state },
    el("div", { class: "stub" }, el("b", { class: "num" }, t("seatName", ticket.seatNumber)), el("span", { class: "quiet" }, gradeWords(ticket))),
    isValid ? code : el("span", { class: "badge" }, t(ticket.status === "USED" ? "ticketUsed" : "ticketOver")),
    isValid ? el("div", { class: "row center" },
      el("a", { class: "btn small primary", href: `#/tickets/${ticket.id}/full` }, icon("ticket"), t("ticketFull")),
      el("a", { class: "btn small", href: `#/tickets/${ticket.id}` }, icon("print"), t("print")),
      pdfButton(ticket),
      walletButtons(ticket, wallets),
      ticket.transferable
        ? el("button", { class: "btn small", type: "button", onclick: () => transfer(page, ticket) }, icon("send"), t("transfer"))
        : el("small", { class: "quiet" }, t("transferOff")),
      listings ? resaleButton(page, ticket, listings.find((it) => it.ticketId === ticket.id)) : null) : null,
    isValid && ticket.offeredUntil ? pendingOffer(page, ticket) : null);
}

function pendingOffer(page, ticket) {
  const withdraw = el("button", { class: "link", type: "button" }, t("transferWithdraw"));
  withdraw.addEventListener("click", () => whileBusy(withdraw, async () => {
    // If the offer was accepted or has expired in the meantime, the list shows it.
    await remove(`/api/tickets/${ticket.id}/transfer`).catch(() => null);
    page.again();
  }));
  return el("p", { class: "quiet num center-text" }, t("transferPending", moment(ticket.offeredUntil, ticket.timeZone)), " ", withdraw);
}

async function transfer(page, ticket) {
  const done = await ask({
    title: t("transfer"),
    content: el("div", { class: "stack" },
      el("p", {}, t("transferWords", t("seatName", ticket.seatNumber))),
      el("label", { class: "field" }, t("transferTo"), el("input", { name: "email", type: "email", required: true }))),
    yes: t("transfer"),
    act: (form) => act(`/api/tickets/${ticket.id}/transfer`, { email: form.get("email") }),
  });
  if (done) page.again();
}

/**
 * Loads a new refund preview whenever the selected seats change. The buyer cannot cancel seats
 * whose tickets were transferred.
 */
async function cancel(page, reservation, tickets) {
  const quote = el("p", { class: "note num", role: "status" }, t("loading"));
  const isOwn = (seat) => tickets.some((it) => it.seatNumber === seat.number && it.status === "VALID");
  const boxes = reservation.seats.filter(isOwn).map((seat) => el("label", { class: "choice" },
    el("input", { type: "checkbox", name: "seat", value: seat.id, checked: true }), el("span", {}, `${t("seatName", seat.number)} · ${won(seat.price, reservation.currency)}`)));
  const content = el("div", { class: "stack" }, boxes, quote,
    el("label", { class: "field" }, t("refundTo"),
      el("select", { name: "refundTo" }, el("option", { value: "ORIGINAL" }, t("toOriginal")), el("option", { value: "WALLET" }, t("toWallet")))));
  const chosen = () => [...content.querySelectorAll("input:checked")].map((it) => it.value);
  const preview = async () => {
    if (!chosen().length) return (quote.textContent = t("chooseSome"));
    try {
      const found = await get(`/api/booking/reservations/${reservation.id}/refund?seatIds=${chosen().join(",")}`);
      quote.textContent = [
        found.feeAmount
          ? t("refundQuoteFixed", won(found.refundAmount, reservation.currency), won(found.fee, reservation.currency))
          : t("refundQuote", won(found.refundAmount, reservation.currency), won(found.fee, reservation.currency), found.feePercent),
        found.feesKept ? t("refundFeesKept", won(found.feesKept, reservation.currency)) : "",
      ].join(" ");
    } catch (error) {
      quote.textContent = error.message;
    }
  };
  content.addEventListener("change", preview);
  preview();
  let answer = null;
  await ask({
    title: t("cancelReservation"),
    content,
    yes: t("cancelYes"),
    isDanger: true,
    act: async (form) => {
      const seatIds = chosen();
      if (!seatIds.length) throw new Error(t("chooseSome"));
      const body = { reason: t("cancelReason"), refundTo: form.get("refundTo"), ...(seatIds.length < reservation.seats.length ? { seatIds } : {}) };
      answer = await act(`/api/booking/reservations/${reservation.id}/cancel`, body);
    },
  });
  if (!answer) return;
  await ask({ title: t("cancelReservation"), content: el("p", { class: "note ok", role: "status" }, t("canceledRefund", won(answer.refundAmount, answer.currency))), yes: t("fine"), isNotice: true });
  const needsAccount = reservation.depositPaymentId && answer.refundTo === "ORIGINAL" && answer.status === "REFUND_DUE";
  if (needsAccount) return page.go(`#/refund-account/${reservation.id}`);
  page.again();
}

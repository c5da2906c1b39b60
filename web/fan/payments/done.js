// The booking is complete: the show, the seats, the booking number, and what comes next.

import { get } from "../../shared/app/api.js";
import { announce, el, icon, whileBusy } from "../../shared/ui/dom.js";
import { calendarDay, moment, usePlace, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { poster } from "../catalog/poster.js";
import { calendarButton } from "../tickets/calendar.js";
import { gradeWords, orderLines } from "./order.js";
import { periodsOf } from "./refunds.js";
import { bookingSteps } from "./steps.js";

const GRAPES = 12;

/** `isNew` is false when an old payment's page is opened again. */
export async function showBooked(page, { reservationId, amount, isNew }) {
  const options = { signal: page.signal };
  const booking = await get(`/api/booking/reservations/${reservationId}`, options);
  const [schedule, owned] = await Promise.all([
    get(`/api/schedules/${booking.scheduleId}`, { ...options, isPublic: true }),
    get("/api/tickets?limit=100", options),
  ]);
  usePlace(schedule);
  const event = await get(`/api/events/${schedule.eventId}`, { ...options, isPublic: true });
  const tickets = owned.items.filter((it) => it.reservationId === reservationId);
  const heading = el("h1", { tabindex: "-1" }, t("paidTitle"), " ", el("span", {}, t("paidFor", event.artist)));
  page.main.className = "";
  page.main.replaceChildren(
    bookingSteps(2),
    el("section", { class: "done" },
      isNew ? el("div", { class: "fall", "aria-hidden": "true" }, Array.from({ length: GRAPES }, () => el("i", {}))) : null,
      el("div", { class: "stack" },
        el("span", { class: "tick", "aria-hidden": "true" }, icon("check")),
        heading,
        el("p", { class: "quiet", role: "status" }, t("paidWords", booking.seats.length, won(amount))),
        booking.bookingNumber ? numberBox(booking.bookingNumber) : null,
        el("div", { class: "row" },
          el("a", { class: "btn primary", href: "#/tickets" }, icon("ticket"), t("myTickets")),
          tickets.length ? calendarButton(tickets[0]) : null,
          el("a", { class: "btn small", href: `#/receipt/${reservationId}` }, t("receipt")))),
      showCard(event, schedule, booking)),
    nextSteps(event, schedule));
  document.title = `${t("paidTitle")} — podo`;
  heading.focus();
}

function numberBox(number) {
  const copy = el("button", { class: "btn small", type: "button" }, t("copy"));
  copy.addEventListener("click", () => whileBusy(copy, async () => {
    await navigator.clipboard.writeText(number);
    copy.textContent = t("copied");
    announce(t("copied"));
  }));
  return el("p", { class: "number card" }, el("span", { class: "quiet" }, t("bookingNumber")), el("b", { class: "num" }, number), navigator.clipboard ? copy : null);
}

function showCard(event, schedule, booking) {
  return el("section", { class: "card stub-card", "aria-label": event.title },
    el("div", { class: "art" }, poster(event, "poster wide"),
      el("div", { class: "over-art" }, el("h2", {}, event.title),
        el("p", { class: "num" }, moment(schedule.startsAt)),
        el("p", {}, `${event.venueName} · ${event.hallName}`))),
    el("ul", { class: "lines pad num" }, booking.seats.map((seat) =>
      el("li", {}, el("b", {}, t("seatName", seat.number)), el("span", { class: "quiet" }, gradeWords(seat))))),
    booking.lines.some((line) => line.kind !== "TICKET") ? el("div", { class: "pad" }, orderLines(booking.lines)) : null);
}

function nextSteps(event, schedule) {
  const periods = periodsOf(event, schedule.id);
  const free = periods.find(({ feePercent }) => !feePercent);
  const cancel = free ? t("nextCancel", calendarDay(free.until)) : t(periods.length ? "refundRules" : "nextCancelAny");
  const card = (picture, title, words) => el("li", { class: "card pad stack tight" }, icon(picture), el("b", {}, title), el("p", { class: "quiet" }, words));
  return el("section", { class: "stack", "aria-label": t("nextTitle") },
    el("h2", {}, t("nextTitle")),
    el("ul", { class: "next-steps" },
      card("ticket", t("nextGate"), t("nextGateWords")),
      card("clock", cancel, t("nextCancelWords")),
      event.transferable ? card("send", t("nextTransfer"), t("nextTransferWords")) : card("shield", t("nextNoTransfer"), t("transferOff"))));
}

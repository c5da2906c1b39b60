// The fan's bookings: the next show first, then what is ahead, over and canceled; and the queues they
// are in.

import { get } from "../../shared/app/api.js";
import { serverNow } from "../../shared/app/clock.js";
import { el, icon } from "../../shared/ui/dom.js";
import { localIn, moment, showTime, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { posterOfDate } from "../catalog/poster.js";

const OPEN = ["HELD", "PAYING"];
const DAY_MS = 86_400_000;

/** The shows by their ids, without those that are no longer published. */
export async function showsOf(items, signal) {
  const ids = [...new Set(items.map(({ scheduleId }) => scheduleId))];
  const found = await Promise.all(ids.map((id) => get(`/api/schedules/${id}`, { signal, isPublic: true }).catch(() => null)));
  return new Map(found.filter(Boolean).map((it) => [it.id, it]));
}

/** Open and confirmed bookings of shows to come, in their order; then the rest. */
export function sortBookings(reservations, shows) {
  const startOf = (it) => Date.parse(shows.get(it.scheduleId)?.startsAt ?? 0);
  const isLive = (it) => OPEN.includes(it.status) || it.status === "CONFIRMED";
  const live = reservations.filter(isLive);
  return {
    ahead: live.filter((it) => serverNow() < startOf(it)).sort((a, b) => startOf(a) - startOf(b)),
    past: live.filter((it) => startOf(it) <= serverNow()),
    canceled: reservations.filter((it) => !isLive(it)),
  };
}

/** The next show, with its poster and the way to its tickets. */
export async function nextShow({ signal }, booking, shows) {
  const schedule = shows.get(booking.scheduleId);
  const event = await get(`/api/events/${schedule.eventId}`, { signal, isPublic: true }).catch(() => null);
  return el("section", { class: "next-show", "aria-label": schedule.eventTitle },
    posterOfDate(schedule, "poster tall"),
    el("div", { class: "stack tight" },
      el("span", { class: "badge" }, t("daysLeft", daysUntil(schedule))),
      el("h2", {}, schedule.eventTitle),
      el("p", { class: "num" }, [moment(schedule.startsAt, schedule.timeZone), event?.venueName].filter(Boolean).join(" · ")),
      el("p", { class: "num" }, seatsOf(booking)),
      el("div", { class: "row" }, el("a", { class: "btn light", href: "#/tickets" }, icon("ticket"), t("openTickets")))));
}

/** Calendar days where the venue is, as people count them. */
function daysUntil({ startsAt, timeZone }) {
  const day = (time) => Date.parse(`${localIn(time, timeZone).slice(0, 10)}T00:00Z`) / DAY_MS;
  return day(startsAt) - day(serverNow());
}

function seatsOf(booking) {
  return booking.seats.map((seat) => t("seatName", seat.number)).join(", ");
}

export function bookingsCard({ ahead, past, canceled }, shows) {
  const list = (items) => el("ul", { class: "bookings num" }, items.map((it) => line(it, shows)));
  const folded = (key, items) => (items.length ? el("details", { class: "more" }, el("summary", {}, t(key, items.length)), list(items)) : null);
  return el("section", { class: "card pad stack" },
    el("div", { class: "row apart" }, el("h2", {}, t("bookings")), el("a", { href: "#/tickets" }, t("myTickets"))),
    ahead.length ? list(ahead) : el("p", { class: "quiet" }, t("noBookings"), " ", el("a", { href: "#/" }, t("toEvents"))),
    folded("bookingsPast", past),
    folded("bookingsCanceled", canceled));
}

function line(it, shows) {
  const show = shows.get(it.scheduleId);
  return el("li", {},
    posterOfDate(show ?? { scheduleId: it.scheduleId }),
    el("span", { class: "grow" },
      show ? el("b", {}, show.eventTitle) : null,
      el("span", { class: "detail" }, show ? showTime(show.startsAt, show.timeZone) : "", " · ", seatsOf(it)),
      el("small", { class: "quiet" }, [it.bookingNumber, won(it.amount, it.currency)].filter(Boolean).join(" · "))),
    OPEN.includes(it.status)
      ? el("a", { class: "btn small brand", href: `#/checkout/${it.id}` }, t(it.depositPaymentId ? "depositView" : "goOnPaying"))
      : el("span", { class: it.status === "CONFIRMED" ? "badge ok" : "badge" }, t(`booking${it.status}`)),
    it.bookingNumber ? el("a", { class: "btn small", href: `#/receipt/${it.id}` }, t("receipt")) : null,
    it.needsRefundAccount ? el("a", { class: "btn small brand", href: `#/refund-account/${it.id}` }, t("refundAccountTitle")) : null);
}

/** Leads returning fans back to their place: those who wait, and those who may already choose. */
export function linesNote(places, shows) {
  const open = places.filter(({ state, scheduleId }) => ["LOBBY", "WAITING", "ACTIVE"].includes(state) && shows.has(scheduleId));
  const words = { LOBBY: "stillInLobby", WAITING: "stillInLine", ACTIVE: "stillInside" };
  return open.map(({ scheduleId, state }) => el("p", { class: state === "ACTIVE" ? "note ok" : "note" },
    el("a", { href: `#/queue/${scheduleId}` }, t(words[state], shows.get(scheduleId).eventTitle))));
}

// The fan's bookings, and the queues they are in.

import { get } from "../../shared/app/api.js";
import { el } from "../../shared/ui/dom.js";
import { moment, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";

const OPEN = ["HELD", "PAYING"];

/** The shows by their ids, without those that are no longer published. */
export async function showsOf(items, signal) {
  const ids = [...new Set(items.map(({ scheduleId }) => scheduleId))];
  const found = await Promise.all(ids.map((id) => get(`/api/schedules/${id}`, { signal, isPublic: true }).catch(() => null)));
  return new Map(found.filter(Boolean).map((it) => [it.id, it]));
}

export function bookingsCard(reservations, shows) {
  const line = (it) => {
    const show = shows.get(it.scheduleId);
    return el("li", {},
      el("span", {},
        show ? el("b", {}, show.eventTitle) : null,
        el("span", { class: "letter" }, it.seats.map((seat) => t("seatName", seat.number)).join(", ")),
        el("small", { class: "quiet" }, it.bookingNumber ?? moment(it.createdAt))),
      el("span", { class: "row end" }, el("b", {}, won(it.amount)),
        OPEN.includes(it.status) ? el("a", { class: "btn small", href: `#/checkout/${it.id}` }, t("goOnPaying")) : el("span", { class: "badge" }, t(`booking${it.status}`))));
  };
  return el("section", { class: "card pad stack" },
    el("div", { class: "row apart" }, el("h2", {}, t("bookings")), el("a", { href: "#/tickets" }, t("myTickets"))),
    reservations.length ? el("ul", { class: "lines num" }, reservations.map(line)) : el("p", { class: "quiet" }, t("noBookings")));
}

/** Leads returning fans back to their place. */
export function linesNote(places, shows) {
  const open = places.filter(({ state, scheduleId }) => ["LOBBY", "WAITING", "ACTIVE"].includes(state) && shows.has(scheduleId));
  return open.map(({ scheduleId }) => el("p", { class: "note" }, el("a", { href: `#/queue/${scheduleId}` }, t("stillInLine", shows.get(scheduleId).eventTitle))));
}

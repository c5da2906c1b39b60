// One booking as support sees it: payments, tickets, notes, and the confirmation again.

import { call, get } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { announce, el, icon } from "../../shared/ui/dom.js";
import { stamp, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { may, user } from "../../shared/app/session.js";
import { badge, card, heading, shortId } from "../form.js";
import { methodWords, seatWords } from "../shell/people.js";
import { facts, notesCard, timelineCard } from "./parts.js";

export async function booking({ main, id, signal }) {
  const path = `/api/admin/support/bookings/${id}`;
  const { reservation, issued, payments, tickets, notes } = await get(path, { signal });
  const timeline = timelineCard(`${path}/timeline`, signal);
  // The customer of the desk has no account that a confirmation could go to.
  const again = reservation.status === "CONFIRMED" && !issued
    ? el("button", { class: "btn brand", type: "button", onclick: () => resend(path, reservation, timeline) }, icon("send"), t("resend"))
    : null;
  main.className = "wide";
  main.replaceChildren(
    heading(reservation.bookingNumber ?? t("supportBooking"), reservation.eventTitle,
      el("a", { class: "btn", href: "#/support" }, t("supportBack")),
      reservation.status === "CONFIRMED" && may("RESEAT_BOOKINGS")
        ? el("a", { class: "btn", href: `#/schedules/${reservation.scheduleId}/reseat?booking=${id}` }, t("reseat"))
        : null,
      again),
    card(t("supportBooking"), null, facts([
      [t("colstatus"), badge(reservation.status)],
      [t(issued ? "deskIssuedBy" : "colfan"), buyer(reservation)],
      ...customer(issued),
      [t("colschedule"), stamp(reservation.startsAt, reservation.timeZone)],
      [t("colseats"), seatWords(reservation.seats)],
      [t("colamount"), won(reservation.amount, reservation.currency)],
      [t("coltime"), stamp(reservation.createdAt)],
    ])),
    card(t("navPayments"), null, payments.length
      ? el("ul", { class: "rows" }, payments.map(paymentRow))
      : el("p", { class: "quiet pad" }, t("supportNoPayments"))),
    tickets.length ? card(t("supportTickets"), null, el("ul", { class: "rows" }, tickets.map((it) => ticketRow(it, issued)))) : null,
    notesCard(notes, `${path}/notes`),
    timeline.element);
  return timeline.reload();
}

/** The customer of an order that an organiser issued, who has no account. */
function customer(issued) {
  if (!issued) return [];
  const { channel, tender, name, phone, note } = issued;
  return [
    [t("deskChannel"), [t(`channel${channel}`), tender ? t(`tender${tender}`) : null].filter(Boolean).join(" · ")],
    [t("deskName"), name],
    [t("deskPhone"), phone],
    [t("allocNote"), note],
  ];
}

/** A role that is limited to events reaches no person's page. */
function buyer({ userId, email }) {
  const name = email ?? shortId(userId);
  return user()?.team?.events ? name : el("a", { href: `#/support/people/${userId}` }, name);
}

function paymentRow(it) {
  return el("li", {},
    el("span", { class: "grow" }, el("a", { href: `#/payments?query=${it.id}` }, shortId(it.id)),
      el("small", { class: "quiet" }, methodWords(it))),
    el("span", { class: "num" }, won(it.amount, it.currency)),
    badge(it.status),
    el("small", { class: "quiet num" }, stamp(it.createdAt)));
}

/** The customer of the desk holds what the organiser who issued it hasn't given to an account. */
function ticketRow(it, issued) {
  const holder = issued && it.userId === issued.actorId ? issued.name : it.email ?? it.userId;
  return el("li", {},
    el("span", { class: "grow" }, el("b", {}, seatWords(it.seatNumber)), el("small", { class: "quiet" }, `${it.grade} · ${holder}`)),
    it.offeredUntil ? el("small", { class: "quiet" }, t("supportOffered", stamp(it.offeredUntil))) : null,
    badge(it.status));
}

async function resend(path, { email }, timeline) {
  const done = await ask({
    title: t("resend"),
    content: el("p", {}, t("resendWords", email ?? "–")),
    yes: t("resend"),
    act: async () => {
      await call("POST", `${path}/resend`, { body: {} });
      return true;
    },
  });
  if (!done) return;
  announce(t("resendDone"));
  await timeline.reload();
}

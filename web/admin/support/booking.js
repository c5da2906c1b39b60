// One booking as support sees it: payments, tickets, notes, and the confirmation again.

import { call, get } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { announce, el, icon } from "../../shared/ui/dom.js";
import { stamp, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { may, user } from "../../shared/app/session.js";
import { badge, card, heading, shortId } from "../form.js";
import { facts, notesCard, timelineCard } from "./parts.js";

export async function booking({ main, id, signal }) {
  const path = `/api/admin/support/bookings/${id}`;
  const { reservation, payments, tickets, notes } = await get(path, { signal });
  const timeline = timelineCard(`${path}/timeline`, signal);
  const again = reservation.status === "CONFIRMED"
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
      [t("colfan"), buyer(reservation)],
      [t("colschedule"), stamp(reservation.startsAt)],
      [t("colseats"), reservation.seats.join(", ")],
      [t("colamount"), won(reservation.amount)],
      [t("coltime"), stamp(reservation.createdAt)],
    ])),
    card(t("navPayments"), null, payments.length
      ? el("ul", { class: "rows" }, payments.map(paymentRow))
      : el("p", { class: "quiet pad" }, t("supportNoPayments"))),
    tickets.length ? card(t("supportTickets"), null, el("ul", { class: "rows" }, tickets.map(ticketRow))) : null,
    notesCard(notes, `${path}/notes`),
    timeline.element);
  return timeline.reload();
}

/** A role that is limited to events reaches no person's page. */
function buyer({ userId, email }) {
  const name = email ?? shortId(userId);
  return user()?.team?.events ? name : el("a", { href: `#/support/people/${userId}` }, name);
}

function paymentRow(it) {
  return el("li", {},
    el("span", { class: "grow" }, el("a", { href: `#/payments?query=${it.id}` }, shortId(it.id)),
      el("small", { class: "quiet" }, it.gateway ?? t({ WALLET: "wallet", BOX_OFFICE: "boxOffice" }[it.method] ?? "cardMethod"))),
    el("span", { class: "num" }, won(it.amount)),
    badge(it.status),
    el("small", { class: "quiet num" }, stamp(it.createdAt)));
}

function ticketRow(it) {
  return el("li", {},
    el("span", { class: "grow" }, el("b", {}, it.seatNumber), el("small", { class: "quiet" }, `${it.grade} · ${it.email ?? it.userId}`)),
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

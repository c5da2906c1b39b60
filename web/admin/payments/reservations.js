// All reservations with their people, by number, state, fan or time.

import { get } from "../../shared/app/api.js";
import { el, icon } from "../../shared/ui/dom.js";
import { moment, showTime, stamp, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { may } from "../../shared/app/session.js";
import { badge, choice, field } from "../form.js";
import { listPage, periodFields } from "../shell/list.js";
import { idFact, methodWords, pairs, person, personLink, seatWords } from "../shell/people.js";
import { refund } from "./payments.js";

const PATH = "/api/admin/reservations";
const STATES = ["HELD", "PAYING", "CONFIRMED", "CANCELED", "EXPIRED", "RELEASED"];
const REFUNDABLE = ["CAPTURED", "PARTIALLY_REFUNDED"];

export function reservations(page) {
  return listPage(page, {
    title: t("navReservations"),
    words: t("reservationsWords"),
    address: "reservations",
    path: PATH,
    name: "reservations",
    hasCsv: true,
    fixed: { userId: page.query.get("user"), scheduleId: page.query.get("schedule") },
    fields: [
      field({ label: t("searchReservation"), name: "query", type: "search" }),
      choice({ label: t("colstatus"), name: "status", options: [["", t("all")], ...STATES.map((it) => [it, t("state", it)])] }),
      ...periodFields(),
    ],
    columns: [
      { head: t("colfan"), cell: (it) => [person(it.person, it.userId), ...deskCustomer(it)] },
      { head: t("colevent"), cell: (it) => [it.eventTitle, el("small", { class: "quiet num block" }, [showTime(it.startsAt, it.timeZone), it.bookingNumber].filter(Boolean).join(" · "))] },
      { head: t("colseats"), cell: (it) => seatWords(it.seats) },
      { head: t("colamount"), isNumber: true, cell: (it) => won(it.amount, it.currency) },
      { head: t("colstatus"), cell: (it) => badge(it.status) },
      { head: t("coltime"), isOrder: true, cell: (it) => el("span", { class: "num" }, stamp(it.createdAt)) },
    ],
    detail: {
      id: (it) => it.id,
      find: async (id) => (await get(`${PATH}?${new URLSearchParams({ query: id })}`, { signal: page.signal })).items[0],
      title: (it) => it.person?.name ?? it.bookingNumber ?? t("supportBooking"),
      draw: (it, again) => bookingPanel(page, it, again),
    },
  });
}

function bookingPanel(page, it, again) {
  const paid = el("ul", { class: "rows" });
  const refundNow = el("span", {});
  paymentsOf(page, it).then((items) => {
    paid.replaceChildren(...items.map((payment) => el("li", {},
      el("span", { class: "grow" }, el("a", { href: `#/payments/${payment.id}` }, won(payment.amount, payment.currency)), el("small", { class: "quiet" }, methodWords(payment))),
      badge(payment.status))));
    const [last] = items.filter(({ status }) => REFUNDABLE.includes(status));
    if (!last || !may("REFUND_PAYMENTS")) return;
    refundNow.append(el("button", { class: "btn stop", type: "button", onclick: () => refund(last, again) }, t("refund")));
  });
  return {
    content: [
      badge(it.status),
      pairs([
        [t("colfan"), personLink(it.person, it.userId)],
        [t("deskName"), it.customer],
        [t("colevent"), `${it.eventTitle} · ${moment(it.startsAt, it.timeZone)}`],
        [t("colseats"), seatWords(it.seats)],
        [t("colamount"), won(it.amount, it.currency)],
        [t("colnumber"), it.bookingNumber],
        [t("coltime"), stamp(it.createdAt)],
        idFact(it.id),
      ]),
      el("h3", {}, t("navPayments")),
      paid,
    ],
    actions: [
      may("SUPPORT_FANS") ? el("a", { class: "btn", href: `#/support/bookings/${it.id}` }, t("showBooking")) : null,
      el("a", { class: "btn", href: `#/payments?query=${it.id}` }, icon("money"), t("showPayments")),
      refundNow,
    ],
  };
}

async function paymentsOf(page, { id }) {
  const { items } = await get(`/api/admin/payments?${new URLSearchParams({ query: id })}`, { signal: page.signal }).catch(() => ({ items: [] }));
  return items;
}

/** The account of an order of the desk is that of the organiser who issued it. */
function deskCustomer({ channel, customer }) {
  return customer ? [el("small", { class: "quiet block" }, `${t(`channel${channel}`)} · ${customer}`)] : [];
}

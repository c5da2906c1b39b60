// All reservations, by number, state or fan.

import { el, icon } from "../../shared/ui/dom.js";
import { stamp, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { csvButton, pagedTable } from "../../shared/ui/table.js";
import { badge, choice, field, heading, shortId } from "../form.js";

const PATH = "/api/admin/reservations";
const STATES = ["HELD", "PAYING", "CONFIRMED", "CANCELED", "EXPIRED", "RELEASED"];

export function reservations({ main, query: asked, signal }) {
  const filters = el("form", { class: "filters" },
    field({ label: t("searchReservation"), name: "query", type: "search", value: asked.get("query") }),
    choice({ label: t("colstatus"), name: "status", options: [["", t("all")], ...STATES.map((it) => [it, t("state", it)])] }));
  const query = () => ({
    ...Object.fromEntries(new FormData(filters)),
    userId: asked.get("user"),
    scheduleId: asked.get("schedule"),
  });
  const table = pagedTable({
    caption: t("navReservations"),
    path: PATH,
    query,
    signal,
    columns: [
      { head: t("colnumber"), cell: (it) => (it.bookingNumber ? el("span", { class: "num" }, it.bookingNumber) : shortId(it.id)) },
      { head: t("coltitle"), cell: (it) => [it.eventTitle, el("br"), el("small", { class: "quiet num" }, stamp(it.startsAt, it.timeZone).slice(0, 16))] },
      { head: t("colseats"), cell: (it) => it.seats.join(", ") },
      { head: t("colfan"), cell: (it) => [el("a", { href: `#/users?query=${it.userId}` }, it.email ?? shortId(it.userId)), ...deskCustomer(it)] },
      { head: t("colamount"), isNumber: true, cell: (it) => won(it.amount, it.currency) },
      { head: t("colstatus"), cell: (it) => badge(it.status) },
      { head: t("coltime"), cell: (it) => el("span", { class: "num" }, stamp(it.createdAt)) },
      { head: t("colactions"), cell: (it) => el("a", { class: "btn small", href: `#/payments?reservation=${it.id}` }, icon("money"), t("navPayments")) },
    ],
  });
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("input", () => table.reload());
  main.className = "wide";
  main.replaceChildren(
    heading(t("navReservations"), t("reservationsWords"), csvButton({ path: PATH, query, name: "reservations" })),
    el("section", { class: "card" }, filters, table.element));
  return table.reload();
}

/** The email of an order of the desk is that of the organiser who issued it. */
function deskCustomer({ channel, customer }) {
  return customer ? [el("br"), el("small", { class: "quiet" }, `${t(`channel${channel}`)} · ${customer}`)] : [];
}

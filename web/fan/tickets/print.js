// One ticket on one sheet of paper.

import { get } from "../../shared/app/api.js";
import { el, icon } from "../../shared/ui/dom.js";
import { moment } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { user } from "../../shared/app/session.js";
import { posterOfDate } from "../catalog/poster.js";
import { showCode } from "./code.js";
import { gradeWords, ticketProof } from "../payments/order.js";

export async function printTicket(page) {
  if (!user()) return page.login();
  const ticket = await get(`/api/tickets/${page.id}`, { signal: page.signal });
  const code = el("div", { class: "code large" });
  page.main.className = "narrow";
  page.main.replaceChildren(
    el("section", { class: "card sheet" },
      el("div", { class: "head" },
        posterOfDate(ticket),
        el("div", {}, el("h1", {}, ticket.eventTitle), el("p", { class: "quiet num" }, moment(ticket.startsAt, ticket.timeZone)), el("p", { class: "quiet" }, ticket.venueName))),
      el("div", { class: "pad stack center-text" },
        el("p", { class: "hero small num" }, t("seatName", ticket.seatNumber)),
        el("p", { class: "big" }, gradeWords(ticket)),
        ticketProof(ticket),
        code,
        el("p", { class: "num quiet" }, `${t("bookingNumber")} ${ticket.bookingNumber}`),
        el("p", { class: "quiet" }, t("gateNote")))),
    el("div", { class: "row center no-print" },
      el("button", { class: "btn primary", type: "button", onclick: () => print() }, icon("print"), t("print")),
      el("a", { class: "btn", href: "#/tickets" }, t("myTickets"))));
  await showCode(page, ticket, code);
}

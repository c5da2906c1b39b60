// The receipt of an order, on one sheet of paper.

import { get } from "../../shared/app/api.js";
import { user } from "../../shared/app/session.js";
import { el, icon } from "../../shared/ui/dom.js";
import { moment, usePlace, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { fileButton } from "../tickets/calendar.js";
import { orderLines } from "./order.js";

export async function receipt(page) {
  if (!user()) return page.login();
  const path = `/api/booking/reservations/${page.id}/receipt`;
  const it = await get(path, { signal: page.signal });
  usePlace(it);
  page.main.className = "narrow";
  page.main.replaceChildren(
    el("section", { class: "card pad stack receipt" },
      el("h1", {}, t("receipt")),
      facts([
        [t("receiptSeller"), it.seller.name],
        [t("receiptBusiness"), it.seller.number],
        [t("receiptBuyer"), it.buyer],
        [t("bookingNumber"), it.bookingNumber],
        [t("receiptShow"), it.title],
        ["", [moment(it.startsAt), it.venue].join(" · ")],
        [t("receiptSeats"), it.seats.map((seat) => t("seatName", seat)).join(", ")],
      ]),
      orderLines(it.lines),
      // Korean tax; a receipt in another currency says nothing about tax.
      it.tax ? facts(taxRows(it.tax), "figures") : null,
      el("p", { class: "row apart sum num" }, el("span", {}, t("total")), el("b", {}, won(it.amount))),
      facts(paidRows(it)),
      refunds(it)),
    el("div", { class: "row center no-print" },
      el("button", { class: "btn primary", type: "button", onclick: () => print() }, icon("print"), t("print")),
      fileButton(`${path}.pdf`, `${it.bookingNumber}.pdf`, [icon("download"), t("receiptPdf")]),
      el("a", { class: "btn small", href: "#/me" }, t("me"))));
}

/** Pairs of a label and a text; those without a text are left out. */
function facts(rows, kind = "") {
  return el("dl", { class: `num ${kind}` }, rows.filter(([, text]) => text).map(([label, text]) =>
    el("div", {}, el("dt", {}, label), el("dd", {}, text))));
}

function taxRows({ supply, vat, exempt }) {
  const row = (key, amount) => [t(key), amount ? won(amount) : ""];
  return [row("receiptSupply", supply), row("receiptVat", vat), row("receiptExempt", exempt)];
}

function paidRows({ payment, paidAt, reference }) {
  const gateway = payment.gateway && payment.gateway !== "sandbox" ? t(`gateway${payment.gateway}`) : null;
  const method = [t(`method${payment.paidWith ?? payment.method}`), gateway].filter(Boolean).join(" · ");
  return [[t("receiptMethod"), method], [t("receiptPaidAt"), moment(paidAt)], [t("receiptReference"), reference]];
}

function refunds({ amount, payment }) {
  if (!payment.refunds.length) return null;
  const row = (refund) => {
    const key = refund.status === "REFUNDED" ? "receiptRefund" : "receiptRefundDue";
    return [t(key, moment(refund.createdAt)), `−${won(refund.amount)}`];
  };
  const back = payment.refunds.reduce((sum, refund) => sum + refund.amount, 0);
  return el("div", { class: "stack" }, facts(payment.refunds.map(row), "figures"),
    el("p", { class: "row apart sum num" }, el("span", {}, t("receiptKept")), el("b", {}, won(amount - back))));
}

// All payments with their states, and refunds: first a preview, then for real.

import { act, get } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el } from "../../shared/ui/dom.js";
import { moment, stamp, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { csvButton, pagedTable } from "../../shared/ui/table.js";
import { badge, choice, field, heading, shortId } from "../form.js";
import { resolveButton } from "./resolve.js";

const PATH = "/api/admin/payments";
const STATES = ["READY", "REQUESTED", "UNKNOWN", "AWAITING_DEPOSIT", "CAPTURED", "PARTIALLY_REFUNDED", "REFUND_DUE", "REFUNDED", "FAILED", "CANCELED"];
const REFUNDABLE = ["CAPTURED", "PARTIALLY_REFUNDED"];

/** What was paid with, and through which gateway. */
export function methodWords({ method, paidWith, gateway }) {
  return [t(`method${paidWith ?? method}`), gateway].filter(Boolean).join(" · ");
}

export function payments({ main, query: asked, signal }) {
  const filters = el("form", { class: "filters" },
    field({ label: t("searchPayment"), name: "query", type: "search", value: asked.get("reservation") ?? asked.get("query") }),
    choice({ label: t("colstatus"), name: "status", options: [["", t("all")], ...STATES.map((it) => [it, t("state", it)])] }));
  const query = () => Object.fromEntries(new FormData(filters));
  const table = pagedTable({
    caption: t("navPayments"),
    path: PATH,
    query,
    signal,
    columns: [
      { head: t("colpayment"), cell: (it) => shortId(it.id) },
      { head: t("colnumber"), cell: (it) => (it.bookingNumber ? el("span", { class: "num" }, it.bookingNumber) : shortId(it.reservationId)) },
      { head: t("colmethod"), cell: (it) => methodWords(it) },
      { head: t("colamount"), isNumber: true, cell: (it) => won(it.amount) },
      { head: t("colrefunded"), isNumber: true, cell: (it) => (it.refunded ? won(it.refunded) : "–") },
      { head: t("colstatus"), cell: (it) => badge(it.status) },
      { head: t("coltime"), cell: (it) => el("span", { class: "num" }, stamp(it.createdAt)) },
      { head: t("colactions"), cell: (it) => (REFUNDABLE.includes(it.status) ? refundButton(it, () => table.reload()) : resolveButton(it, () => table.reload())) },
    ],
  });
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("input", () => table.reload());
  main.className = "wide";
  main.replaceChildren(
    heading(t("navPayments"), t("paymentsWords"), csvButton({ path: PATH, query, name: "payments" })),
    el("section", { class: "card" }, filters, table.element));
  return table.reload();
}

function refundButton(payment, reload) {
  return el("button", { class: "btn stop small", type: "button", onclick: () => refund(payment, reload) }, t("refund"));
}

async function refund(payment, reload) {
  const left = payment.amount - payment.refunded;
  const dry = el("p", { class: "note num", role: "status" });
  const fee = field({ label: t("feePercent"), name: "feePercent", type: "number", min: 0, max: 90, value: 0, required: true });
  const booking = await bookingOf(payment);
  const fees = Math.min(booking?.fees ?? 0, left);
  const backs = choice({ label: t("refundFees", won(fees)), name: "refundFees", options: [["true", t("refundFeesYes")], ["false", t("refundFeesNo")]] });
  const show = () => {
    const kept = Math.floor(((left - fees) * Number(fee.querySelector("input").value)) / 100)
      + (backs.querySelector("select").value === "false" ? fees : 0);
    dry.textContent = t("refundDry", won(left - kept), won(kept));
  };
  fee.addEventListener("input", show);
  backs.addEventListener("change", show);
  show();
  const number = payment.bookingNumber ?? payment.id.slice(-8);
  let answer = null;
  await ask({
    title: t("refundOf", number),
    content: el("div", { class: "stack" },
      aboutBooking(payment, booking),
      el("p", { class: "quiet" }, t("refundWords")),
      field({ label: t("reason"), name: "reason", required: true, maxlength: 200 }),
      fee,
      fees ? backs : null,
      choice({ label: t("refundTo"), name: "refundTo", options: [["ORIGINAL", t("toOriginal")], ["WALLET", t("toWallet")]] }),
      dry),
    yes: t("refund"),
    isDanger: true,
    act: async (form) => {
      const body = { reason: form.get("reason"), feePercent: Number(form.get("feePercent")), refundTo: form.get("refundTo"), ...(fees ? { refundFees: form.get("refundFees") === "true" } : {}) };
      answer = await act(`/api/admin/payments/${payment.id}/refund`, body);
    },
  });
  if (!answer) return;
  const words = answer.status === "SECOND_ORGANISER_NEEDED" ? t("secondNeeded") : t("refundDone", won(answer.refundAmount));
  await ask({ title: t("refundOf", number), content: el("p", { class: "note ok" }, words), yes: t("fine"), isNotice: true });
  reload();
}

async function bookingOf({ reservationId }) {
  const query = new URLSearchParams({ query: reservationId });
  const { items } = await get(`/api/admin/reservations?${query}`).catch(() => ({ items: [] }));
  return items.find(({ id }) => id === reservationId);
}

/** The fan, the show and the seats, because an id alone is easy to confuse. */
function aboutBooking({ userId }, found) {
  const pairs = found
    ? [[t("colfan"), found.email ?? userId], [t("coltitle"), `${found.eventTitle} · ${moment(found.startsAt)}`], [t("colseats"), [found.seats].flat().join(", ")]]
    : [[t("colfan"), userId]];
  return el("dl", { class: "pairs num" }, pairs.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

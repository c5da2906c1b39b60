// All payments with the people who made them, and refunds: first a preview, then for real.

import { act, get } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el } from "../../shared/ui/dom.js";
import { moment, showTime, stamp, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { may } from "../../shared/app/session.js";
import { badge, choice, field } from "../form.js";
import { listPage, periodFields } from "../shell/list.js";
import { idFact, methodWords, pairs, person, personLink, seatWords } from "../shell/people.js";
import { resolveButton } from "./resolve.js";

const PATH = "/api/admin/payments";
const STATES = ["READY", "REQUESTED", "UNKNOWN", "AWAITING_DEPOSIT", "CAPTURED", "PARTIALLY_REFUNDED", "REFUND_DUE", "REFUNDED", "FAILED", "CANCELED"];
const REFUNDABLE = ["CAPTURED", "PARTIALLY_REFUNDED"];

export function payments(page) {
  return listPage(page, {
    title: t("navPayments"),
    words: t("paymentsWords"),
    address: "payments",
    path: PATH,
    name: "payments",
    hasCsv: true,
    fixed: { scheduleId: page.query.get("schedule") },
    fields: [
      field({ label: t("searchPayment"), name: "query", type: "search" }),
      choice({ label: t("colstatus"), name: "status", options: [["", t("all")], ...STATES.map((it) => [it, t("state", it)])] }),
      ...periodFields(),
    ],
    columns: [
      { head: t("colfan"), cell: (it) => person(it.person, it.userId) },
      { head: t("colevent"), cell: (it) => [it.eventTitle, el("small", { class: "quiet num block" }, [showTime(it.startsAt, it.timeZone), it.bookingNumber].filter(Boolean).join(" · "))] },
      { head: t("colmethod"), cell: (it) => methodWords(it) },
      { head: t("colamount"), isNumber: true, cell: (it) => won(it.amount, it.currency) },
      { head: t("colrefunded"), isNumber: true, cell: (it) => (it.refunded ? won(it.refunded, it.currency) : "–") },
      { head: t("colstatus"), cell: (it) => badge(it.status) },
      { head: t("coltime"), isOrder: true, cell: (it) => el("span", { class: "num" }, stamp(it.createdAt)) },
    ],
    detail: {
      id: (it) => it.id,
      find: async (id) => (await get(`${PATH}?${new URLSearchParams({ query: id })}`, { signal: page.signal })).items[0],
      title: (it) => won(it.amount, it.currency),
      draw: (it, again) => paymentPanel(it, again),
    },
  });
}

function paymentPanel(it, again) {
  const seats = el("span", {}, "…");
  bookingOf(it).then((booking) => (seats.textContent = booking ? seatWords(booking.seats) : "–"));
  const left = it.amount - it.refunded;
  const isRefundable = REFUNDABLE.includes(it.status) && may("REFUND_PAYMENTS");
  return {
    content: [
      badge(it.status),
      pairs([
        [t("colfan"), personLink(it.person, it.userId)],
        [t("colevent"), `${it.eventTitle} · ${moment(it.startsAt, it.timeZone)}`],
        [t("colseats"), seats],
        [t("colnumber"), it.bookingNumber],
        [t("colmethod"), methodWords(it)],
        [t("colamount"), won(it.amount, it.currency)],
        [t("colrefunded"), it.refunded ? won(it.refunded, it.currency) : null],
        [t("coltime"), stamp(it.createdAt)],
        idFact(it.id),
      ]),
      isRefundable ? el("p", { class: "note num" }, t("refundableNow", won(left, it.currency))) : null,
    ],
    actions: [
      el("a", { class: "btn", href: `#/reservations/${it.reservationId}` }, t("showBooking")),
      isRefundable ? el("button", { class: "btn stop", type: "button", onclick: () => refund(it, again) }, t("refund")) : resolveButton(it, again),
    ],
  };
}

/** Also what a booking's panel uses: it repeats person, booking and amount before anything happens. */
export async function refund(payment, reload) {
  const left = payment.amount - payment.refunded;
  const dry = el("p", { class: "note num", role: "status" });
  const fee = field({ label: t("feePercent"), name: "feePercent", type: "number", min: 0, max: 90, value: 0, required: true });
  const booking = await bookingOf(payment);
  const fees = Math.min(booking?.fees ?? 0, left);
  const backs = choice({ label: t("refundFees", won(fees, payment.currency)), name: "refundFees", options: [["true", t("refundFeesYes")], ["false", t("refundFeesNo")]] });
  const show = () => {
    const kept = Math.floor(((left - fees) * Number(fee.querySelector("input").value)) / 100)
      + (backs.querySelector("select").value === "false" ? fees : 0);
    dry.textContent = t("refundDry", won(left - kept, payment.currency), won(kept, payment.currency));
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
  const words = answer.status === "SECOND_ORGANISER_NEEDED" ? t("secondNeeded") : t("refundDone", won(answer.refundAmount, payment.currency));
  await ask({ title: t("refundOf", number), content: el("p", { class: "note ok" }, words), yes: t("fine"), isNotice: true });
  reload();
}

async function bookingOf({ reservationId }) {
  const query = new URLSearchParams({ query: reservationId });
  const { items } = await get(`/api/admin/reservations?${query}`).catch(() => ({ items: [] }));
  return items.find(({ id }) => id === reservationId);
}

/** The fan, the show, the seats and the amount, because an id alone is easy to confuse. */
function aboutBooking({ userId, amount, refunded, currency, person: found }, booking) {
  const fan = [found?.name, booking?.email ?? found?.email].filter(Boolean).join(" · ") || userId;
  const rows = booking
    ? [[t("colfan"), fan], [t("coltitle"), `${booking.eventTitle} · ${moment(booking.startsAt, booking.timeZone)}`], [t("colseats"), seatWords(booking.seats)]]
    : [[t("colfan"), fan]];
  return el("dl", { class: "pairs num" }, [...rows, [t("colamount"), won(amount - refunded, currency)]].flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

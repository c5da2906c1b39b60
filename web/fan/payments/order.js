// The order at checkout: a ticket type for each seat, a promotion code, and the lines of the price.

import { call } from "../../shared/app/api.js";
import { announce, el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { won } from "../../shared/ui/format.js";
import { localText, t } from "../../shared/ui/i18n.js";

/** A text in the page's language. */
export function inLanguage(it, key) {
  return localText(it, key);
}

/** The lines of an order, discounts with a minus. They add up to its amount. */
export function orderLines(lines) {
  return el("ul", { class: "lines num" }, lines.map((line) =>
    el("li", {},
      el("span", {}, el("b", {}, lineName(line)), line.seats ? el("small", { class: "quiet" }, t("lineSeats", line.seats)) : null),
      el("span", {}, line.amount < 0 ? `−${won(-line.amount)}` : won(line.amount)))));
}

function lineName(line) {
  return line.kind === "TICKET" ? line.name : t(`line${line.kind}`, inLanguage(line, "name") ?? "");
}

/**
 * What the fan chooses. `reservation` is updated in place, and `onChange` is called with the new
 * amount; a choice that the server refuses is shown and taken back.
 */
export function orderChoices(page, reservation, { schedule, onChange }) {
  const problem = problemBox();
  const shown = el("div", { class: "stack" });
  const selects = reservation.seats.map((seat) => typeSelect(seat, schedule.ticketTypes));
  const code = el("input", { type: "text", name: "code", autocomplete: "off", autocapitalize: "characters", maxlength: 64, "aria-label": t("promoCode"), value: reservation.promotionCode ?? "" });
  const apply = el("button", { class: "btn small", type: "button" }, t("promoApply"));

  const draw = () => {
    // The lines of an order at the full price would repeat its seats.
    const isPlain = reservation.lines.every(({ kind }) => kind === "TICKET");
    shown.replaceChildren(isPlain ? "" : orderLines(reservation.lines), proofNote(reservation));
    shown.hidden = isPlain;
    code.value = reservation.promotionCode ?? code.value;
    reservation.seats.forEach((seat, i) => {
      selects[i].value = String(seat.ticketType?.id ?? "");
    });
  };
  const send = async () => {
    problem.show("");
    const seats = reservation.seats.map((seat, i) => ({ seatId: seat.id, ...(selects[i].value ? { ticketTypeId: Number(selects[i].value) } : {}) }));
    const body = { seats, ...(code.value.trim() ? { code: code.value } : {}) };
    try {
      Object.assign(reservation, { promotionCode: undefined }, await call("PUT", `/api/booking/reservations/${page.id}/order`, { body }));
      announce(t("orderSaid", won(reservation.amount)));
      onChange();
    } catch (error) {
      if (error.status === 401) return page.fail(error);
      problem.show(error.message);
    }
    draw();
  };
  for (const select of selects) select.addEventListener("change", send);
  apply.addEventListener("click", () => whileBusy(apply, send));
  code.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    apply.click();
  });
  draw();
  return el("div", { class: "stack" },
    el("ul", { class: "lines num" }, reservation.seats.map((seat, i) =>
      el("li", {}, el("span", {}, el("b", {}, t("seatName", seat.number)), el("small", { class: "quiet" }, seat.grade)),
        1 < selects[i].options.length ? el("span", { class: "field" }, selects[i]) : el("span", {}, won(seat.listPrice ?? seat.price))))),
    el("details", { open: Boolean(reservation.promotionCode) }, el("summary", {}, t("promoHave")),
      el("div", { class: "row promo" }, el("span", { class: "field grow" }, code), apply)),
    problem.element,
    shown);
}

function typeSelect(seat, types) {
  const of = types.filter((it) => !it.grades || it.grades.includes(seat.grade));
  return el("select", { "aria-label": t("typeOf", seat.number) },
    el("option", { value: "" }, t("typeFull")),
    of.map((it) => el("option", { value: String(it.id) }, `${inLanguage(it, "name")} · ${typeWords(it)}`)));
}

/** What a type takes off or costs. */
export function typeWords(it) {
  if (it.percent) return t("typePercent", it.percent);
  return it.won ? t("typeWon", won(it.won)) : won(it.price);
}

/** What the gate will ask for. */
function proofNote(reservation) {
  const proofs = new Set(reservation.seats.map((seat) => seat.ticketType && inLanguage(seat.ticketType, "proof")).filter(Boolean));
  return proofs.size ? el("p", { class: "note" }, t("proofBring", [...proofs].join(", "))) : el("span", { hidden: true });
}

/** The grade of a ticket, with its type if it isn't at the full price. */
export function gradeWords({ grade, ticketType }) {
  return ticketType ? `${grade} · ${inLanguage(ticketType, "name")}` : grade;
}

/** What the gate asks for with this ticket; null for nothing. */
export function ticketProof({ ticketType }) {
  const proof = ticketType && inLanguage(ticketType, "proof");
  return proof ? el("p", { class: "note" }, t("proofBring", proof)) : null;
}

/** The fees of a date in words; null if it has none. */
export function feeNote({ fees }) {
  const words = [
    fees?.booking ? t("feeBooking", won(fees.booking.amount)) : null,
    fees?.order ? t("feeOrder", won(fees.order.amount)) : null,
  ].filter(Boolean);
  return words.length ? el("small", { class: "quiet fee-note" }, words.join(" · ")) : null;
}

// The fan's own seats of a date: those they hold and those they bought. They count towards the limit
// per person, in every tab.

import { get } from "../../shared/app/api.js";
import { el } from "../../shared/ui/dom.js";
import { count } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { keep } from "../../shared/app/session.js";

const OPEN = ["HELD", "PAYING"];
const COUNTED = [...OPEN, "CONFIRMED"];

/** The fan's live reservations of this date. Without an answer the server still knows the limit. */
export async function ownReservations({ id, signal }) {
  const { items } = await get("/api/booking/reservations?limit=100", { scheduleId: id, signal }).catch((error) => {
    if (error.name === "AbortError" || error.status === 401) throw error;
    return { items: [] };
  });
  return items.filter((it) => it.scheduleId === id && COUNTED.includes(it.status));
}

/** The indexes of their seats. */
export function ownIndexes(reservations, plan) {
  const ids = new Set(reservations.flatMap((it) => it.seats.map((seat) => seat.id)));
  return plan.seats.flatMap((seat, i) => (ids.has(seat.id) ? [i] : []));
}

/** Seats that are already held are paid for at the checkout. */
export function holdNotice(page, reservations) {
  const held = reservations.find((it) => OPEN.includes(it.status));
  if (!held) return null;
  keep("schedule", held.id, page.id);
  return el("p", { class: "note ok" }, el("a", { href: `#/checkout/${held.id}` }, t("youHold", count(held.seats.length))));
}

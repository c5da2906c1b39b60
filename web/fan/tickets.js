// My tickets: one per seat, with its code for the gate; cancelling is per reservation.

import { act, call, get } from "../shared/api.js";
import { el, problemBox, whileBusy } from "../shared/dom.js";
import { moment, won } from "../shared/format.js";
import { t } from "../shared/i18n.js";

export async function tickets(page) {
  const [owned, reservations] = await Promise.all([
    get("/api/tickets", { signal: page.signal }),
    get("/api/booking/reservations", { signal: page.signal }),
  ]);
  const open = reservations.items.filter((it) => ["HELD", "PAYING"].includes(it.status));
  const byReservation = Map.groupBy ? Map.groupBy(owned.items, (it) => it.reservationId) : group(owned.items);
  page.main.replaceChildren(
    el("div", { class: "stack" },
      el("h1", {}, t("myTickets")),
      open.map((it) => el("p", { class: "note warn" },
        el("a", { href: `#/checkout/${it.reservationId ?? it.id}` }, t("unfinished")))),
      owned.items.length ? null : el("p", { class: "quiet" }, t("noTickets")),
      [...byReservation].map(([id, list]) => reservationCard(page, list, reservations.items.find((it) => (it.reservationId ?? it.id) === id)))));
}

function group(items) {
  const groups = new Map();
  for (const item of items) groups.set(item.reservationId, [...(groups.get(item.reservationId) ?? []), item]);
  return groups;
}

function reservationCard(page, list, reservation) {
  const [first] = list;
  const problem = problemBox();
  const title = first.eventTitle ?? reservation?.eventTitle ?? t("ticket");
  const startsAt = first.startsAt ?? reservation?.startsAt;
  const number = reservation?.bookingNumber ?? first.bookingNumber;
  const isLive = !reservation || reservation.status === "CONFIRMED";
  return el("section", { class: "card pad stack", "aria-label": [title, number].filter(Boolean).join(" ") },
    el("div", {},
      el("h2", {}, title),
      el("p", { class: "quiet num" }, [startsAt ? moment(startsAt) : null, number].filter(Boolean).join(" · "))),
    el("ul", { class: "tickets" }, list.map((ticket) => ticketItem(page, ticket))),
    problem.element,
    isLive ? cancelButton(page, first.reservationId, problem) : null);
}

function ticketItem(page, ticket) {
  const code = el("div", { class: "code" });
  const isValid = !ticket.status || ["VALID", "ISSUED", "ACTIVE"].includes(ticket.status);
  if (isValid) showCode(page, ticket, code);
  return el("li", { class: isValid ? "ticket" : "ticket over" },
    el("b", { class: "num" }, ticket.seatNumber),
    isValid ? code : el("span", { class: "quiet" }, t("ticketOver")));
}

/** An <img> could not send the login, and our content policy forbids blob addresses. */
async function showCode(page, ticket, box) {
  try {
    const text = await call("GET", `/api/tickets/${ticket.id}/qr.svg`, { signal: page.signal });
    const drawing = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    if (drawing.localName !== "svg") throw new Error("the ticket code is not an image");
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", t("codeFor", ticket.seatNumber));
    box.replaceChildren(document.importNode(drawing, true));
  } catch (error) {
    if (error.name !== "AbortError") box.replaceChildren(el("p", { class: "quiet" }, t("codeMissing")));
  }
}

function cancelButton(page, reservationId, problem) {
  const button = el("button", { class: "btn danger", type: "button" }, t("cancelReservation"));
  button.addEventListener("click", () => {
    if (!confirm(t("cancelSure"))) return;
    whileBusy(button, async () => {
      try {
        const path = `/api/booking/reservations/${reservationId}/cancel`;
        const answer = await act(path, { reason: t("cancelReason") });
        const amount = answer.refund?.amount;
        button.replaceWith(el("p", { class: "note ok", role: "status" },
          amount === undefined ? t("canceled") : t("canceledRefund", won(amount))));
      } catch (error) {
        problem.show(error.message);
      }
    });
  });
  return button;
}

// A ticket that fills the screen, black on white, for the gate.

import { answered, get } from "../../shared/app/api.js";
import { el, icon } from "../../shared/ui/dom.js";
import { moment } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { user } from "../../shared/app/session.js";
import { drawCode } from "./code.js";
import { forgetTicket, keepPage, keepTicket, keptTicket } from "./offline.js";
import { gradeWords, ticketProof } from "../payments/order.js";

/** Rotating codes change every half minute. */
const DRAW_EVERY_MS = 10_000;

export async function fullTicket(page) {
  const kept = keptTicket(page.id);
  if (!user() && !kept) return page.login();
  const found = await load(page).catch((error) => (kept && error.code === "OFFLINE" ? { ...kept, isOffline: true } : Promise.reject(error)));
  const { ticket } = found;
  const code = el("div", { class: "code" });
  const status = el("p", { class: "quiet", role: "status" }, found.isOffline ? t("ticketOffline") : "");
  page.main.className = "full-ticket";
  page.main.replaceChildren(
    el("h1", {}, ticket.eventTitle),
    el("p", { class: "num" }, `${moment(ticket.startsAt, ticket.timeZone)} · ${ticket.venueName}`),
    code,
    el("p", { class: "seat num" }, t("seatName", ticket.seatNumber)),
    el("p", {}, gradeWords(ticket)),
    ticketProof(ticket),
    status,
    el("a", { class: "btn", href: "#/tickets" }, icon("back"), t("myTickets")));
  if (ticket.status !== "VALID") return code.replaceChildren(el("p", { class: "big" }, t(ticket.status === "USED" ? "ticketUsed" : "ticketOver")));
  stayAwake(page.signal);
  if (!found.isOffline) keepPage().catch(() => null);
  drawCode(ticket, code, found.picture);
  const redraw = async () => {
    const next = await load(page).catch(() => null);
    if (next?.picture && !page.signal.aborted) drawCode(ticket, code, next.picture);
    status.textContent = next ? "" : t("ticketOffline");
  };
  const timer = setInterval(redraw, DRAW_EVERY_MS);
  page.signal.addEventListener("abort", () => clearInterval(timer));
}

/** A rotating code is of no use later, so it is not kept. */
async function load({ id, signal }) {
  const ticket = await get(`/api/tickets/${id}`, { signal });
  const response = ticket.status === "VALID" ? await answered("GET", `/api/tickets/${id}/qr.svg`, { signal }) : null;
  const picture = response?.ok ? await response.text() : "";
  if (picture && !response.headers.has("code-changes-at")) keepTicket(ticket, picture);
  else forgetTicket(id);
  return { ticket, picture };
}

/** The screen stays on while the ticket is shown, where the browser can do it. */
async function stayAwake(signal) {
  try {
    const lock = await navigator.wakeLock?.request("screen");
    signal.addEventListener("abort", () => lock?.release());
  } catch {
    // A low battery refuses it.
  }
}

// Files of a ticket, made by the server: the calendar entry, the printed ticket, and passes for the
// wallets of phones.

import { answered, get } from "../../shared/app/api.js";
import { el, icon, whileBusy } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { save } from "../../shared/ui/table.js";

export function calendarButton(ticket) {
  return fileButton(`/api/tickets/${ticket.id}/calendar.ics`, `${ticket.bookingNumber}.ics`, [icon("calendar"), t("calendar")]);
}

/** A phone gets a page of its own width. */
export function pdfButton(ticket) {
  const size = matchMedia("(max-width: 640px)").matches ? "mobile" : "a4";
  return fileButton(`/api/tickets/${ticket.id}/pdf?size=${size}`, `${ticket.bookingNumber}-${ticket.seatNumber}.pdf`, [icon("download"), t("ticketPdf")]);
}

/** Buttons for the wallets that the organiser has keys for. */
export function walletButtons(ticket, wallets) {
  return [
    wallets.apple ? fileButton(`/api/tickets/${ticket.id}/wallet/apple`, `${ticket.bookingNumber}-${ticket.seatNumber}.pkpass`, [icon("ticket"), t("phoneWallet", "apple")]) : null,
    wallets.google ? googleButton(ticket) : null,
  ];
}

/** The link is made when it is needed, because it contains the ticket's code. */
function googleButton(ticket) {
  const button = el("button", { class: "btn small", type: "button" }, icon("ticket"), t("phoneWallet", "google"));
  const status = el("small", { class: "quiet", role: "status" });
  button.addEventListener("click", () => whileBusy(button, async () => {
    const link = await get(`/api/tickets/${ticket.id}/wallet/google`).catch(() => null);
    status.textContent = link ? "" : t("fileFailed");
    if (link) location.assign(link.url);
  }));
  return [button, status];
}

/** A link could not send the login. */
export function fileButton(path, name, words) {
  const button = el("button", { class: "btn small", type: "button" }, words);
  const status = el("small", { class: "quiet", role: "status" });
  button.addEventListener("click", () => whileBusy(button, async () => {
    const response = await answered("GET", path).catch(() => null);
    status.textContent = response?.ok ? "" : t("fileFailed");
    if (response?.ok) save(await response.blob(), name);
  }));
  return [button, status];
}

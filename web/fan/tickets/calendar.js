// Files of a ticket: the calendar entry and the printed ticket, both made by the server.

import { answered } from "../../shared/app/api.js";
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

/** A link could not send the login. */
function fileButton(path, name, words) {
  const button = el("button", { class: "btn small", type: "button" }, words);
  const status = el("small", { class: "quiet", role: "status" });
  button.addEventListener("click", () => whileBusy(button, async () => {
    const response = await answered("GET", path).catch(() => null);
    status.textContent = response?.ok ? "" : t("fileFailed");
    if (response?.ok) save(await response.blob(), name);
  }));
  return [button, status];
}

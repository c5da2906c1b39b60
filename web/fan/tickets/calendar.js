// The show as a calendar file.

import { el, icon } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { save } from "../../shared/ui/table.js";

const LENGTH_MS = 3 * 3_600_000;

export function calendarButton(ticket) {
  return el("button", { class: "btn small", type: "button", onclick: () => save(new Blob([calendar(ticket)], { type: "text/calendar" }), `${ticket.bookingNumber}.ics`) },
    icon("calendar"), t("calendar"));
}

function calendar(ticket) {
  const at = (ms) => new Date(ms).toISOString().replace(/[-:]|\.\d+/g, "");
  const start = Date.parse(ticket.startsAt);
  const text = (words) => words.replace(/[\\;,]/g, "\\$&").replace(/\n/g, "\\n");
  return ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//podo//tickets//KO", "BEGIN:VEVENT",
    `UID:${ticket.reservationId}@podo`, `DTSTAMP:${at(Date.now())}`, `DTSTART:${at(start)}`, `DTEND:${at(start + LENGTH_MS)}`,
    `SUMMARY:${text(ticket.eventTitle)}`, `LOCATION:${text(ticket.venueName)}`,
    `DESCRIPTION:${text(`${t("bookingNumber")} ${ticket.bookingNumber}`)}`, "END:VEVENT", "END:VCALENDAR", ""].join("\r\n");
}

// Search in this device's list, by booking number or name. The list has what other gates did until
// it was brought up to date last.

import { el } from "../../shared/ui/dom.js";
import { clockTime, moment } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { stateOf } from "../offline/check.js";
import { listOf, ticketsOf } from "../offline/store.js";

const SHOWN_MAX = 20;

export function search({ scheduleId }) {
  const input = el("input", { type: "search", maxlength: 60, "aria-label": t("searchWords") });
  const found = el("ul", { class: "log" });
  const form = el("form", { class: "row pad" }, input, el("button", { class: "btn" }, t("search")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = input.value.trim().toLowerCase();
    const fits = (ticket) => [ticket.bookingNumber, ticket.name ?? ""].some((it) => it.toLowerCase().includes(text));
    const tickets = text ? (await ticketsOf(scheduleId)).map(stateOf).filter(fits).slice(0, SHOWN_MAX) : [];
    const known = await listOf(scheduleId);
    const asOf = known ? el("li", { class: "quiet" }, t("asOf", clockTime(known.currentAt).slice(0, 5))) : null;
    found.replaceChildren(...(tickets.length ? tickets.map(line) : [el("li", { class: "quiet" }, t("noneFound"))]), ...[asOf].filter(Boolean));
  });
  return el("details", { class: "card" }, el("summary", { class: "bar" }, t("searchWords")), form, found);
}

function line(ticket) {
  const state = ticket.status === "USED" ? t("usedAt", moment(ticket.usedAt), ticket.usedGate ?? "") : t("notYet");
  return el("li", {}, el("b", {}, ticket.name ?? ""), el("span", {}, `${ticket.bookingNumber} · ${ticket.seatNumber} · ${state}`));
}

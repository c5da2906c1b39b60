// Support: finds people and bookings by number, address, phone or name.

import { get, Problem } from "../../shared/app/api.js";
import { announce, el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { stamp } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { badge, card, field, heading } from "../form.js";
import { bookingRow } from "./parts.js";

export function search({ main, signal, query: address }) {
  const problem = problemBox();
  const hits = el("div", { class: "stack" });
  const submit = el("button", { class: "btn brand" }, icon("search"), t("supportFind"));
  const form = el("form", { class: "filters", role: "search" },
    field({ label: t("supportQuery"), name: "query", type: "search", required: true, autocomplete: "off", hint: t("supportQueryHint") }),
    submit);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(submit, () => find(String(new FormData(form).get("query")).trim()));
  });

  async function find(query) {
    problem.show("");
    try {
      const found = await get(`/api/admin/support/search?${new URLSearchParams({ query })}`, { signal });
      hits.replaceChildren(...results(found));
      announce(t("supportFound", found.people.length + found.bookings.length));
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Problem)) throw error;
      hits.replaceChildren();
      problem.show(error.message);
    }
  }

  main.className = "wide";
  main.replaceChildren(
    heading(t("navSupport"), t("supportWords")),
    el("section", { class: "card" }, form, problem.element),
    hits);
  const input = form.querySelector("input");
  input.focus();
  // The command palette brings a text along.
  const asked = address.get("query");
  if (asked) {
    input.value = asked;
    form.requestSubmit();
  }
}

function results({ people, bookings }) {
  if (people.length + bookings.length === 0) return [el("p", { class: "note" }, t("supportNone"))];
  return [
    people.length ? card(t("supportPeople"), null, el("ul", { class: "rows" }, people.map(personRow))) : null,
    bookings.length ? card(t("navReservations"), null, el("ul", { class: "rows" }, bookings.map(bookingRow))) : null,
  ].filter(Boolean);
}

function personRow(it) {
  return el("li", {},
    el("span", { class: "grow" }, el("a", { href: `#/support/people/${it.id}` }, it.name), el("small", { class: "quiet" }, it.email)),
    badge(it.status),
    el("small", { class: "quiet num" }, stamp(it.createdAt)));
}

// Concerts for organisers, including unpublished ones.

import { el, icon } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { listButton, pagedTable } from "../../shared/ui/table.js";
import { badge, choice, field, heading } from "../form.js";

const STATES = ["PREPARING", "OPEN", "ENDED", "CANCELLED"];

export function eventList({ main, signal }) {
  const filters = el("form", { class: "filters" },
    field({ label: t("search"), name: "query", type: "search" }),
    choice({ label: t("colstatus"), name: "status", options: [["", t("all")], ...STATES.map((it) => [it, t("state", it)])] }));
  const query = () => Object.fromEntries(new FormData(filters));
  const table = pagedTable({
    caption: t("navEvents"),
    path: "/api/admin/events",
    query,
    signal,
    columns: [
      { head: t("coltitle"), cell: (it) => el("a", { href: `#/events/${it.id}` }, it.title) },
      { head: t("colartist"), cell: (it) => it.artist },
      { head: t("colplace"), cell: (it) => `${it.venueName} · ${it.hallName}` },
      { head: t("colstatus"), cell: (it) => badge(it.status) },
      { head: t("colactions"), cell: (it) => el("a", { class: "btn small", href: `#/events/new?from=${it.id}` }, t("clone")) },
    ],
  });
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("input", () => table.reload());
  main.replaceChildren(
    heading(t("navEvents"), t("eventsWords"), listButton({ path: "/api/admin/events", query, name: "events" }), el("a", { class: "btn brand", href: "#/events/new" }, icon("plus"), t("newEvent"))),
    el("section", { class: "card" }, filters, table.element));
  return table.reload();
}

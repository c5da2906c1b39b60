// Concerts for organisers, including unpublished ones: when they play and what is sold.

import { el, icon } from "../../shared/ui/dom.js";
import { count, showTime } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { badge, choice, field } from "../form.js";
import { listPage, periodFields } from "../shell/list.js";

const STATES = ["PREPARING", "OPEN", "ENDED", "CANCELLED"];

export function eventList(page) {
  return listPage(page, {
    title: t("navEvents"),
    words: t("eventsWords"),
    address: "events",
    path: "/api/admin/events",
    name: "events",
    more: [el("a", { class: "btn brand", href: "#/events/new" }, icon("plus"), t("newEvent"))],
    fields: [
      field({ label: t("search"), name: "query", type: "search" }),
      choice({ label: t("colstatus"), name: "status", options: [["", t("all")], ...STATES.map((it) => [it, t("state", it)])] }),
      ...periodFields(),
    ],
    columns: [
      { head: t("coltitle"), cell: (it) => [el("a", { href: `#/events/${it.id}` }, it.title), el("small", { class: "quiet block" }, it.artist)] },
      { head: t("colshows"), cell: shows },
      { head: t("colplace"), cell: (it) => `${it.venueName} · ${it.hallName}` },
      { head: t("colsale"), isNumber: true, cell: sold },
      { head: t("colstatus"), cell: (it) => badge(it.status) },
      { head: t("colactions"), cell: (it) => el("a", { class: "btn small", href: `#/events/new?from=${it.id}` }, t("clone")) },
    ],
  });
}

function shows({ startsAt, timeZone, dates }) {
  if (!startsAt) return "–";
  return [el("span", { class: "num" }, showTime(startsAt, timeZone)), dates > 1 ? el("small", { class: "quiet block" }, t("eventDates", dates)) : null];
}

/** The share in figures and as a bar; the bar says nothing that the figures don't. */
function sold({ seats, sold: n }) {
  if (!seats) return "–";
  const percent = n === seats ? 100 : Math.min(99, Math.floor((n * 100) / seats));
  return [
    el("b", {}, `${percent}%`),
    el("span", { class: "share", "aria-hidden": "true" }, el("i", { style: { width: `${percent}%` } })),
    el("small", { class: "quiet block" }, t("soldOf", count(n), count(seats))),
  ];
}

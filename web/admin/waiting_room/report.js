// The report of a sale: what it brought, how far fans came, and its course over time. Printable.

import { get } from "../../shared/app/api.js";
import { el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { count, moment, usePlace, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { may } from "../../shared/app/session.js";
import { save } from "../../shared/ui/table.js";
import { card, heading } from "../form.js";
import { allSchedules } from "../catalog/schedules.js";
import { chart } from "./chart.js";

const FANS = [
  { key: "waiting", colour: "var(--brand)" },
  { key: "inside", colour: "var(--grade-1)" },
];
const SEATS = [
  { key: "sold", colour: "var(--ok)" },
  { key: "held", colour: "var(--grade-3)" },
];

export async function report(page) {
  const path = `/api/admin/schedules/${page.id}`;
  const read = (it) => get(it, { signal: page.signal });
  const [schedules, sale, course, gate] = await Promise.all([
    allSchedules(page.signal), read(`${path}/sale-report`), read(`${path}/course`),
    // Some roles see sales and not the gate.
    may("VIEW_ATTENDANCE") ? read(`${path}/attendance`) : null,
  ]);
  const schedule = schedules.find(({ id }) => id === page.id);
  usePlace(schedule);
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(schedule.event.title, `${moment(schedule.startsAt)} · ${t("report")}`,
      el("a", { class: "btn", href: `#/live/${page.id}` }, icon("chart"), t("monitor")),
      el("a", { class: "btn", href: `#/events/${schedule.event.id}/settlement` }, icon("money"), t("settlement")),
      courseFile(page, page.id),
      el("button", { class: "btn", type: "button", onclick: () => window.print() }, icon("print"), t("setlPrint"))),
    el("div", { class: "kpis four" }, tiles(sale, schedule)),
    card(t("reportFunnel"), t("reportFunnelWords"), funnel(sale, gate)),
    card(t("reportFans"), courseWords(course), chart(course.items, FANS, "reportLine_")),
    card(t("reportSeats"), courseWords(course), chart(course.items, SEATS, "reportLine_")),
    card(t("reportGrades"), null, gradesOf(sale)),
    el("p", { class: "quiet num" }, t("reportAt", moment(sale.now))));
}

function tiles(sale, schedule) {
  const seats = sale.available + sale.held + sale.sold;
  const soldOut = sale.soldOutAt ? t("reportAfter", lengthOf(Date.parse(sale.soldOutAt) - Date.parse(schedule.saleStartsAt))) : t("reportNotSoldOut");
  return [
    tile("Revenue", won(sale.revenue), t("reportPerSeat", won(sale.sold ? Math.round(sale.revenue / sale.sold) : 0))),
    tile("Sold", `${percent(sale.sold, seats)}%`, t("reportOf", count(sale.sold), count(seats))),
    tile("Orders", count(sale.ordersKept), t("reportCanceled", count(sale.orders - sale.ordersKept), count(sale.seatsCanceled))),
    tile("SoldOut", soldOut, t("reportPeak", count(sale.peakWaiting))),
  ];
}

function tile(key, value, note) {
  return el("section", { class: "card kpi num" }, el("h2", {}, t(`report${key}`)), el("b", {}, value), el("small", {}, note));
}

const percent = (part, all) => (all ? (100 * part) / all : 0).toFixed(1).replace(/\.0$/, "");

function lengthOf(ms) {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours ? t("lengthHours", hours, minutes) : t("lengthMinutes", minutes, seconds % 60);
}

/** The steps of a fan through the sale, each with its share of the first. */
function funnel(sale, gate) {
  const steps = [["admitted", sale.admitted], ["orders", sale.orders], ["kept", sale.ordersKept], ...(gate ? [["gate", gate.admitted]] : [])];
  const most = Math.max(1, ...steps.map(([, number]) => number));
  const row = ([key, number], index) => el("li", {},
    el("span", {}, t(`reportStep_${key}`)),
    el("meter", { min: 0, max: most, value: number, "aria-label": t(`reportStep_${key}`) }),
    el("b", { class: "num" }, count(number)),
    el("small", { class: "quiet num" }, index && steps[0][1] ? `${percent(number, steps[0][1])}%` : ""));
  return el("ol", { class: "funnel pad" }, steps.map(row));
}

function courseWords({ items, stepSeconds }) {
  return items.length ? t("reportStep", stepSeconds) : null;
}

function gradesOf({ grades, sold, available, held, revenue }) {
  const kept = grades.reduce((sum, it) => sum + it.kept, 0);
  const row = (it, name) => el("tr", {}, el("th", { scope: "row" }, name),
    [it.sold, it.held, it.available, it.kept].map((number) => el("td", { class: "right" }, count(number))),
    el("td", { class: "right" }, won(it.revenue)));
  const heads = ["colgrade", "reportLine_sold", "reportLine_held", "reportFree", "reportKept", "reportRevenue"];
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("reportGrades") },
    el("table", { class: "num figures" },
      el("thead", {}, el("tr", {}, heads.map((key, index) => el("th", { scope: "col", class: index ? "right" : "" }, t(key))))),
      el("tbody", {}, grades.map((it) => row(it, it.grade)), row({ sold, held, available, kept, revenue }, t("all")))));
}

const COLUMNS = ["at", "waiting", "inside", "available", "held", "sold", "revenue"];

/** A button that saves the figures that the server kept. */
export function courseFile(page, schedule) {
  const problem = problemBox();
  const button = el("button", { class: "btn", type: "button" }, icon("download"), t("csv"));
  button.addEventListener("click", () => whileBusy(button, async () => {
    try {
      const { items } = await get(`/api/admin/schedules/${schedule}/course`, { signal: page.signal });
      const text = [COLUMNS, ...items.map((it) => COLUMNS.map((column) => it[column]))].map((row) => row.join(",")).join("\r\n");
      save(new Blob([text], { type: "text/csv" }), `sale-${schedule}.csv`);
    } catch (error) {
      problem.show(error.message);
    }
  }));
  return el("span", {}, button, problem.element);
}

// The report of a date, to print after the sale: how many came, how many bought, what it brought in,
// and who was at the show.

import { get } from "../../shared/app/api.js";
import { el, icon } from "../../shared/ui/dom.js";
import { count, moment, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { may } from "../../shared/app/session.js";
import { card, heading } from "../form.js";
import { gradeTable } from "./grades.js";

export async function report(page) {
  const { signal, id } = page;
  const [schedule, live, attendance] = await Promise.all([
    get(`/api/schedules/${id}`, { signal }).catch(() => null),
    get(`/api/admin/schedules/${id}/live`, { signal }),
    // Some roles see sales and not the gate.
    may("VIEW_ATTENDANCE") ? get(`/api/admin/schedules/${id}/attendance`, { signal }) : null,
  ]);
  const grades = gradeTable(schedule?.prices ?? {});
  grades.take(live);
  const print = el("button", { class: "btn", type: "button", onclick: () => window.print() }, icon("print"), t("setlPrint"));
  page.main.replaceChildren(
    heading(schedule?.eventTitle ?? t("report"), schedule ? `${moment(schedule.startsAt)} · ${t("report")}` : t("report"), print),
    el("div", { class: "kpis four" }, figures(live).map(([name, value]) => el("section", { class: "card kpi num" }, el("h2", {}, t(name)), el("b", {}, value)))),
    card(t("reportFunnel"), null, funnel(live, attendance)),
    grades.element,
    el("p", { class: "quiet" }, t("reportWords", moment(live.now))));
}

function figures({ sold, held, available, kept, revenue }) {
  const all = Math.max(1, sold + held + available);
  return [
    ["kpisold", `${count(sold)} / ${count(sold + held + available)}`],
    ["reportShare", `${((100 * sold) / all).toFixed(1)}%`],
    ["kpirevenue", won(revenue)],
    ["colkept", count(kept)],
  ];
}

/** From the waiting room to the gate; each step with its share of the first. */
function funnel(live, attendance) {
  const came = live.admitted + live.waiting + live.gathered;
  const steps = [
    ["reportCame", came], ["reportAdmitted", live.admitted], ["reportBought", live.sold],
    ...(attendance ? [["reportInside", attendance.admitted]] : []),
  ];
  const most = Math.max(1, ...steps.map(([, n]) => n));
  return el("table", { class: "num funnel" },
    el("caption", { class: "sr" }, t("reportFunnel")),
    el("tbody", {}, steps.map(([name, n]) => el("tr", {},
      el("th", { scope: "row" }, t(name)),
      el("td", { class: "right" }, count(n)),
      el("td", {}, el("meter", { min: 0, max: most, value: n, "aria-label": t(name) }))))));
}

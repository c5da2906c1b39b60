// The draw of a phase for winners: its window and quantities, and how far its offers are.

import { call } from "../../../shared/app/api.js";
import { announce, el, problemBox, whileBusy } from "../../../shared/ui/dom.js";
import { count, moment } from "../../../shared/ui/format.js";
import { t } from "../../../shared/ui/i18n.js";
import { card, field } from "../../form.js";
import { fromLocal, toLocal } from "../dates.js";

export function drawCard(page, schedule, phase) {
  return card(phase.name, t("drawOf"), drawForm(page, schedule, phase), phase.draw ? progress(phase.draw) : null);
}

function drawForm(page, schedule, phase) {
  const { draw } = phase;
  const problem = problemBox();
  const button = el("button", { class: "btn brand" }, t("drawSave"));
  const grades = Object.keys(schedule.prices).filter((grade) => !phase.grades || phase.grades.includes(grade));
  const time = (name, value) => field({ label: t(`draw${name}`), name, type: "datetime-local", value: toLocal(value), required: true, "data-time": value });
  const form = el("form", { class: "pad stack", "aria-label": `${phase.name}: ${t("drawOf")}` },
    el("p", { class: "quiet" }, t("drawWords")),
    el("div", { class: "row" },
      time("applyFrom", draw?.applyFrom ?? new Date().toISOString()),
      time("applyUntil", draw?.applyUntil ?? phase.startsAt),
      field({ label: t("drawseatsMax"), name: "seatsMax", type: "number", min: 1, max: 10, value: draw?.seatsMax ?? Math.min(2, phase.seatsPerPerson), required: true }),
      field({ label: t("drawofferMinutes"), name: "offerMinutes", type: "number", min: 10, max: 10_080, value: draw?.offerMinutes ?? 1_440, required: true })),
    el("div", { class: "row" }, grades.map((grade) =>
      field({ label: t("drawQuantity", grade), name: "quantity", type: "number", min: 0, value: draw?.quantities[grade] ?? "", "data-grade": grade }))),
    problem.element,
    el("div", { class: "row" }, button));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(button, async () => {
      problem.show("");
      try {
        await call("PUT", `/api/admin/phases/${phase.id}/draw`, { body: read(form) });
        announce(t("saved"));
        page.again();
      } catch (error) {
        problem.show([error.message, ...(error.body?.errors ?? []).map((it) => it.field)].join(" "));
      }
    });
  });
  return form;
}

/** The field shows minutes; a time that wasn't changed keeps its seconds. */
function timeIn({ value, dataset }) {
  return toLocal(dataset.time) === value ? dataset.time : fromLocal(value);
}

function read(form) {
  const input = (name) => form.querySelector(`[name="${name}"]`);
  const quantities = [...form.querySelectorAll('[name="quantity"]')].filter((it) => Number(it.value) > 0);
  return {
    applyFrom: timeIn(input("applyFrom")),
    applyUntil: timeIn(input("applyUntil")),
    seatsMax: Number(input("seatsMax").value),
    offerMinutes: Number(input("offerMinutes").value),
    quantities: Object.fromEntries(quantities.map((it) => [it.dataset.grade, Number(it.value)])),
  };
}

const COLUMNS = ["quantity", "applications", "askedFor", "offered", "taken", "waiting"];

function progress(draw) {
  return el("div", { class: "pad stack tight" },
    el("p", { class: "quiet num", role: "status" }, draw.drawnAt ? t("drawDone", moment(draw.drawnAt), count(draw.drawn)) : t("drawApplied", count(draw.applied))),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("drawProgress") },
      el("table", { class: "num" },
        el("thead", {}, el("tr", {}, el("th", {}, t("drawGrade")), COLUMNS.map((name) => el("th", {}, t(`drawof${name}`))))),
        el("tbody", {}, draw.grades.map((grade) =>
          el("tr", {}, el("th", { scope: "row" }, grade.grade), COLUMNS.map((name) => el("td", {}, count(grade[name])))))))),
    el("p", { class: "quiet" }, t("drawHash"), " ", el("code", {}, draw.seedHash)));
}

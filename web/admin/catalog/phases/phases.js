// The sale phases of a date: windows, audiences, seats, and the people who may buy in them.

import { call, get } from "../../../shared/app/api.js";
import { announce, el, icon, problemBox, whileBusy } from "../../../shared/ui/dom.js";
import { moment, usePlace } from "../../../shared/ui/format.js";
import { t } from "../../../shared/ui/i18n.js";
import { card, choice, field, heading, tick } from "../../form.js";
import { fromLocal, toLocal } from "../dates.js";
import { drawCard } from "./draw.js";
import { peopleCard } from "./people.js";

const AUDIENCES = ["EVERYBODY", "CODE", "MEMBERS", "VERIFIED_IDENTITY", "DRAWN"];

export async function phases(page) {
  const path = `/api/admin/schedules/${page.id}/phases`;
  const [schedule, { items }] = await Promise.all([
    scheduleOf(page),
    get(path, { signal: page.signal }),
  ]);
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(t("phases"), `${schedule.eventTitle} · ${moment(schedule.startsAt)}`,
      el("a", { class: "btn", href: `#/events/${schedule.eventId}` }, t("phasesBack"))),
    card(t("phases"), null, phasesForm(page, { path, schedule, items }).element),
    ...peopleCards(page, schedule, items));
}

/** Who may buy in each phase that asks for something. */
export function peopleCards(page, schedule, items) {
  return [
    ...items.filter((phase) => ["CODE", "MEMBERS"].includes(phase.audience)).map((phase) => peopleCard(page, phase)),
    ...items.filter((phase) => phase.audience === "DRAWN").map((phase) => drawCard(page, schedule, phase)),
  ];
}

/** An event in preparation is invisible to the public API, so the date comes with its event. */
export async function scheduleOf(page) {
  const event = await get(`/api/admin/events/${page.query.get("event")}`, { signal: page.signal });
  usePlace(event);
  return event.schedules.find(({ id }) => id === page.id);
}

/** `replace` fills the form with other phases, which are saved with its button. */
export function phasesForm(page, { path, schedule, items }) {
  const problem = problemBox();
  const list = el("div", { class: "stack" });
  const add = (phase) => list.append(phaseFields(schedule, phase));
  items.forEach(add);
  const save = el("button", { class: "btn brand" }, t("saveIt"));
  const form = el("form", { class: "pad stack" },
    el("p", { class: "quiet" }, t("phasesWords")),
    list,
    problem.element,
    el("div", { class: "row" },
      el("button", { class: "btn", type: "button", onclick: () => add(next(schedule, list)) }, icon("plus"), t("phaseAdd")),
      save));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(save, async () => {
      problem.show("");
      try {
        await call("PUT", path, { body: { phases: [...list.children].map(read) } });
        announce(t("saved"));
        page.again();
      } catch (error) {
        problem.show([error.message, ...(error.body?.errors ?? []).map((it) => it.field)].join(" "));
      }
    });
  });
  const replace = (phases) => {
    list.replaceChildren();
    phases.forEach(add);
    form.dispatchEvent(new Event("preset", { bubbles: true }));
  };
  return { element: form, replace };
}

/** A new phase follows the last one of the form. */
function next(schedule, list) {
  const last = list.lastElementChild ? read(list.lastElementChild) : null;
  return {
    name: "", nameEn: "", audience: "EVERYBODY", seatsPerPerson: schedule.seatsPerPerson,
    startsAt: last?.endsAt ?? schedule.saleStartsAt, endsAt: schedule.saleEndsAt,
  };
}

function phaseFields(schedule, phase) {
  const grades = Object.keys(schedule.prices);
  const time = (name) => field({ label: t(`phase${name}`), name, type: "datetime-local", value: toLocal(phase[name]), required: true, "data-time": phase[name] });
  const box = el("fieldset", { class: "stack tight", "data-id": phase.id },
    el("legend", {}, phase.name || t("phaseNew")),
    el("div", { class: "row" },
      field({ label: t("phasename"), name: "name", value: phase.name, required: true, maxlength: 60 }),
      field({ label: t("phasenameEn"), name: "nameEn", value: phase.nameEn, required: true, maxlength: 60 }),
      time("startsAt"),
      time("endsAt")),
    el("div", { class: "row" },
      choice({ label: t("phaseAudience"), name: "audience", value: phase.audience, options: AUDIENCES.map((it) => [it, t(`audience${it}`)]) }),
      field({ label: t("phaseSeats"), name: "seatsPerPerson", type: "number", min: 1, max: 50, value: phase.seatsPerPerson, required: true }),
      field({ label: t("seatsPerOrder"), name: "seatsPerOrder", type: "number", min: 1, max: 10, value: phase.seatsPerOrder, hint: t("phaseOrderHint") }),
      field({ label: t("phaseSections"), name: "sections", value: (phase.sections ?? []).join(", "), hint: t("phaseSectionsHint") })),
    el("div", { class: "row" },
      el("span", {}, t("phaseGrades")),
      grades.map((grade) => tick({ label: grade, name: "grade", value: grade, checked: !phase.grades || phase.grades.includes(grade) })),
      el("span", { class: "grow" }),
      el("button", { class: "btn small", type: "button", onclick: () => box.remove() }, t("delete"))));
  return box;
}

/** The field shows minutes; a time that wasn't changed keeps its seconds. */
function timeIn({ value, dataset }) {
  return toLocal(dataset.time) === value ? dataset.time : fromLocal(value);
}

function read(box) {
  const input = (name) => box.querySelector(`[name="${name}"]`);
  const value = (name) => input(name).value;
  const ticks = [...box.querySelectorAll('[name="grade"]')];
  const grades = ticks.filter((it) => it.checked).map((it) => it.value);
  const sections = value("sections").split(",").map((it) => it.trim()).filter(Boolean);
  return {
    ...(box.dataset.id ? { id: box.dataset.id } : {}),
    name: value("name"),
    nameEn: value("nameEn"),
    startsAt: timeIn(input("startsAt")),
    endsAt: timeIn(input("endsAt")),
    audience: value("audience"),
    seatsPerPerson: Number(value("seatsPerPerson")),
    ...(value("seatsPerOrder") ? { seatsPerOrder: Number(value("seatsPerOrder")) } : {}),
    ...(grades.length === ticks.length ? {} : { grades }),
    ...(sections.length ? { sections } : {}),
  };
}

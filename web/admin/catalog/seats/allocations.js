// Seats that an organiser keeps from sale: painted on the plan, chosen by number or read from a file.

import { call, get } from "../../../shared/app/api.js";
import { announce, el, problemBox, whileBusy } from "../../../shared/ui/dom.js";
import { ask } from "../../../shared/ui/dialog.js";
import { count, moment } from "../../../shared/ui/format.js";
import { t } from "../../../shared/ui/i18n.js";
import { card, choice, field, heading } from "../../form.js";
import { fromLocal, toLocal } from "../dates.js";
import { scheduleOf } from "../phases/phases.js";
import { numbersField, openPlan } from "./seat_choice.js";

const KINDS = ["ARTIST", "SPONSOR", "PRODUCTION", "WHEELCHAIR", "BOX_OFFICE", "NEVER", "OTHER"];

/** Letters of the seats that can be kept or released. */
const CHOOSABLE = "AK";

export async function allocations(page) {
  const path = `/api/admin/schedules/${page.id}/allocations`;
  const [schedule, layout, list] = await Promise.all([
    scheduleOf(page),
    get(`/api/admin/schedules/${page.id}/layout`, { signal: page.signal }),
    get(path, { signal: page.signal }),
  ]);
  const chosen = el("b", { class: "num", role: "status" }, t("allocChosen", "0"));
  const plan = openPlan({
    layout, prices: schedule.prices, status: list.status, label: t("allocMap"),
    isChoosable: (letter) => CHOOSABLE.includes(letter),
    onChange: (n) => chosen.replaceChildren(t("allocChosen", count(n))),
  });
  const open = list.items.filter((it) => !it.releasedAt);
  const desk = { page, path, plan, open };
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(t("allocations"), `${schedule.eventTitle} · ${moment(schedule.startsAt)}`,
      el("a", { class: "btn", href: `#/events/${schedule.eventId}` }, t("phasesBack"))),
    el("p", { class: "quiet" }, t("allocWords")),
    el("div", { class: "desk" },
      el("div", { class: "stack slim" },
        card(t("allocSelection"), null, chosenForm(desk, chosen)),
        card(t("allocAdd"), null, termsForm(desk, null)),
        list.items.length ? list.items.map((it) => allocationCard(desk, it)) : el("p", { class: "quiet pad" }, t("allocNone"))),
      card(t("seatPlan"), null, plan.element)));
}

/** Runs an action of a form; wrong lines and fields are shown below it. */
async function run(desk, problem, act) {
  problem.show("");
  try {
    await act();
    announce(t("saved"));
    desk.page.again();
  } catch (error) {
    const seats = (error.body?.seatIds ?? []).map((id) => desk.plan.numberOf(id));
    const lines = (error.body?.errors ?? []).map((it) => (it.line ? t("allocLine", it.line, it.detail) : it.detail));
    problem.show([error.message, ...lines, seats.join(", ")].filter(Boolean).join(" "));
  }
}

function chosenForm(desk, chosen) {
  const problem = problemBox();
  const into = choice({ label: t("allocInto"), name: "into", options: desk.open.map((it) => [it.id, it.name]) });
  const button = (label, verb, isBrand) => {
    const element = el("button", { class: isBrand ? "btn brand" : "btn", type: "button", disabled: !desk.open.length }, label);
    element.addEventListener("click", () => whileBusy(element, () => run(desk, problem, () =>
      call("POST", `${desk.path}/${into.querySelector("select").value}/${verb}`, { body: { seatIds: desk.plan.ids() } }))));
    return element;
  };
  return el("div", { class: "pad stack" },
    chosen,
    numbersField(desk.plan, problem),
    into,
    problem.element,
    el("div", { class: "row" }, button(t("allocKeep"), "seats", true), button(t("allocRelease"), "release", false)));
}

function termsForm(desk, it) {
  const problem = problemBox();
  const button = el("button", { class: it ? "btn" : "btn brand" }, it ? t("saveIt") : t("allocAdd"));
  const form = el("form", { class: "pad stack", "aria-label": it?.name ?? t("allocAdd") },
    field({ label: t("allocName"), name: "name", value: it?.name, required: true, maxlength: 60 }),
    choice({ label: t("allocKind"), name: "kind", value: it?.kind ?? "ARTIST", options: KINDS.map((kind) => [kind, t(`allocKind${kind}`)]) }),
    field({ label: t("allocNote"), name: "note", value: it?.note, maxlength: 200 }),
    field({ label: t("allocReleaseAt"), name: "releaseAt", type: "datetime-local", value: it?.releaseAt ? toLocal(it.releaseAt) : "", hint: t("allocReleaseHint") }),
    problem.element,
    el("div", { class: "row" }, button));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const body = readTerms(form, it);
    whileBusy(button, () => run(desk, problem, () => (it
      ? call("PUT", `${desk.path}/${it.id}`, { body })
      : call("POST", desk.path, { body: { ...body, seatIds: desk.plan.ids() } }))));
  });
  return form;
}

/** The field shows minutes; a time that wasn't changed keeps its seconds. */
function readTerms(form, before) {
  const value = (name) => form.querySelector(`[name="${name}"]`).value.trim();
  const time = value("releaseAt");
  const isSame = before?.releaseAt && toLocal(before.releaseAt) === time;
  return {
    name: value("name"),
    kind: value("kind"),
    ...(value("note") ? { note: value("note") } : {}),
    ...(time ? { releaseAt: isSame ? before.releaseAt : fromLocal(time) } : {}),
  };
}

function allocationCard(desk, it) {
  const aside = it.releasedAt ? t("allocIsReleased", moment(it.releasedAt)) : t("allocCounts", count(it.kept), count(it.issued));
  if (it.releasedAt) return card(it.name, aside);
  return card(it.name, aside, el("details", {}, el("summary", { class: "pad" }, t("edit")), termsForm(desk, it)), fileForm(desk, it));
}

function fileForm(desk, it) {
  const problem = problemBox();
  const file = el("input", { type: "file", accept: ".csv,text/csv", required: true });
  const button = el("button", { class: "btn small" }, t("allocImport"));
  const end = el("button", { class: "btn small stop", type: "button" }, t("allocAll"));
  end.addEventListener("click", async () => {
    const act = () => call("POST", `${desk.path}/${it.id}/release`, { body: {} });
    const content = el("p", {}, t("allocAllWords", it.name, count(it.kept)));
    if (await ask({ title: t("allocAll"), content, yes: t("allocAll"), isDanger: true, act })) desk.page.again();
  });
  const form = el("form", { class: "pad stack", "aria-label": `${it.name}: ${t("allocFile")}` },
    el("label", { class: "field" }, t("allocFile"), file, el("small", {}, t("allocFileHint"))),
    problem.element,
    el("div", { class: "row" }, button, end));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(button, () => run(desk, problem, () => call("POST", `${desk.path}/${it.id}/import`, { file: file.files[0] })));
  });
  return form;
}

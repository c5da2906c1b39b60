// The panel beside the plan: what is selected, the brush, or the seats in hand. It is built anew when
// something else is selected; otherwise only its values change, so that a field keeps the focus.

import { el, icon } from "../../../../shared/ui/dom.js";
import { count } from "../../../../shared/ui/format.js";
import { t } from "../../../../shared/ui/i18n.js";
import { COLOURS, PITCH } from "../../../../shared/seatmap/plan.js";
import { copySelected, layOutAnew, markSeats, mirrorSelected, removeSelected, turnBy } from "./actions.js";
import { choiceField, numberField, rangeField, textField, tickField } from "./fields.js";
import { freeName, gradeCounts, nSold } from "../model/sections.js";
import { DEFAULT_NUMBERING } from "../model/numbering.js";
import { BEND_MAX, fittingLastRow } from "../model/shapes.js";

const ROWS_MAX = 200;
const SEATS_MAX = 400;
const STANDING_MAX = 60_000;
const LABEL_MAX = 20;

export function openPanel(store) {
  const element = el("section", { class: "card panel", "aria-label": t("planPanel") });
  let [shown, fields] = [null, []];
  const update = () => {
    const key = [store.tool, store.seats.size > 0, ...store.picked.map((it) => `${it.key}${it.kind}${Boolean(it.numbering)}${goneIn(it)}`), store.isStagePicked,
      store.tool === "paint" ? store.plan.grades.join() : ""].join("|");
    if (key !== shown) {
      shown = key;
      fields = [];
      element.replaceChildren(...build(store, (made) => {
        fields.push(made);
        return made.element;
      }));
    }
    fields.forEach((field) => field.update());
  };
  update();
  store.addEventListener("change", update);
  return element;
}

function build(store, add) {
  if (store.tool === "paint") return paintPanel(store, add);
  if (store.tool === "seats") return seatsPanel(store, add);
  const { picked } = store;
  if (1 < picked.length) return manyPanel(store, add);
  if (picked.length) return sectionPanel(store, add);
  if (store.isStagePicked) return [bar(t("stage")), body(el("div", { class: "row" }, removeButton(store)))];
  return [bar(t("planNothing")), body(el("p", { class: "quiet" }, t(`hint${store.tool}`)))];
}

const goneIn = ({ marks }) => Object.values(marks).filter(({ state }) => state === "gone").length;
const bar = (title, aside) => el("h2", { class: "bar" }, title, aside ? el("small", { class: "num" }, aside) : null);
const body = (...content) => el("div", { class: "pad stack" }, content);
const button = (words, act, kind = "") => el("button", { class: `btn small ${kind}`, type: "button", onclick: act }, words);
const removeButton = (store) => button(t("delete"), () => removeSelected(store), "stop");

/** Getters and setters for a member of the one selected section. */
function member(store, name, factor = 1) {
  const now = () => store.picked[0] ?? {};
  return {
    get: () => Math.round((now()[name] / factor) * 100) / 100,
    set: (value) => store.change(store.mapped((section) => ({ ...section, [name]: value * factor }))),
  };
}

function sectionPanel(store, add) {
  const [section] = store.picked;
  const kinds = { rows: rowsFields, free: freeFields, standing: standingFields };
  const now = () => store.picked[0] ?? section;
  const seats = { element: el("small", { class: "num" }), update: () => (seats.element.textContent = t("seatCount", count(nSold(now())))) };
  return [
    el("h2", { class: "bar" }, t(`kind${section.kind}`), add(seats)),
    body(
      el("div", { class: "two" },
        add(textField({ label: t("planSectionName"), name: "sectionName", maxlength: LABEL_MAX, required: true, get: () => now().name, set: (name) => store.change(store.mapped((it) => ({ ...it, name }))) })),
        add(gradeField(store))),
      kinds[section.kind](store, add),
      el("div", { class: "row" },
        button(t("planCopy"), () => copySelected(store)),
        button(t("planMirror"), () => mirrorSelected(store)),
        removeButton(store)))];
}

/** An existing grade or a new one, for everything that is selected. */
function gradeField(store) {
  const get = () => store.picked[0]?.grade ?? "";
  const set = (grade) => {
    const next = store.mapped((section) => ({ ...section, grade }));
    store.change(store.withGrade(next, grade));
    store.grade = grade;
  };
  return textField({ label: t("planGrade"), name: "sectionGrade", maxlength: LABEL_MAX, required: true, list: "plan-grades", get, set });
}

function rowsFields(store, add) {
  const number = (name, label, options) => add(numberField({ label: t(label), name, ...options, ...member(store, name, options.factor) }));
  const reshape = (change) => store.mapped((section) => {
    const next = { ...section, ...change };
    return { ...next, lastSeats: fittingLastRow(next) };
  });
  return [
    el("div", { class: "three" },
      number("rows", "planRows", { min: 1, max: ROWS_MAX }),
      number("seats", "planFirstRow", { min: 1, max: SEATS_MAX }),
      number("lastSeats", "planLastRow", { min: 1, max: SEATS_MAX })),
    add(rangeField({ label: t("planBend"), min: -BEND_MAX, max: BEND_MAX, words: (value) => `${value}°`, get: () => store.picked[0]?.bend ?? 0,
      draft: (bend) => store.draft(reshape({ bend })), set: (bend) => store.change(reshape({ bend })) })),
    el("div", { class: "three" },
      number("rotation", "planTurn", { min: 0, max: 359 }),
      number("seatStep", "planSeatStep", { min: 50, max: 400, factor: PITCH / 100 }),
      number("rowStep", "planRowStep", { min: 50, max: 400, factor: PITCH / 100 })),
    numberingFields(store, add),
  ];
}

function numberingFields(store, add) {
  const now = () => store.picked[0]?.numbering ?? DEFAULT_NUMBERING;
  const change = (next) => store.change(store.mapped((section) => ({ ...section, numbering: { ...section.numbering, ...next } })));
  const at = (name) => ({ get: () => now()[name], set: (value) => change({ [name]: value }) });
  const from = (name) => ({ get: () => (now()[name] ? "yes" : "no"), set: (value) => change({ [name]: value === "yes" }) });
  const nGone = goneIn(store.picked[0]);
  const restore = () => store.change(store.mapped((section) => ({ ...section, marks: Object.fromEntries(Object.entries(section.marks).filter(([, { state }]) => state !== "gone")) })));
  return el("fieldset", { class: "stack" },
    el("legend", {}, t("planNumbers")),
    el("div", { class: "two" },
      add(textField({ label: t("planRowFirst"), name: "firstRow", maxlength: 6, required: true, ...at("firstRow") })),
      add(choiceField({ label: t("planRowsFrom"), name: "fromBack", options: [["no", t("planFront")], ["yes", t("planBack")]], ...from("fromBack") })),
      add(textField({ label: t("planSeatFirst"), name: "firstSeat", maxlength: 6, required: true, ...at("firstSeat") })),
      add(choiceField({ label: t("planSeatsFrom"), name: "fromRight", options: [["no", t("planLeft")], ["yes", t("planRight")]], ...from("fromRight") })),
      add(choiceField({ label: t("planStep"), name: "step", options: [["1", t("planEach")], ["2", t("planEveryOther")]],
        get: () => String(now().step), set: (value) => change({ step: Number(value) }) }))),
    add(tickField({ label: t("planSkipIO"), ...at("skipsIO") })),
    nGone ? button(t("planRestore", nGone), restore) : null);
}

function freeFields(store, add) {
  const [section] = store.picked;
  const byRules = () => store.change(store.mapped((it) => ({ ...it, numbering: DEFAULT_NUMBERING })));
  return [
    el("p", { class: "quiet" }, t("planFreeWords")),
    el("div", { class: "two" },
      add(numberField({ label: t("planTurn"), name: "rotation", min: 0, max: 359, ...member(store, "rotation") })),
      add(numberField({ label: t("planScale"), name: "scale", min: 10, max: 1000, ...member(store, "scale", 0.01) }))),
    el("div", { class: "row" }, button(t("planAnew"), () => layOutAnew(store)), section.numbering ? null : button(t("planByRules"), byRules)),
    section.numbering ? numberingFields(store, add) : null,
  ];
}

function standingFields(store, add) {
  const number = (name, label, max) => add(numberField({ label: t(label), name, min: 1, max, ...member(store, name) }));
  return el("div", { class: "three" }, number("count", "planCapacity", STANDING_MAX), number("width", "planWidth", 10_000), number("height", "planHeight", 10_000));
}

function manyPanel(store, add) {
  const first = el("input", { type: "text", name: "firstName", maxlength: LABEL_MAX, value: store.picked[0].name, "aria-label": t("planNamesFrom") });
  return [
    bar(t("planMany", store.picked.length), t("seatCount", count(store.picked.reduce((sum, it) => sum + nSold(it), 0)))),
    body(
      add(gradeField(store)),
      el("div", { class: "field" }, t("planNamesFrom"), el("div", { class: "row" }, first, button(t("planApply"), () => nameInOrder(store, first.value.trim())))),
      el("div", { class: "row" },
        button(t("planTurnLeft"), () => turnBy(store, -15)),
        button(t("planTurnRight"), () => turnBy(store, 15))),
      el("div", { class: "row" },
        button(t("planCopy"), () => copySelected(store)),
        button(t("planMirror"), () => mirrorSelected(store)),
        removeButton(store)))];
}

/** Names the selected sections one after the other, as they were drawn. */
function nameInOrder(store, first) {
  if (!first) return;
  const others = store.plan.sections.filter(({ key }) => !store.selected.has(key));
  let named = { ...store.plan, sections: others };
  const names = new Map();
  let name = first;
  for (const section of store.picked) {
    name = freeName(named, name);
    names.set(section.key, name);
    named = { ...named, sections: [...named.sections, { ...section, name }] };
  }
  store.change(store.mapped((section) => ({ ...section, name: names.get(section.key) })));
}

function paintPanel(store, add) {
  const counts = { element: el("ul", { class: "grades" }), update: () => counts.element.replaceChildren(...gradeButtons(store)) };
  const fresh = el("input", { type: "text", name: "newGrade", maxlength: LABEL_MAX, placeholder: t("planNewGrade"), "aria-label": t("planNewGrade") });
  const create = () => {
    const grade = fresh.value.trim();
    if (!grade) return;
    store.grade = grade;
    store.change(store.withGrade(store.plan, grade));
  };
  fresh.addEventListener("keydown", (event) => (event.key === "Enter" ? create() : null));
  return [
    bar(t("paint")),
    body(
      el("p", { class: "quiet" }, t("hintpaint")),
      add(counts),
      el("div", { class: "row" }, fresh, button(t("planAddGrade"), create)),
      add(choiceField({ label: t("planBrush"), name: "brush", options: ["section", "row", "seat"].map((it) => [it, t(`brush${it}`)]), get: () => store.brush, set: (value) => store.set("brush", value) })),
      button(t("planPaintPicked"), () => paintPicked(store)))];
}

function gradeButtons(store) {
  const counts = gradeCounts(store.plan);
  return store.plan.grades.map((grade, i) => el("li", {}, el("button", { type: "button", class: "grade", "aria-pressed": String(store.grade === grade), onclick: () => store.set("grade", grade) },
    el("i", { class: `dot g${Math.min(COLOURS - 1, i)}`, "aria-hidden": "true" }), grade, el("b", { class: "num" }, count(counts.get(grade) ?? 0)))));
}

/** The brush without a mouse: paints the sections that are selected. */
function paintPicked(store) {
  const bare = (marks) => Object.fromEntries(Object.entries(marks).map(([key, { grade, ...mark }]) => [key, mark]).filter(([, mark]) => Object.keys(mark).length));
  store.change(store.withGrade(store.mapped((section) => ({ ...section, grade: store.grade, marks: bare(section.marks) })), store.grade));
}

function seatsPanel(store, add) {
  const n = { element: el("small", { class: "num" }), update: () => (n.element.textContent = t("planSeatsPicked", [...store.seats.values()].reduce((sum, set) => sum + set.size, 0))) };
  const act = (words, change, kind) => button(t(words), () => markSeats(store, change), kind);
  if (!store.seats.size) return [el("h2", { class: "bar" }, t("toolseats"), add(n)), body(el("p", { class: "quiet" }, t("hintseats")))];
  return [
    el("h2", { class: "bar" }, t("toolseats"), add(n)),
    body(
      el("div", { class: "row" }, act("planBlock", { state: "gap" }), act("planUnblock", { state: null }), act("planDeleteSeats", { state: "gone" }, "stop")),
      el("div", { class: "row" },
        act("planWheelchair", { accessible: true, companion: null }), act("planCompanion", { companion: true, accessible: null }),
        act("planRestrict", { restrictedView: true }), act("planOrdinary", { accessible: null, companion: null, restrictedView: null })),
      el("div", { class: "row" }, store.plan.grades.map((grade) => button(grade, () => markSeats(store, { grade })))),
      el("p", { class: "quiet" }, icon("bell"), t("planBlockWords")))];
}

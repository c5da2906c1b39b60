// The seat plan of a hall: generated or imported, painted with grades, validated by the server, and
// shown as fans will see it.

import "../../../shared/seatmap/element.js";
import { call, get } from "../../../shared/app/api.js";
import { announce, el, icon, problemBox, whileBusy } from "../../../shared/ui/dom.js";
import { count } from "../../../shared/ui/format.js";
import { t } from "../../../shared/ui/i18n.js";
import { COLOURS, readPlan } from "../../../shared/seatmap/plan.js";
import { save } from "../../../shared/ui/table.js";
import { area, card, choice, field, heading } from "../../form.js";
import { generate, SHAPES } from "./generate.js";
import { readPlanFile } from "./import.js";

export async function hallPlan(page) {
  const isNew = page.id === "new";
  const from = isNew ? page.query.get("from") : page.id;
  const template = from ? await get(`/api/admin/halls/${from}/template`, { signal: page.signal }) : null;
  const desk = openDesk(page, { isNew, template: template ?? generate(DEFAULTS) });
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(isNew ? t("newHall") : t("seatPlan"), t("planWords")),
    el("div", { class: "desk" },
      el("div", { class: "stack slim" }, desk.saving, desk.generating, desk.importing, desk.painting),
      desk.preview));
  await desk.check();
}

const DEFAULTS = { shape: "arena", blocks: 6, rows: 30, seats: 60, grades: ["VIP", "R", "S", "A"] };

function openDesk(page, { isNew, template }) {
  const map = document.createElement("seat-map");
  map.words = { stage: t("stage") };
  map.setAttribute("role", "img");
  map.setAttribute("aria-label", t("planPreview"));
  const counts = el("div", { class: "counts num" });
  const problem = problemBox();
  const source = area({ label: t("planSource"), name: "source", rows: 8, spellcheck: "false" });
  const text = source.querySelector("textarea");
  const paint = el("input", { type: "text", value: "VIP", "aria-label": t("paintGrade") });
  let current = template;
  let plan = null;

  async function check() {
    problem.show("");
    try {
      const found = await call("POST", "/api/admin/layouts/preview", { body: { seatTemplate: current }, signal: page.signal });
      show(found);
      text.value = JSON.stringify(current, null, 1);
      return true;
    } catch (error) {
      if (error.name === "AbortError") throw error;
      problem.show([error.message, ...(error.body?.errors ?? []).map(({ field, detail }) => `${field}: ${detail}`)].join(" · "));
      return false;
    }
  }

  function show(found) {
    // In drawing order: organisers start with the most expensive.
    const drawn = found.layout.sections.flatMap(({ seats }) => seats.map(({ grade }) => grade));
    const grades = [...new Set(drawn)];
    plan = readPlan(found.layout, grades);
    map.show(plan, new Uint8Array(plan.n));
    const fact = (name, value) => el("span", {}, el("b", {}, count(value)), ` ${name}`);
    counts.replaceChildren(
      fact(t("planSeats"), found.seats),
      ...grades.map((grade, i) => el("span", {}, el("i", { class: `dot g${Math.min(COLOURS - 1, i)}`, "aria-hidden": "true" }), `${grade} `, el("b", {}, count(found.grades[grade])))),
      ...(found.standing ? [fact(t("planStanding"), found.standing)] : []),
      ...(found.accessible ? [fact(t("planAccessible"), found.accessible)] : []),
      ...(found.restrictedView ? [fact(t("planRestricted"), found.restrictedView)] : []));
    announce(t("planChecked", count(found.seats)));
  }

  /** A tap on a section assigns it the grade of the brush. */
  map.addEventListener("section", ({ detail }) => paintSection(detail));
  map.addEventListener("seat", ({ detail }) => paintSection(plan.section[detail]));

  function paintSection(index) {
    const name = plan.sections[index].name;
    const section = current.sections?.find((it) => it.name === name);
    if (!section || !paint.value) return;
    current = { ...current, sections: current.sections.map((it) => (it === section ? painted(it, paint.value) : it)) };
    check();
  }

  return {
    check,
    saving: savingCard(page, { isNew, template: () => current, check, problem }),
    generating: generatingCard(async (next, asked) => {
      current = next;
      const isGood = await check();
      map.showAll();
      const unused = asked.filter((grade) => !next.sections.some((it) => it.grade === grade));
      if (isGood && unused.length) problem.show(t("gradesUnused", unused.join(", ")));
    }),
    importing: importingCard({ source, text, problem, take: (next) => {
      current = next;
      return check();
    } }),
    painting: card(t("paint"), null, el("div", { class: "pad stack" },
      el("label", { class: "field" }, t("paintGrade"), paint), el("p", { class: "quiet" }, t("paintHow")))),
    preview: el("section", { class: "card preview" },
      el("h2", { class: "bar" }, t("planPreview"), el("button", { class: "btn small", type: "button", onclick: () => map.showAll() }, icon("fit"), t("planFit"))), counts, problem.element, map),
  };
}

/** Removes the grades of single seats and rows, because the brush paints the whole section. */
function painted(section, grade) {
  const rows = section.rows?.map(({ grade: _row, seats, ...row }) =>
    ({ ...row, ...(seats ? { seats: seats.map(({ grade: _seat, ...seat }) => seat) } : {}) }));
  return { ...section, grade, ...(rows ? { rows } : {}) };
}

function savingCard(page, { isNew, template, check, problem }) {
  const button = el("button", { class: "btn primary wide" }, t("saveIt"));
  const name = isNew ? field({ label: t("hallName"), name: "name", required: true, maxlength: 200 }) : null;
  const form = el("form", { class: "pad stack" }, name,
    button,
    el("button", { class: "btn wide", type: "button", onclick: () =>
      save(new Blob([JSON.stringify(template(), null, 2)], { type: "application/json" }), "seat-plan.json") }, t("planExport")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(button, async () => {
      if (!(await check())) return;
      try {
        const body = { seatTemplate: template(), ...(isNew ? { name: new FormData(form).get("name") } : {}) };
        if (isNew) await call("POST", `/api/admin/venues/${page.query.get("venue")}/halls`, { body });
        else await call("PATCH", `/api/admin/halls/${page.id}`, { body });
        announce(t("saved"));
        page.go("#/venues");
      } catch (error) {
        problem.show(error.message);
      }
    });
  });
  return card(isNew ? t("newHall") : t("seatPlan"), null, form);
}

function generatingCard(take) {
  const number = (name, max) => field({ label: t(`gen${name}`), name, type: "number", min: 1, max, value: DEFAULTS[name], required: true });
  const button = el("button", { class: "btn" }, t("generate"));
  const form = el("form", { class: "pad stack" },
    choice({ label: t("genshape"), name: "shape", options: SHAPES.map((it) => [it, t(`shape${it}`)]), value: DEFAULTS.shape }),
    el("div", { class: "three" }, number("blocks", 26), number("rows", 200), number("seats", 400)),
    field({ label: t("gengrades"), name: "grades", value: DEFAULTS.grades.join(", "), required: true }),
    button);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { shape, blocks, rows, seats, grades } = Object.fromEntries(new FormData(form));
    const asked = { shape, blocks: Number(blocks), rows: Number(rows), seats: Number(seats) };
    asked.grades = grades.split(",").map((it) => it.trim()).filter(Boolean);
    whileBusy(button, () => take(generate(asked), asked.grades));
  });
  return card(t("generate"), null, form);
}

function importingCard({ source, text, problem, take }) {
  const file = el("input", { type: "file", accept: ".json,application/json", class: "sr" });
  const read = async (words) => {
    try {
      await take(readPlanFile(words));
    } catch (error) {
      problem.show(error instanceof SyntaxError ? t("planNotJson") : error.message);
    }
  };
  file.addEventListener("change", async () => read(await file.files[0].text()));
  const button = el("button", { class: "btn", type: "button" }, t("planApply"));
  button.addEventListener("click", () => whileBusy(button, () => read(text.value)));
  return card(t("import"), null,
    el("div", { class: "pad stack" },
      el("p", { class: "quiet" }, t("importWords")),
      el("div", {}, el("label", { class: "btn" }, icon("download"), t("planFile"), file)),
      el("details", {}, el("summary", {}, t("planSource")), source, button)));
}

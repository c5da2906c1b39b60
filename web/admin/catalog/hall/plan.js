// The seat plan of a hall: drawn from nothing, generated or imported, and saved as the template that
// the API takes.

import { call, get } from "../../../shared/app/api.js";
import { announce, el, icon, problemBox, whileBusy } from "../../../shared/ui/dom.js";
import { t } from "../../../shared/ui/i18n.js";
import { save } from "../../../shared/ui/table.js";
import { area, choice, field, heading } from "../../form.js";
import { openBar } from "./editor/bar.js";
import { Board } from "./editor/board.js";
import { backgroundButtons } from "./editor/background.js";
import { listenToKeys } from "./editor/keys.js";
import { openPanel } from "./editor/panel.js";
import { problemsOf } from "./model/sections.js";
import { openStatus, sectionList } from "./editor/status.js";
import { Store } from "./model/store.js";
import { readTemplate, writeTemplate } from "./model/template.js";
import { generate, SHAPES } from "./generate.js";
import { readPlanFile } from "./import.js";

const DEFAULTS = { shape: "arena", blocks: 12, rows: 24, seats: 140, grades: ["VIP", "R", "S", "A"] };

/** Plans that were left without saving, by hall, until the page is closed. */
const unsaved = new Map();

export async function hallPlan(page) {
  const isNew = page.id === "new";
  const key = isNew ? `new:${page.query.get("venue")}:${page.query.get("from") ?? ""}` : page.id;
  const from = isNew ? page.query.get("from") : page.id;
  const template = from ? await get(`/api/admin/halls/${from}/template`, { signal: page.signal }) : generate(DEFAULTS);
  const store = new Store(readTemplate(template));
  if (unsaved.has(key)) store.change(unsaved.get(key));
  const board = new Board(store);
  page.main.className = "wide";
  page.main.replaceChildren(...draw(page, { isNew, key, store, board }));
  board.show();
  keepUnsaved(page, key, store);
}

function draw(page, { isNew, key, store, board }) {
  const problem = problemBox();
  const saving = saveForm(page, { isNew, store, problem });
  const root = el("div", { class: "planner" },
    el("div", { class: "card canvas" },
      openBar(board, store, el("div", { class: "group" }, backgroundButtons(board, key, problem))),
      board.element, openStatus(store)),
    el("div", { class: "stack slim" }, openPanel(store), generator(store, board, problem), sectionList(store, board), files(store, board, problem)),
    el("datalist", { id: "plan-grades" }),
    el("p", { class: "sr", id: "plan-keys" }, t("planKeys")));
  const grades = root.querySelector("datalist");
  const names = () => grades.replaceChildren(...store.plan.grades.map((grade) => el("option", { value: grade })));
  names();
  store.addEventListener("change", names);
  listenToKeys(root, board, store);
  return [heading(isNew ? t("newHall") : t("seatPlan"), t("planWords"), saving), problem.element, root];
}

/** Asks before the page is closed, and gives the plan back to an organiser who returns to it. */
function keepUnsaved({ signal }, key, store) {
  const warn = (event) => (store.isDirty ? event.preventDefault() : null);
  window.addEventListener("beforeunload", warn, { signal });
  signal.addEventListener("abort", () => {
    if (store.isDirty) unsaved.set(key, store.plan);
    else unsaved.delete(key);
  });
}

function saveForm(page, { isNew, store, problem }) {
  const button = el("button", { class: "btn primary" }, t("saveIt"));
  const name = isNew ? el("input", { type: "text", name: "name", required: true, maxlength: 200, placeholder: t("hallName"), "aria-label": t("hallName") }) : null;
  const state = el("span", { class: "badge", role: "status" });
  const form = el("form", { class: "row save" }, state, name, button);
  const update = () => {
    state.textContent = t(store.isDirty ? "planUnsaved" : "planSaved");
    state.hidden = !store.isDirty && !store.hasSaved;
    state.classList.toggle("warn", store.isDirty);
  };
  update();
  store.addEventListener("change", update);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(button, async () => {
      problem.show("");
      try {
        await send(page, { isNew, store, name: name?.value });
      } catch (error) {
        if (error.name === "AbortError") throw error;
        problem.show([error.message, ...(error.body?.errors ?? []).map(({ field: at, detail }) => `${at}: ${detail}`)].join(" · "));
      }
    });
  });
  return form;
}

async function send(page, { isNew, store, name }) {
  const [wrong] = problemsOf(store.plan);
  if (wrong) throw new Error(t(...wrong));
  const { plan } = store;
  const seatTemplate = writeTemplate(plan);
  if (isNew) await call("POST", `/api/admin/venues/${page.query.get("venue")}/halls`, { body: { name, seatTemplate } });
  else await call("PATCH", `/api/admin/halls/${page.id}`, { body: { seatTemplate } });
  Object.assign(store, { saved: plan, hasSaved: true });
  store.told("tool");
  announce(t("saved"));
  if (isNew) page.go("#/venues");
}

/** Another plan instead of this one; undo brings the old one back. */
function take(store, board, plan) {
  store.change(plan);
  store.select([]);
  store.set("grade", plan.grades[0] ?? "");
  board.map.showAll();
}

function generator(store, board, problem) {
  const number = (name, max) => field({ label: t(`gen${name}`), name, type: "number", min: 1, max, value: DEFAULTS[name], required: true });
  const form = el("form", { class: "pad stack" },
    choice({ label: t("genshape"), name: "shape", options: SHAPES.map((it) => [it, t(`shape${it}`)]), value: DEFAULTS.shape }),
    el("div", { class: "three" }, number("blocks", 40), number("rows", 200), number("seats", 600)),
    field({ label: t("gengrades"), name: "grades", value: DEFAULTS.grades.join(", "), required: true }),
    el("div", { class: "row" }, el("button", { class: "btn" }, t("generate")),
      el("button", { class: "btn", type: "button", onclick: () => take(store, board, { stage: null, focus: null, grades: store.plan.grades, sections: [] }) }, t("planFromNothing"))));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    problem.show("");
    const { shape, blocks, rows, seats, grades } = Object.fromEntries(new FormData(form));
    const asked = { shape, blocks: Number(blocks), rows: Number(rows), seats: Number(seats), grades: grades.split(",").map((it) => it.trim()).filter(Boolean) };
    const plan = readTemplate(generate(asked));
    take(store, board, plan);
    const unused = asked.grades.filter((grade) => !plan.grades.includes(grade));
    if (unused.length) problem.show(t("gradesUnused", unused.join(", ")));
  });
  return el("details", { class: "card fold", open: true }, el("summary", {}, t("generate")), form);
}

/** Plans as files and as text: our own and pretix plans in, our own out. */
function files(store, board, problem) {
  const file = el("input", { type: "file", accept: ".json,application/json", class: "sr" });
  const source = area({ label: t("planSource"), name: "source", rows: 8, spellcheck: "false" });
  const text = source.querySelector("textarea");
  const read = async (words) => {
    problem.show("");
    try {
      const template = readPlanFile(words);
      // The server knows best what it takes, and names the place of a mistake.
      await call("POST", "/api/admin/layouts/preview", { body: { seatTemplate: template } });
      take(store, board, readTemplate(template));
    } catch (error) {
      const places = (error.body?.errors ?? []).map(({ field: at, detail }) => `${at}: ${detail}`);
      problem.show(error instanceof SyntaxError ? t("planNotJson") : [error.message, ...places].join(" · "));
    }
  };
  file.addEventListener("change", async () => (file.files[0] ? read(await file.files[0].text()) : null));
  const apply = el("button", { class: "btn", type: "button" }, t("planApply"));
  apply.addEventListener("click", () => whileBusy(apply, () => read(text.value)));
  const written = () => JSON.stringify(writeTemplate(store.plan), null, 1);
  const shown = el("details", {}, el("summary", {}, t("planSource")), source, apply);
  shown.addEventListener("toggle", () => (shown.open ? (text.value = written()) : null));
  const download = () => save(new Blob([written()], { type: "application/json" }), "seat-plan.json");
  return el("details", { class: "card fold" }, el("summary", {}, t("planFiles")), el("div", { class: "pad stack" },
    el("p", { class: "quiet" }, t("importWords")),
    el("div", { class: "row" }, el("label", { class: "btn" }, icon("download"), t("planFile"), file),
      el("button", { class: "btn", type: "button", onclick: download }, t("planExport"))),
    shown));
}

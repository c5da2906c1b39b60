// Below the plan its figures and mistakes; beside it the list of its sections.

import { el, icon } from "../../../../shared/ui/dom.js";
import { count } from "../../../../shared/ui/format.js";
import { t } from "../../../../shared/ui/i18n.js";
import { COLOURS } from "../../../../shared/seatmap/plan.js";
import { drawn, gradeCounts, nSold, problemsOf } from "../model/sections.js";

const PROBLEMS_SHOWN = 3;

export function openStatus(store) {
  const counts = el("div", { class: "counts num" });
  const problems = el("ul", { class: "problems", role: "status" });
  const update = ({ detail } = {}) => {
    if (detail === "selection" || detail === "tool") return;
    counts.replaceChildren(...figures(store.plan));
    if (detail === "draft") return;
    const found = problemsOf(store.plan);
    const words = found.slice(0, PROBLEMS_SHOWN).map((problem) => el("li", {}, icon("warn"), t(...problem)));
    problems.replaceChildren(...words, ...(PROBLEMS_SHOWN < found.length ? [el("li", {}, t("planMore", found.length - PROBLEMS_SHOWN))] : []));
    problems.hidden = !found.length;
  };
  update();
  store.addEventListener("change", update);
  return el("div", {}, counts, problems);
}

function figures(plan) {
  const fact = (name, value) => (value ? el("span", {}, el("b", {}, count(value)), ` ${name}`) : null);
  const total = plan.sections.reduce((sum, section) => sum + nSold(section), 0);
  const standing = plan.sections.reduce((sum, { kind, count: n }) => sum + (kind === "standing" ? n : 0), 0);
  const marks = plan.sections.flatMap((section) => Object.values(section.marks));
  const n = (name) => marks.filter((mark) => mark[name]).length;
  const grades = [...gradeCounts(plan)].map(([grade, seats], i) =>
    el("span", {}, el("i", { class: `dot g${Math.min(COLOURS - 1, i)}`, "aria-hidden": "true" }), `${grade} `, el("b", {}, count(seats))));
  return [
    el("span", {}, el("b", {}, count(total)), ` ${t("planSeats")}`), ...grades,
    fact(t("planStanding"), standing), fact(t("planAccessible"), n("accessible")), fact(t("planRestricted"), n("restrictedView")),
    fact(t("planBlocked"), marks.filter(({ state }) => state === "gap").length),
  ].filter(Boolean);
}

/** Every section as a button: the plan without a mouse, and without seeing it. */
export function sectionList(store, board) {
  const list = el("ul", { class: "sections" });
  const summary = el("summary", {});
  const item = (section) => {
    const button = el("button", { type: "button", "data-key": section.key, onclick: (event) => {
      store.use("select");
      store.select(event.shiftKey ? [...store.selected, section.key] : [section.key]);
      board.map.openSection(store.plan.sections.findIndex(({ key }) => key === section.key));
    } }, el("b", {}, section.name || "–"), el("span", {}, section.grade), el("span", { class: "num" }, count(drawn(section).seats.length)));
    return el("li", {}, button);
  };
  const update = ({ detail } = {}) => {
    if (detail === "draft" || detail === "tool") return;
    if (detail !== "selection") {
      summary.textContent = t("planSections", store.plan.sections.length);
      list.replaceChildren(...store.plan.sections.map(item));
    }
    for (const button of list.querySelectorAll("button")) button.setAttribute("aria-pressed", String(store.selected.has(Number(button.dataset.key))));
  };
  update();
  store.addEventListener("change", update);
  return el("details", { class: "card fold" }, summary, list);
}

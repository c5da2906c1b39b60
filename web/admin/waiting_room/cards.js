// The seven figures on top, each with its course over the last twenty minutes: what the server kept,
// then what arrives.

import { el, svg } from "../../shared/ui/dom.js";
import { count, shortWon, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";

/** Points of a chart, and the time between two of them: the server keeps one in ten seconds. */
const POINTS = 120;
const STEP_MS = 10_000;

const FIGURES = [
  { key: "waiting", colour: "var(--brand)", of: (it) => it.waiting + it.gathered },
  { key: "active", colour: "var(--grade-1)", of: (it) => it.active },
  { key: "admittedPerSecond", colour: "var(--ok)", of: (it) => it.admittedPerSecond, digits: 1 },
  { key: "held", colour: "var(--grade-3)", of: (it) => it.held },
  { key: "sold", colour: "var(--ok)", of: (it) => it.sold },
  { key: "revenue", colour: "var(--brand)", of: (it) => it.revenue, show: shortWon },
  { key: "errors", colour: "var(--danger)", of: (it) => it.errorRatio * 100, digits: 2, unit: "%" },
];

/** The note below each figure. */
const NOTES = {
  waiting: (it) => (it.gathered ? t("noteGathered", count(it.gathered)) : t("noteLeft", count(it.left), count(it.expired))),
  active: (it) => t("noteCap", count(it.settings.maxActive)),
  admittedPerSecond: (it) => t("noteRate", count(it.settings.admitPerSecond), it.admitPercent),
  held: (it) => t("noteHeld", count(it.available)),
  sold: (it) => t("noteSold", share(it)),
  revenue: (it) => (it.sold ? t("notePerSeat", won(Math.round(it.revenue / it.sold))) : t("noteNoSale")),
  errors: (it) => t("noteP99", count(it.p99Ms)),
};

const share = ({ sold, held, available }) => ((100 * sold) / Math.max(1, sold + held + available)).toFixed(1);

/** The figures that the server keeps, by their names in the samples. */
const KEPT = { waiting: "waiting", active: "inside", held: "held", sold: "sold", revenue: "revenue" };

/** With the samples of the time before the page was opened. */
export function cards(samples) {
  const made = FIGURES.map((figure) => ({ figure, ...card(figure) }));
  const points = new Map(samples.map((it) => [stepOf(it.at), Object.fromEntries(FIGURES.map(({ key }) => [key, it[KEPT[key]]]))]));
  return {
    element: el("div", { class: "kpis" }, made.map(({ element }) => element)),
    take(view) {
      points.set(stepOf(view.now), Object.fromEntries(FIGURES.map(({ key, of }) => [key, of(view)])));
      const shown = [...points.values()].slice(-POINTS);
      for (const { figure, number, note, draw } of made) {
        number.textContent = digits(figure, figure.of(view));
        note.textContent = NOTES[figure.key](view);
        draw(shown.map((it) => it[figure.key]).filter((value) => value !== undefined));
      }
    },
  };
}

const stepOf = (time) => Math.floor(Date.parse(time) / STEP_MS);

function digits({ digits = 0, unit = "", show }, value) {
  if (show) return show(value);
  return digits ? `${value.toFixed(digits)}${unit}` : count(value);
}

function card({ key, colour }) {
  const number = el("b", {});
  const note = el("small", {});
  const area = svg("path", { opacity: ".12", fill: "currentColor" });
  const line = svg("path", { fill: "none", stroke: "currentColor", "stroke-width": "1.8", "vector-effect": "non-scaling-stroke" });
  const chart = svg("svg", { viewBox: "0 0 100 28", preserveAspectRatio: "none", "aria-hidden": "true" }, area, line);
  chart.style.color = colour;
  const draw = (values) => {
    const top = Math.max(...values, 1e-9);
    const step = 100 / Math.max(1, values.length - 1);
    const points = values.map((value, i) => `${(i * step).toFixed(1)} ${(26 - (value / top) * 23).toFixed(1)}`);
    const path = `M${(points.length > 1 ? points : [points[0], `100 ${points[0].split(" ")[1]}`]).join("L")}`;
    line.setAttribute("d", path);
    area.setAttribute("d", `${path}L100 28L0 28Z`);
  };
  const element = el("section", { class: "card kpi num" }, el("h2", {}, t(`kpi${key}`)), number, note, chart);
  return { element, number, note, draw };
}

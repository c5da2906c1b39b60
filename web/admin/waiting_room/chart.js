// Lines over time, drawn as SVG. A table of the same figures is in the file beside it.

import { el, svg } from "../../shared/ui/dom.js";
import { count, showTime } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";

const [WIDTH, HEIGHT, MARGIN] = [720, 180, 8];

/** One line per key of the samples, all on one scale. */
export function chart(samples, lines, words) {
  if (samples.length < 2) return el("p", { class: "quiet pad" }, t("reportNoCourse"));
  const times = samples.map(({ at }) => Date.parse(at));
  const [first, last] = [times[0], times.at(-1)];
  const top = Math.max(1, ...lines.flatMap(({ key }) => samples.map((it) => it[key])));
  const x = (time) => ((time - first) / Math.max(1, last - first)) * WIDTH;
  const y = (value) => HEIGHT - (value / top) * (HEIGHT - MARGIN);
  const path = (key) => samples.map((it, i) => `${i ? "L" : "M"}${x(times[i]).toFixed(1)} ${y(it[key]).toFixed(1)}`).join("");
  const picture = svg("svg", { class: "course", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": summary(samples, lines, words) },
    ...[0, 0.5, 1].map((share) => svg("line", { x1: 0, x2: WIDTH, y1: y(top * share), y2: y(top * share), class: "grid" })),
    ...lines.map(({ key, colour }) => stroke(path(key), colour)));
  return el("figure", { class: "course pad" },
    el("p", { class: "legend num" },
      lines.map(({ key, colour }) => el("span", {}, mark(colour), `${t(words + key)} (${t("reportMost", count(Math.max(...samples.map((it) => it[key]))))})`))),
    picture,
    el("figcaption", { class: "row between quiet num" }, el("span", {}, showTime(first)), el("span", {}, showTime(last))));
}

function stroke(d, colour) {
  const line = svg("path", { d, fill: "none", stroke: "currentColor", "stroke-width": "2", "vector-effect": "non-scaling-stroke" });
  line.style.color = colour;
  return line;
}

function mark(colour) {
  const dot = el("i", { class: "dot", "aria-hidden": "true" });
  dot.style.background = colour;
  return dot;
}

function summary(samples, lines, words) {
  const part = ({ key }) => `${t(words + key)}: ${count(samples[0][key])} → ${count(samples.at(-1)[key])}`;
  return lines.map(part).join(", ");
}

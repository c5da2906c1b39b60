// Below the seats: the stage, the sections' shapes, the row labels; and the names on top.

import { COLOURS, PITCH } from "./plan.js";
import { inkOver } from "./theme.js";

const tone = (grade) => Math.min(grade, COLOURS - 1);

/** Draws the stage and the sections; returns the indexes of the visible sections. */
export function drawGround(pen, map) {
  const { view, theme, plan, detail, dpr } = map;
  const { width, height } = pen.canvas;
  pen.fillStyle = theme.ground;
  pen.fillRect(0, 0, width, height);
  drawStage(pen, map);
  const seen = plan.sections.filter(({ box }) => {
    const [left, top] = [box[0] * view.scale + view.left, box[1] * view.scale + view.top];
    const [right, bottom] = [box[2] * view.scale + view.left, box[3] * view.scale + view.top];
    return 0 < right && 0 < bottom && left < view.width && top < view.height;
  });
  for (const section of seen) drawSection(pen, map, section);
  if (2 <= detail && map.mode === "seats") seen.forEach((section) => drawRowLabels(pen, map, section, dpr));
  return seen;
}

function drawStage(pen, { plan, view, theme, dpr, words }) {
  if (!plan.stage) return;
  const { x, y, width, height } = plan.stage;
  const at = (value, offset) => (value * view.scale + offset) * dpr;
  const [w, h] = [width * view.scale * dpr, height * view.scale * dpr];
  pen.fillStyle = theme.stage;
  pen.beginPath();
  pen.roundRect(at(x, view.left), at(y, view.top), w, h, Math.min(w, h) * 0.14);
  pen.fill();
  const size = Math.min(h * 0.42, w * 0.12, 30 * dpr);
  if (size < 6 * dpr) return;
  pen.fillStyle = theme.stageInk;
  pen.font = `700 ${size}px ${theme.font}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.letterSpacing = `${size * 0.2}px`;
  pen.fillText(words.stage, at(x, view.left) + w / 2, at(y, view.top) + h / 2);
  pen.letterSpacing = "0px";
}

function drawSection(pen, map, section) {
  const { theme, detail, dpr } = map;
  trace(pen, map, section.outline);
  if (map.mode === "heat") return drawHeat(pen, map, section);
  const left = map.left[section.index];
  const tint = theme.tints[tone(section.grade)];
  const isOther = map.filter !== null && map.filter !== section.grade;
  pen.fillStyle = theme.section;
  pen.fill();
  if (detail === 0) {
    // Seats are too small to see: the more saturated the section, the more are free.
    pen.globalAlpha = left === 0 || isOther ? 0.12 : 0.35 + 0.65 * Math.min(1, (left / section.count) * 1.5);
    pen.fillStyle = tint;
    pen.fill();
    pen.globalAlpha = 1;
  } else if (map.open >= 0 && map.open !== section.index) {
    pen.globalAlpha = 0.5;
    pen.fillStyle = theme.ground;
    pen.fill();
    pen.globalAlpha = 1;
  }
  pen.strokeStyle = theme.sectionLine;
  pen.lineWidth = dpr;
  pen.stroke();
}

function drawHeat(pen, map, section) {
  pen.fillStyle = map.theme.section;
  pen.fill();
  pen.globalAlpha = heatOf(map, section);
  pen.fillStyle = map.theme.heat;
  pen.fill();
  pen.globalAlpha = 1;
  pen.strokeStyle = map.theme.ground;
  pen.lineWidth = 2 * map.dpr;
  pen.stroke();
}

/** The share of sold seats, 0 to 1; the cold end is stretched a little for visibility. */
const goneOf = (map, section) => 1 - map.left[section.index] / section.count;
const heatOf = (map, section) => 0.08 + 0.92 * goneOf(map, section) ** 1.2;

function trace(pen, { view, dpr }, outline) {
  pen.beginPath();
  pen.lineJoin = "round";
  outline.forEach(([x, y], i) => {
    const [px, py] = [(x * view.scale + view.left) * dpr, (y * view.scale + view.top) * dpr];
    if (i) pen.lineTo(px, py);
    else pen.moveTo(px, py);
  });
  pen.closePath();
}

/** The label takes the place of one more seat before the first of the row. */
function drawRowLabels(pen, { view, plan, theme }, section, dpr) {
  if (section.isStanding) return;
  const { x, y } = plan;
  pen.font = `600 ${Math.round(Math.min(11, view.scale * 4.4) * dpr)}px ${theme.font}`;
  pen.fillStyle = theme.ink2;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (const { label, from, end } of section.rows) {
    if (end - from < 2) continue;
    const [dx, dy] = [x[from] - x[from + 1], y[from] - y[from + 1]];
    const step = PITCH / (Math.hypot(dx, dy) || PITCH);
    const [px, py] = [x[from] + dx * step * 0.9, y[from] + dy * step * 0.9];
    pen.fillText(label, (px * view.scale + view.left) * dpr, (py * view.scale + view.top) * dpr);
  }
}

/** The sections' names on top of the seats, while seats are too small for numbers. */
export function drawNames(pen, map, seen) {
  const { view, dpr, theme, detail, mode } = map;
  const size = detail === 0 || mode === "heat" ? 11 : Math.max(11, Math.min(14, view.scale * 22));
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (const section of seen) {
    const place = {
      x: (section.cx * view.scale + view.left) * dpr,
      y: (section.cy * view.scale + view.top) * dpr,
      width: (section.box[2] - section.box[0]) * view.scale * dpr,
      height: (section.box[3] - section.box[1]) * view.scale * dpr,
    };
    pen.font = `700 ${size * dpr}px ${theme.font}`;
    const textWidth = pen.measureText(section.name).width;
    if (place.width < textWidth) continue;
    pen.globalAlpha = map.filter !== null && map.filter !== section.grade ? 0.35 : 1;
    if (mode === "heat") drawShare(pen, map, section, place);
    else if (detail === 0) drawPlainName(pen, map, section, place);
    else drawBadge(pen, map, section, { ...place, size, textWidth });
  }
  pen.globalAlpha = 1;
}

function drawShare(pen, map, section, { x, y, width, height }) {
  const { dpr, theme } = map;
  const hasTwo = 34 * dpr < height && 34 * dpr < width;
  pen.fillStyle = inkOver(theme, heatOf(map, section));
  pen.fillText(section.name, x, y - (hasTwo ? 6 * dpr : 0));
  if (!hasTwo) return;
  pen.font = `500 ${10 * dpr}px ${theme.font}`;
  pen.fillText(`${Math.round(goneOf(map, section) * 100)}%`, x, y + 7 * dpr);
}

function drawPlainName(pen, { theme, left }, section, { x, y }) {
  pen.fillStyle = left[section.index] ? theme.ink : theme.held;
  pen.fillText(section.name, x, y);
}

function drawBadge(pen, map, section, { x, y, size, textWidth }) {
  const { dpr, theme, view } = map;
  const left = map.left[section.index];
  const hasTwo = 6.4 < view.scale * PITCH;
  const width = Math.max(textWidth, hasTwo ? size * 2 * dpr : 0) + size * dpr * 0.8;
  const height = (hasTwo ? size * 2.3 : size * 1.5) * dpr;
  pen.fillStyle = left ? theme.grades[tone(section.grade)] : theme.held;
  pen.beginPath();
  pen.roundRect(x - width / 2, y - height / 2, width, height, size * 0.55 * dpr);
  pen.fill();
  pen.strokeStyle = theme.section;
  pen.lineWidth = 1.5 * dpr;
  pen.stroke();
  pen.fillStyle = left ? theme.onGrades[tone(section.grade)] : theme.section;
  pen.fillText(section.name, x, y - (hasTwo ? size * 0.48 * dpr : 0) + dpr * 0.5);
  if (!hasTwo) return;
  pen.font = `500 ${size * 0.88 * dpr}px ${theme.font}`;
  pen.fillText(left || "–", x, y + size * 0.6 * dpr);
}

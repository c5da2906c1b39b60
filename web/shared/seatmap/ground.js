// Below the seats: the stage, the sections' shapes, the row labels; and the names on top.

import { COLOURS, PITCH } from "./plan.js";
import { inkOver } from "./theme.js";

/** Smaller names can't be read. */
const NAME_MIN_PX = 7.5;

/** The distance between the stripes of a standing zone. */
const STRIPE_PX = 9;

const tone = (grade) => Math.min(grade, COLOURS - 1);

/** Draws the stage and the sections; returns the indexes of the visible sections. */
export function drawGround(pen, map) {
  const { view, theme, plan, detail, dpr } = map;
  const { width, height } = pen.canvas;
  pen.fillStyle = theme.ground;
  pen.fillRect(0, 0, width, height);
  map.underlay?.(pen, map);
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
  } else if (!section.isStanding && map.open >= 0 && map.open !== section.index) {
    pen.globalAlpha = 0.5;
    pen.fillStyle = theme.ground;
    pen.fill();
    pen.globalAlpha = 1;
  }
  if (section.isStanding) drawZone(pen, map, section, { tint, isOther: isOther || left === 0 });
  pen.strokeStyle = section.isStanding ? theme.grades[tone(section.grade)] : theme.sectionLine;
  pen.lineWidth = dpr;
  pen.stroke();
}

/** A standing zone has no seats to draw: it is an area with stripes in the colour of its grade. */
function drawZone(pen, map, section, { tint, isOther }) {
  const { theme, dpr, view } = map;
  const [x0, y0, x1, y1] = section.box.map((at, i) => (at * view.scale + (i % 2 ? view.top : view.left)) * dpr);
  pen.fillStyle = tint;
  pen.globalAlpha = isOther ? 0.3 : 1;
  pen.fill();
  pen.save();
  pen.clip();
  pen.globalAlpha = isOther ? 0.1 : 0.35;
  pen.strokeStyle = theme.grades[tone(section.grade)];
  pen.lineWidth = 1.5 * dpr;
  pen.beginPath();
  const height = y1 - y0;
  for (let x = Math.max(x0, -height) - height; x < Math.min(x1, pen.canvas.width); x += STRIPE_PX * dpr) {
    pen.moveTo(x, y1);
    pen.lineTo(x + height, y0);
  }
  pen.stroke();
  pen.restore();
  pen.globalAlpha = 1;
  trace(pen, map, section.outline);
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

/** At both ends of a row the label takes the place of one more seat. */
function drawRowLabels(pen, { view, plan, theme }, section, dpr) {
  if (section.isStanding) return;
  const { x, y } = plan;
  pen.font = `600 ${Math.round(Math.min(11, view.scale * 4.4) * dpr)}px ${theme.font}`;
  pen.fillStyle = theme.ink2;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (const { label, from, end } of section.rows) {
    if (end - from < 2) continue;
    for (const [at, next] of [[from, from + 1], [end - 1, end - 2]]) {
      const [dx, dy] = [x[at] - x[next], y[at] - y[next]];
      const step = PITCH / (Math.hypot(dx, dy) || PITCH);
      const [px, py] = [x[at] + dx * step * 0.9, y[at] + dy * step * 0.9];
      pen.fillText(label, (px * view.scale + view.left) * dpr, (py * view.scale + view.top) * dpr);
    }
  }
}

/** The sections' names on top of the seats, while seats are too small for numbers. */
export function drawNames(pen, map, seen) {
  const { view, dpr, theme, detail, mode } = map;
  const largest = detail === 0 || mode === "heat" ? 11 : Math.max(11, Math.min(14, view.scale * 22));
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  map.labels = [];
  for (const section of bySize(seen)) {
    const place = {
      x: (section.cx * view.scale + view.left) * dpr,
      y: (section.cy * view.scale + view.top) * dpr,
      width: (section.box[2] - section.box[0]) * view.scale * dpr,
      height: (section.box[3] - section.box[1]) * view.scale * dpr,
    };
    pen.font = `700 ${largest * dpr}px ${theme.font}`;
    const needed = pen.measureText(section.name).width;
    // A name shrinks with its section while it can be read, and then needs free room around it.
    const fitting = largest * Math.min(1, section.isStanding ? 1 : place.width / needed);
    const size = Math.max(NAME_MIN_PX, fitting);
    if (place.height < size * dpr * 0.7) continue;
    pen.font = `700 ${size * dpr}px ${theme.font}`;
    const textWidth = needed * (size / largest);
    const label = labelOf(map, section, { ...place, size, textWidth });
    if (map.labels.some((other) => overlap(label, other))) continue;
    map.labels.push(label);
    pen.globalAlpha = map.filter !== null && map.filter !== section.grade ? 0.35 : 1;
    if (mode === "heat") drawShare(pen, map, section, place);
    else if (detail === 0 && !section.isStanding) drawPlainName(pen, map, section, place);
    else drawBadge(pen, map, section, { ...place, size, textWidth });
  }
  pen.globalAlpha = 1;
}

/** Standing zones first, then the largest: if two names have room for one, that one is drawn. */
const bySize = (seen) => [...seen].sort((a, b) => Number(b.isStanding) - Number(a.isStanding) || b.count - a.count);

/** The room that a name takes on the screen. */
function labelOf(map, section, { x, y, size, textWidth }) {
  const isBadge = map.mode !== "heat" && (map.detail > 0 || section.isStanding);
  const [width, height] = isBadge ? badgeSize(map, section, size, textWidth) : [textWidth, size * map.dpr];
  return { name: section.name, x: x - width / 2, y: y - height / 2, width, height };
}

function overlap(a, b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

function ownIn(map, section) {
  return section.isStanding ? [...map.own].filter((i) => map.plan.section[i] === section.index).length : 0;
}

const hasTwoLines = ({ view }, section) => section.isStanding || 6.4 < view.scale * PITCH;

function badgeSize(map, section, size, textWidth) {
  const { dpr } = map;
  const hasTwo = hasTwoLines(map, section);
  const width = Math.max(textWidth, hasTwo ? size * (ownIn(map, section) ? 4 : 2) * dpr : 0) + size * dpr * 0.8;
  return [width, (hasTwo ? size * 2.3 : size * 1.5) * dpr];
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
  const { dpr, theme } = map;
  const left = map.left[section.index];
  const own = ownIn(map, section);
  const hasTwo = hasTwoLines(map, section);
  const [width, height] = badgeSize(map, section, size, textWidth);
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
  pen.fillText(own ? `✓ ${own} · ${left}` : left || "–", x, y + size * 0.6 * dpr);
}

// A layout as the map needs it: columns of numbers, sections with outlines, a grid for hit tests.

import { areaOf, outlineOf } from "./outline.js";

/** The distance between two neighbours, in whatever unit the organiser drew. */
export const PITCH = 10;

/** Colours that distinguish grades; further grades share the last one. */
export const COLOURS = 8;

const CELL = 24;
const MARGIN = 50;

/**
 * Reads a layout from the API. `grades` are the names from the most expensive down. Seats keep the
 * layout's order, which is the order of the status string.
 */
export function readPlan(layout, grades) {
  const found = layout.sections ?? [];
  const seats = found.flatMap((section) => section.seats);
  const scale = PITCH / pitchOf(found);
  const plan = {
    n: seats.length,
    seats,
    grades,
    x: Float32Array.from(seats, (seat) => seat.x * scale),
    y: Float32Array.from(seats, (seat) => seat.y * scale),
    grade: Uint8Array.from(seats, (seat) => Math.max(0, grades.indexOf(seat.grade))),
    section: new Uint16Array(seats.length),
    row: new Uint16Array(seats.length),
    sections: [],
    stage: scaled(layout.stage, scale),
  };
  let first = 0;
  for (const section of found) {
    if (section.seats.length) plan.sections.push(readSection(plan, section, { first, scale }));
    first += section.seats.length;
  }
  plan.bounds = boundsOf(plan);
  plan.grid = gridOf(plan);
  return plan;
}

function readSection(plan, { name, seats, zone }, { first, scale }) {
  const index = plan.sections.length;
  const rows = [];
  seats.forEach((seat, offset) => {
    const last = rows.at(-1);
    if (last?.label === seat.row) last.end += 1;
    else rows.push({ label: seat.row, from: first + offset, end: first + offset + 1 });
    plan.section[first + offset] = index;
    plan.row[first + offset] = rows.length - 1;
  });
  const section = { index, name: name ?? "", first, count: seats.length, rows, isStanding: Boolean(seats[0].standing) };
  section.grade = commonGrade(plan, section);
  section.outline = section.isStanding ? areaOf(plan, section, scaled(zone, scale)) : outlineOf(plan, section);
  section.box = boxOf(section.outline);
  [section.cx, section.cy] = middleOf(plan, section);
  return section;
}

function commonGrade(plan, { first, count }) {
  const counts = new Map();
  for (let i = first; i < first + count; i += 1) counts.set(plan.grade[i], (counts.get(plan.grade[i]) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0][0];
}

function middleOf(plan, { first, count }) {
  let [x, y] = [0, 0];
  for (let i = first; i < first + count; i += 1) {
    x += plan.x[i];
    y += plan.y[i];
  }
  return [x / count, y / count];
}

/** A typical small distance between neighbours in a row, so that an outlier doesn't matter. */
function pitchOf(sections) {
  const found = [];
  for (const { seats } of sections) {
    if (seats[0]?.standing) continue;
    for (let i = 1; i < seats.length && found.length < 4_000; i += 1) {
      if (seats[i].row !== seats[i - 1].row) continue;
      const distance = Math.hypot(seats[i].x - seats[i - 1].x, seats[i].y - seats[i - 1].y);
      if (0 < distance) found.push(distance);
    }
  }
  found.sort((a, b) => a - b);
  return found[Math.floor(found.length / 10)] ?? PITCH;
}

function scaled(box, scale) {
  if (!box) return null;
  return { x: box.x * scale, y: box.y * scale, width: box.width * scale, height: box.height * scale };
}

function boxOf(points) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of points) {
    box[0] = Math.min(box[0], x);
    box[1] = Math.min(box[1], y);
    box[2] = Math.max(box[2], x);
    box[3] = Math.max(box[3], y);
  }
  return box;
}

function boundsOf({ sections, stage }) {
  const corners = sections.flatMap(({ box }) => [[box[0], box[1]], [box[2], box[3]]]);
  if (stage) corners.push([stage.x, stage.y], [stage.x + stage.width, stage.y + stage.height]);
  return corners.length ? boxOf(corners) : [0, 0, PITCH, PITCH];
}

/**
 * Seats by cells of the plane, as linked lists in two arrays: a hit test takes about a microsecond.
 * Places of a standing zone are all in its middle, so a tap there means the zone.
 */
export function gridOf({ n, x, y, bounds, seats }) {
  const [left, top] = [bounds[0] - MARGIN, bounds[1] - MARGIN];
  const width = Math.ceil((bounds[2] - left + MARGIN) / CELL);
  const height = Math.ceil((bounds[3] - top + MARGIN) / CELL);
  const head = new Int32Array(width * height).fill(-1);
  const next = new Int32Array(n);
  for (let i = 0; i < n; i += 1) {
    if (seats[i].standing) continue;
    const cell = Math.floor((y[i] - top) / CELL) * width + Math.floor((x[i] - left) / CELL);
    next[i] = head[cell];
    head[cell] = i;
  }
  return { left, top, width, height, head, next };
}

/** The seat nearest to a point within `reach`; -1 if there is none. */
export function seatNear(plan, px, py, reach) {
  const { left, top, width, height, head, next } = plan.grid;
  let [best, bestDistance] = [-1, reach * reach];
  const cells = (low, high, max) => [Math.max(0, Math.floor(low / CELL)), Math.min(max - 1, Math.floor(high / CELL))];
  const [rowFrom, rowTo] = cells(py - reach - top, py + reach - top, height);
  const [columnFrom, columnTo] = cells(px - reach - left, px + reach - left, width);
  for (let row = rowFrom; row <= rowTo; row += 1) {
    for (let column = columnFrom; column <= columnTo; column += 1) {
      for (let i = head[row * width + column]; i >= 0; i = next[i]) {
        const distance = (plan.x[i] - px) ** 2 + (plan.y[i] - py) ** 2;
        if (distance < bestDistance) [best, bestDistance] = [i, distance];
      }
    }
  }
  return best;
}

/** Seats within a rectangle of the plan, in the order of the layout. */
export function seatsIn(plan, [x0, y0, x1, y1]) {
  const { left, top, width, height, head, next } = plan.grid;
  const cell = (at, from, max) => Math.max(0, Math.min(max - 1, Math.floor((at - from) / CELL)));
  const found = [];
  for (let row = cell(y0, top, height); row <= cell(y1, top, height); row += 1) {
    for (let column = cell(x0, left, width); column <= cell(x1, left, width); column += 1) {
      for (let i = head[row * width + column]; i >= 0; i = next[i]) {
        if (x0 <= plan.x[i] && plan.x[i] <= x1 && y0 <= plan.y[i] && plan.y[i] <= y1) found.push(i);
      }
    }
  }
  return found.sort((a, b) => a - b);
}

/** The section whose outline contains a point; -1 if there is none. */
export function sectionAt(plan, x, y) {
  return plan.sections.findIndex(({ box, outline }) => {
    if (x < box[0] || box[2] < x || y < box[1] || box[3] < y) return false;
    let isInside = false;
    outline.forEach(([ax, ay], i) => {
      const [bx, by] = outline[(i + outline.length - 1) % outline.length];
      if ((ay > y) !== (by > y) && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) isInside = !isInside;
    });
    return isInside;
  });
}

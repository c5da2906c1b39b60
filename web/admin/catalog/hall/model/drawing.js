// The plan as the seat map draws it: the parts of all sections in columns. Parts are made once per
// version of a section, so a change to one section of a stadium copies arrays and no more.

import { gridOf } from "../../../../shared/seatmap/plan.js";
import { FREE, SOLD } from "../../../../shared/seatmap/sprites.js";
import { drawn } from "./sections.js";

/** Room around an empty plan, and around a drawn one. */
const EMPTY = [-300, -100, 300, 300];
const MARGIN = 60;

/** `{ plan, status }` for `<seat-map>`; a blocked seat looks sold. */
export function drawPlan(edited) {
  const parts = edited.sections.map(drawn);
  const n = parts.reduce((sum, { seats }) => sum + seats.length, 0);
  const plan = {
    n, grades: edited.grades, stage: edited.stage, sections: [],
    seats: parts.flatMap(({ seats }) => seats),
    x: new Float32Array(n), y: new Float32Array(n),
    grade: new Uint8Array(n), section: new Uint16Array(n), row: new Uint16Array(n),
  };
  const status = new Uint8Array(n);
  let first = 0;
  edited.sections.forEach((section, index) => {
    fill(plan, status, { part: parts[index], section, index, first });
    first += parts[index].seats.length;
  });
  plan.bounds = boundsOf(plan);
  // Only needed after a tap, and made then.
  let grid = null;
  Object.defineProperty(plan, "grid", { get: () => (grid ??= gridOf(plan)) });
  return { plan, status };
}

function fill(plan, status, { part, section, index, first }) {
  plan.x.set(part.x, first);
  plan.y.set(part.y, first);
  const count = part.seats.length;
  plan.section.fill(index, first, first + count);
  part.seats.forEach((seat, i) => {
    plan.grade[first + i] = Math.max(0, plan.grades.indexOf(seat.grade));
    status[first + i] = seat.isBlocked ? SOLD : FREE;
  });
  const rows = part.rows.map(({ label, from, end }, row) => {
    plan.row.fill(row, first + from, first + end);
    return { label, from: first + from, end: first + end };
  });
  plan.sections.push({
    index, first, count, rows, name: section.name, key: section.key, isStanding: section.kind === "standing",
    grade: Math.max(0, plan.grades.indexOf(section.grade)), outline: part.outline, box: part.box, cx: section.x, cy: section.y,
  });
}

function boundsOf({ sections, stage }) {
  if (!sections.length && !stage) return EMPTY;
  const box = [...EMPTY];
  if (sections.length) [box[0], box[1], box[2], box[3]] = [Infinity, Infinity, -Infinity, -Infinity];
  const grow = (x0, y0, x1, y1) => {
    box[0] = Math.min(box[0], x0);
    box[1] = Math.min(box[1], y0);
    box[2] = Math.max(box[2], x1);
    box[3] = Math.max(box[3], y1);
  };
  sections.forEach(({ box: it }) => grow(...it));
  if (stage) grow(stage.x, stage.y, stage.x + stage.width, stage.y + stage.height);
  return [box[0] - MARGIN, box[1] - MARGIN, box[2] + MARGIN, box[3] + MARGIN];
}

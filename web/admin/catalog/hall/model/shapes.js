// Where the seats of a section are: equal or widening rows, straight or bent, turned around the
// middle. All lengths are in units of the map, in which neighbours are 10 apart.

import { PITCH } from "../../../../shared/seatmap/plan.js";

export const BEND_MAX = 180;

const radians = (degrees) => (degrees * Math.PI) / 180;

/** The number of seats in row `row` of a shape: from the first row to the last, evenly. */
export function seatsInRow({ rows, seats, lastSeats }, row) {
  return Math.max(1, Math.round(rows < 2 ? seats : seats + ((lastSeats - seats) * row) / (rows - 1)));
}

/** The rows of a shape, with the middle of its first row at 0, 0: lists of `[x, y]`. */
function layOut(shape) {
  const rows = [];
  for (let row = 0; row < shape.rows; row += 1) {
    const n = seatsInRow(shape, row);
    rows.push(Array.from({ length: n }, (_, i) => place(shape, row, i - (n - 1) / 2)));
  }
  return rows;
}

/** Where the middle of a shape is, seen from the middle of its first row. */
export function middleOf(shape) {
  const box = boxOf(layOut(shape));
  return [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
}

/** `at` counts seats from the middle of the row. */
function place({ seats, seatStep, rowStep, bend }, row, at) {
  const angle = radians(Math.abs(bend));
  if (angle < 0.01) return [at * seatStep, row * rowStep];
  const inner = (Math.max(1, seats - 1) * seatStep) / angle;
  const side = Math.sign(bend);
  const radius = Math.max(seatStep, inner + side * row * rowStep);
  const turn = (at * seatStep) / radius;
  return [radius * Math.sin(turn), side * (radius * Math.cos(turn) - inner)];
}

function centred(rows) {
  const box = boxOf(rows);
  const [cx, cy] = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
  return rows.map((row) => row.map(([x, y]) => [x - cx, y - cy]));
}

/** Written plans have a tenth of a unit; what is finer would move the seats. */
const tenth = (value) => Math.round(value * 10) / 10;

export function boxOf(rows) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const row of rows) {
    for (const [x, y] of row) {
      box[0] = Math.min(box[0], x);
      box[1] = Math.min(box[1], y);
      box[2] = Math.max(box[2], x);
      box[3] = Math.max(box[3], y);
    }
  }
  return box;
}

/** The last row of a bent shape that is as wide as the arc there. */
export function fittingLastRow({ rows, seats, seatStep, rowStep, bend }) {
  const angle = radians(Math.abs(bend));
  if (angle < 0.01) return seats;
  const radius = (Math.max(1, seats - 1) * seatStep) / angle + Math.sign(bend) * (rows - 1) * rowStep;
  return Math.max(1, Math.floor((angle * Math.max(0, radius)) / seatStep + 1e-6) + 1);
}

/** Local points of a section before it is turned: of its rows, or as they were drawn elsewhere. */
export function localRows(section) {
  if (section.kind === "rows") return centred(layOut(section));
  const { scale } = section;
  return scale === 1 ? section.points : section.points.map((row) => row.map(([x, y]) => [x * scale, y * scale]));
}

/** A point of a section on the plan. */
export function turned({ x, y, rotation }, [px, py]) {
  if (!rotation) return [x + px, y + py];
  const [sin, cos] = [Math.sin(radians(rotation)), Math.cos(radians(rotation))];
  return [x + px * cos - py * sin, y + px * sin + py * cos];
}

/** The other way: a point of the plan as the section sees it before it is turned. */
export function unturned({ x, y, rotation }, [px, py]) {
  const [sin, cos] = [Math.sin(radians(-rotation)), Math.cos(radians(-rotation))];
  return [(px - x) * cos - (py - y) * sin, (px - x) * sin + (py - y) * cos];
}

/** The shape that fits seats drawn one by one best, to lay them out anew. */
export function estimate(section) {
  const rows = localRows(section).filter((row) => row.length);
  const step = (a, b) => Math.hypot(b[0] - a[0], b[1] - a[1]);
  const longest = rows.reduce((best, row) => (best.length < row.length ? row : best), rows[0]);
  const steps = longest.slice(1).map((at, i) => step(longest[i], at)).sort((a, b) => a - b);
  const seatStep = Math.max(1, steps[Math.floor(steps.length / 2)] ?? PITCH);
  const middle = (row) => row[Math.floor(row.length / 2)];
  const deep = rows.length < 2 ? PITCH : step(middle(rows[0]), middle(rows.at(-1))) / (rows.length - 1);
  const [first, last] = [rows[0][0], rows[0].at(-1)];
  const rotation = rows[0].length < 2 ? 0 : Math.round((Math.atan2(last[1] - first[1], last[0] - first[0]) * 180) / Math.PI);
  return {
    rows: rows.length,
    seats: rows[0].length,
    lastSeats: rows.at(-1).length,
    seatStep: tenth(seatStep),
    rowStep: tenth(Math.max(1, deep)),
    bend: bendOf(rows[0], rotation),
    rotation: (section.rotation + rotation + 360) % 360,
  };
}

/** From the height of the arc over its chord. */
function bendOf(row, rotation) {
  if (row.length < 3) return 0;
  const flat = row.map((at) => unturned({ x: row[0][0], y: row[0][1], rotation }, at));
  const chord = flat.at(-1)[0];
  const height = flat[Math.floor(flat.length / 2)][1];
  if (Math.abs(height) < 0.5 || chord <= 0) return 0;
  const degrees = Math.round((4 * Math.atan((2 * height) / chord) * 180) / Math.PI);
  return Math.max(-BEND_MAX, Math.min(BEND_MAX, degrees));
}

// The plan as the editor keeps it: values that are never changed, so that undo keeps the old ones and
// only sections that changed are drawn anew.

import { PITCH } from "../../../../shared/seatmap/plan.js";
import { outlineOf } from "../../../../shared/seatmap/outline.js";
import { DEFAULT_NUMBERING, rowLabels, seatNumbers } from "./numbering.js";
import { boxOf, estimate, localRows, turned } from "./shapes.js";

export const SEATS_MAX = 60_000;
const LABEL_MAX = 20;

let keys = 0;
const nextKey = () => (keys += 1);

export function rowsSection(asked) {
  return {
    key: nextKey(), kind: "rows", name: "", grade: "", x: 0, y: 0, rotation: 0, rows: 10, seats: 12, lastSeats: 12,
    seatStep: PITCH, rowStep: PITCH, bend: 0, numbering: DEFAULT_NUMBERING, marks: {}, ...asked,
  };
}

export function standingSection(asked) {
  return { key: nextKey(), kind: "standing", name: "", grade: "", x: 0, y: 0, rotation: 0, width: 160, height: 80, count: 200, marks: {}, ...asked };
}

/** Seats drawn elsewhere: `points` are rows of places around the middle, `labels` their names. */
export function freeSection(asked) {
  return { key: nextKey(), kind: "free", name: "", grade: "", x: 0, y: 0, rotation: 0, scale: 1, points: [], labels: [], numbering: null, marks: {}, ...asked };
}

/** A mark is what one seat has that its section doesn't: a grade, a gap, a use. */
export const markKey = (row, i) => `${row}:${i}`;

export function withMarks(section, places, change) {
  const marks = { ...section.marks };
  for (const [row, i] of places) {
    const key = markKey(row, i);
    const next = { ...marks[key], ...change };
    for (const name of Object.keys(next)) if (!next[name]) delete next[name];
    if (Object.keys(next).length) marks[key] = next;
    else delete marks[key];
  }
  return { ...section, marks };
}

/** Turns seats drawn one by one into rows that rules describe. */
export function asRows(section) {
  const { key, name, grade, x, y } = section;
  return rowsSection({ key, name, grade, x, y, ...estimate(section) });
}

const made = new WeakMap();

/** What the map needs of a section, made once: places, labels, outline. */
export function drawn(section) {
  if (!made.has(section)) made.set(section, section.kind === "standing" ? drawZone(section) : drawRows(section));
  return made.get(section);
}

function drawRows(section) {
  const local = localRows(section);
  const names = section.numbering ? rowLabels(section.numbering, local.length) : section.labels.map(({ label }) => label);
  const [seats, xs, ys, rows] = [[], [], [], []];
  local.forEach((points, row) => {
    const isThere = (i) => section.marks[markKey(row, i)]?.state !== "gone";
    const numbers = section.numbering ? seatNumbers(section.numbering, points.length, isThere) : section.labels[row].numbers;
    const from = seats.length;
    points.forEach((point, i) => {
      if (!isThere(i)) return;
      const { state, ...mark } = section.marks[markKey(row, i)] ?? {};
      const [x, y] = turned(section, point);
      xs.push(x);
      ys.push(y);
      seats.push({ row: names[row], at: [row, i], number: `${section.name}-${names[row]}-${numbers[i]}`, label: numbers[i],
        grade: section.grade, ...mark, isBlocked: state === "gap" });
    });
    if (from < seats.length) rows.push({ label: names[row], from, end: seats.length });
  });
  const [x, y] = [Float32Array.from(xs), Float32Array.from(ys)];
  const outline = seats.length ? outlineOf({ x, y }, { first: 0, count: seats.length, rows }) : [];
  return { seats, x, y, rows, outline, box: seats.length ? boxOf([outline]) : [section.x, section.y, section.x, section.y] };
}

function drawZone(section) {
  const { x, y, width, height, count, name, grade } = section;
  const seats = Array.from({ length: count }, (_, i) => ({ row: "", at: [0, i], number: `${name}-${i + 1}`, label: String(i + 1), grade, standing: true }));
  const box = [x - width / 2, y - height / 2, x + width / 2, y + height / 2];
  const outline = [[box[0], box[1]], [box[2], box[1]], [box[2], box[3]], [box[0], box[3]]];
  const all = (value) => new Float32Array(count).fill(value);
  return { seats, x: all(x), y: all(y), rows: [{ label: "", from: 0, end: count }], outline, box };
}

/** Corners of a section before it is turned, for its handles. */
export function frameOf(section) {
  if (section.kind === "standing") {
    const [w, h] = [section.width / 2, section.height / 2];
    return [-w, -h, w, h];
  }
  const box = boxOf(localRows(section));
  return [box[0] - 7, box[1] - 7, box[2] + 7, box[3] + 7];
}

export const nSold = (section) => (section.kind === "standing" ? section.count : drawn(section).seats.filter((it) => !it.isBlocked).length);

/** The grades that are in use, in the plan's order, and their seats. */
export function gradeCounts(plan) {
  const counts = new Map(plan.grades.map((grade) => [grade, 0]));
  for (const section of plan.sections) {
    for (const { grade, isBlocked } of drawn(section).seats) if (!isBlocked) counts.set(grade, (counts.get(grade) ?? 0) + 1);
  }
  return counts;
}

/** A name that no section has: the next after `like`. */
export function freeName(plan, like = "101") {
  const taken = new Set(plan.sections.map(({ name }) => name));
  if (!taken.has(like)) return like;
  const [, head, digits] = like.match(/^(.*?)(\d*)$/);
  for (let i = Number(digits || 1) + 1; ; i += 1) {
    const name = `${head}${String(i).padStart(digits.length, "0")}`;
    if (!taken.has(name)) return name;
  }
}

export function copyOf(section, plan, [dx, dy]) {
  return { ...section, key: nextKey(), name: freeName(plan, section.name), x: section.x + dx, y: section.y + dy };
}

/** What the server would refuse, as pairs of a word and its values; empty if the plan can be saved. */
export function problemsOf(plan) {
  const found = [];
  const names = new Map();
  let n = 0;
  for (const section of plan.sections) {
    names.set(section.name, (names.get(section.name) ?? 0) + 1);
    n += nSold(section);
    if (!section.name.trim() || LABEL_MAX < section.name.length) found.push(["planNoName", section.name]);
    if (!section.grade) found.push(["planNoGrade", section.name]);
    if (!nSold(section)) found.push(["planNoSeats", section.name]);
    found.push(...labelProblems(section));
  }
  for (const [name, times] of names) if (1 < times) found.push(["planTwice", name]);
  if (!n) found.push(["planEmpty"]);
  if (SEATS_MAX < n) found.push(["planTooMany", n]);
  return found;
}

const checked = new WeakMap();

function labelProblems(section) {
  if (section.kind === "standing") return [];
  if (!checked.has(section)) {
    const { seats, rows } = drawn(section);
    const seen = new Set();
    const rowTwice = rows.find(({ label }, i) => rows.findIndex((it) => it.label === label) < i);
    const twice = seats.find(({ number }) => seen.size === seen.add(number).size);
    const long = seats.find(({ number }) => LABEL_MAX < number.length);
    const bad = rowTwice ? ["planRowTwice", section.name, rowTwice.label] : twice ? ["planSeatTwice", twice.number] : long ? ["planLong", long.number] : null;
    checked.set(section, bad ? [bad] : []);
  }
  return checked.get(section);
}

// Reads and writes seat templates. Sections that the editor drew carry their shape; others are seats
// drawn one by one, which can be moved, turned, painted and numbered all the same.

import { PITCH } from "../../../../shared/seatmap/plan.js";
import { drawn, freeSection, markKey, rowsSection, standingSection } from "./sections.js";
import { boxOf } from "./shapes.js";

/** Written plans have whole numbers; neighbours are this far apart, so rounding is invisible. */
const FINE = 10;

/** Places may differ by rounding. */
const SAME = 0.3;

/** `{ stage, grades, sections }` of a template of either kind. */
export function readTemplate(template) {
  const sections = template.layoutType === "grid" ? [gridSection(template)] : template.sections ?? [];
  const scale = sections.some((it) => it.shape) ? 1 / FINE : PITCH / pitchOf(sections);
  const read = sections.map((section) => readSection(section, scale));
  const grades = [...new Set(read.flatMap((section) => [section.grade, ...Object.values(section.marks).map(({ grade }) => grade)]).filter(Boolean))];
  const { stage, focus } = template;
  return {
    stage: stage ? { x: stage.x * scale, y: stage.y * scale, width: stage.width * scale, height: stage.height * scale } : null,
    focus: focus ? { x: focus.x * scale, y: focus.y * scale } : null,
    grades,
    sections: read,
  };
}

/** A grid has no sections; as a drawing it is one. */
function gridSection({ rows, seatsPerRow, gradeMapping }) {
  return {
    name: "1",
    grade: gradeMapping[rows[0]],
    rows: rows.map((label, y) => ({ label, count: seatsPerRow, grade: gradeMapping[label], line: { x: 0, y: y * 10, dx: 10, dy: 0 } })),
  };
}

function readSection(section, scale) {
  const { name, grade = "", standing, shape } = section;
  if (standing) {
    const [width, height] = [standing.width * scale || 160, standing.height * scale || 80];
    return standingSection({ name: String(name), grade, count: standing.count, width, height, x: standing.x * scale + width / 2, y: standing.y * scale + height / 2 });
  }
  const rows = section.rows.map((row) => ({ label: String(row.label), seats: seatsOf(row) }));
  const shaped = shape ? readShape(section, rows, scale) : null;
  return shaped ?? readFree(section, rows, scale);
}

/** The seats of a row, in whatever way it was written. */
function seatsOf(row) {
  if (row.seats?.length) return row.seats.map((seat) => ({ ...seat, number: String(seat.number) }));
  const first = row.firstNumber ?? 1;
  return Array.from({ length: row.count }, (_, i) => {
    const number = first + i;
    const has = (list) => Boolean(list?.includes(number));
    return { number: String(number), grade: row.grade, ...pointOf(row, i), accessible: has(row.accessible), companion: has(row.companion), restrictedView: has(row.restrictedView) };
  });
}

function pointOf({ line, arc, count }, i) {
  if (line) return { x: line.x + line.dx * i, y: line.y + line.dy * i };
  const part = count < 2 ? 0.5 : i / (count - 1);
  const angle = ((arc.fromDegrees + (arc.toDegrees - arc.fromDegrees) * part) * Math.PI) / 180;
  return { x: arc.x + arc.radius * Math.cos(angle), y: arc.y + arc.radius * Math.sin(angle) };
}

const USES = ["accessible", "companion", "restrictedView"];

/** What is special about a seat, compared with its section. */
function markOf(seat, grade) {
  const mark = seat.grade && seat.grade !== grade ? { grade: seat.grade } : {};
  for (const use of USES) if (seat[use]) mark[use] = true;
  return mark;
}

/** Null if the rows were changed elsewhere: then the seats count, not the shape. */
function readShape({ name, grade = "", shape }, rows, scale) {
  const { x, y, rotation, rows: n, seats, lastSeats, seatStep, rowStep, bend, numbering, blocked = [], removed = [] } = shape;
  const marks = {};
  for (const [row, i] of blocked) marks[markKey(row, i)] = { state: "gap" };
  for (const [row, i] of removed) marks[markKey(row, i)] = { state: "gone" };
  const section = rowsSection({ name: String(name), grade, marks, x: x * scale, y: y * scale, rotation, rows: n, seats, lastSeats,
    seatStep: seatStep * scale, rowStep: rowStep * scale, bend, numbering: { fromBack: false, fromRight: false, skipsIO: false, ...numbering } });
  const ours = drawn(section).seats.map((seat, i) => [seat, i]).filter(([seat]) => !seat.isBlocked);
  const theirs = rows.flatMap(({ label, seats: found }) => found.map((seat) => ({ ...seat, row: label })));
  const isSame = ours.length === theirs.length && ours.every(([seat, i], at) => {
    const other = theirs[at];
    return seat.row === other.row && seat.label === other.number
      && Math.abs(drawn(section).x[i] - other.x * scale) < SAME && Math.abs(drawn(section).y[i] - other.y * scale) < SAME;
  });
  if (!isSame) return null;
  ours.forEach(([seat], at) => {
    const mark = markOf(theirs[at], grade);
    if (Object.keys(mark).length) marks[markKey(...seat.at)] = mark;
  });
  return { ...section, marks };
}

function readFree({ name, grade = "" }, rows, scale) {
  const points = rows.map(({ seats }) => seats.map(({ x, y }) => [x * scale, y * scale]));
  const box = boxOf(points);
  const [x, y] = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
  const common = grade || mostFrequent(rows.flatMap(({ seats }) => seats.map((seat) => seat.grade)));
  const marks = {};
  rows.forEach(({ seats }, row) => seats.forEach((seat, i) => {
    const mark = markOf(seat, common);
    if (Object.keys(mark).length) marks[markKey(row, i)] = mark;
  }));
  return freeSection({
    name: String(name), grade: common, x, y, marks,
    points: points.map((row) => row.map(([px, py]) => [px - x, py - y])),
    labels: rows.map(({ label, seats }) => ({ label, numbers: seats.map(({ number }) => number) })),
  });
}

function mostFrequent(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
}

/** A typical small distance between neighbours, as on the fan's map. */
function pitchOf(sections) {
  const found = [];
  for (const { rows = [] } of sections) {
    for (const row of rows) {
      const seats = seatsOf(row);
      for (let i = 1; i < seats.length && found.length < 4_000; i += 1) found.push(Math.hypot(seats[i].x - seats[i - 1].x, seats[i].y - seats[i - 1].y));
    }
  }
  const sorted = found.filter((it) => 0 < it).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 10)] ?? PITCH;
}

const whole = (value) => Math.round(value * FINE);

/** Exactly as it will be read again. */
const rounded = (section) => {
  const exact = (value) => whole(value) / FINE;
  const [x, y] = [exact(section.x), exact(section.y)];
  return section.x === x && section.y === y ? section : { ...section, x, y };
};

/** The plan as the API takes it. */
export function writeTemplate({ stage, focus, sections }) {
  return {
    layoutType: "sections",
    ...(stage ? { stage: { x: whole(stage.x), y: whole(stage.y), width: whole(stage.width), height: whole(stage.height) } } : {}),
    ...(focus ? { focus: { x: whole(focus.x), y: whole(focus.y) } } : {}),
    sections: sections.map((section) => writeSection(rounded(section))),
  };
}

function writeSection(section) {
  const { name, grade, kind } = section;
  if (kind === "standing") {
    const { x, y, width, height, count } = section;
    return { name, grade, standing: { count, x: whole(x - width / 2), y: whole(y - height / 2), width: whole(width), height: whole(height) } };
  }
  const { seats, rows, x, y } = drawn(section);
  const written = rows.map(({ label, from, end }) => {
    const sold = [];
    for (let i = from; i < end; i += 1) if (!seats[i].isBlocked) sold.push(writeSeat(seats[i], whole(x[i]), whole(y[i]), grade));
    return { label, ...(lineOf(sold) ?? { seats: sold }), isEmpty: !sold.length };
  });
  return { name, grade, rows: written.filter((row) => !row.isEmpty).map(({ isEmpty, ...row }) => row), ...(kind === "rows" ? { shape: writeShape(section) } : {}) };
}

function writeSeat({ label, grade, accessible, companion, restrictedView }, x, y, common) {
  return { number: label, x, y, ...(grade !== common ? { grade } : {}), ...(accessible ? { accessible } : {}), ...(companion ? { companion } : {}), ...(restrictedView ? { restrictedView } : {}) };
}

/** Plain rows are short to write: a count along a line, with numbers one by one. */
function lineOf(seats) {
  if (seats.length < 2 || seats.some((seat) => 3 < Object.keys(seat).length)) return null;
  const [first, second] = seats;
  const [dx, dy, number] = [second.x - first.x, second.y - first.y, Number(first.number)];
  const isPlain = seats.every((seat, i) => seat.x === first.x + i * dx && seat.y === first.y + i * dy && seat.number === String(number + i));
  return isPlain ? { count: seats.length, ...(number === 1 ? {} : { firstNumber: number }), line: { x: first.x, y: first.y, dx, dy } } : null;
}

function writeShape({ x, y, rotation, rows, seats, lastSeats, seatStep, rowStep, bend, numbering, marks }) {
  const places = (state) => Object.keys(marks).filter((key) => marks[key].state === state).map((key) => key.split(":").map(Number));
  const [blocked, removed] = [places("gap"), places("gone")];
  return {
    x: whole(x), y: whole(y), rotation, rows, seats, lastSeats, seatStep: whole(seatStep), rowStep: whole(rowStep), bend, numbering,
    ...(blocked.length ? { blocked } : {}), ...(removed.length ? { removed } : {}),
  };
}

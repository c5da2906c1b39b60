// What can be done with the selection, by mouse, keyboard and buttons alike.

import { announce } from "../../../../shared/ui/dom.js";
import { t } from "../../../../shared/ui/i18n.js";
import { asRows, copyOf, drawn, frameOf, freeName, rowsSection, standingSection, withMarks } from "../model/sections.js";
import { seatsInRow, turned, unturned } from "../model/shapes.js";

export const STEP = 10;
const COPY_ROOM = 10;

/** The box around sections; the first argument's stage counts if it is selected. */
export function boxAround(sections) {
  const boxes = sections.map((section) => drawn(section).box);
  return [0, 1, 2, 3].map((i) => Math[i < 2 ? "min" : "max"](...boxes.map((box) => box[i])));
}

export function moveBy(store, [dx, dy], like) {
  const moved = store.mapped((section) => ({ ...section, x: section.x + dx, y: section.y + dy }));
  const { stage } = moved;
  store.change(store.isStagePicked ? { ...moved, stage: { ...stage, x: stage.x + dx, y: stage.y + dy } } : moved, like);
}

/** Turns the selection around its middle. Standing zones move along and stay upright. */
export function turnBy(store, degrees, like) {
  const { picked } = store;
  if (!picked.length) return;
  const [x0, y0, x1, y1] = 1 < picked.length ? boxAround(picked) : [picked[0].x, picked[0].y, picked[0].x, picked[0].y];
  const centre = { x: (x0 + x1) / 2, y: (y0 + y1) / 2 };
  store.change(store.mapped((section) => {
    const [x, y] = turned({ ...centre, rotation: degrees }, [section.x - centre.x, section.y - centre.y]);
    const rotation = section.kind === "standing" ? 0 : (section.rotation + degrees + 360) % 360;
    return { ...section, x, y, rotation };
  }), like);
}

/** Copies stand beside their originals and are selected, so that they can be moved on. */
export function copySelected(store) {
  const { picked } = store;
  if (!picked.length) return;
  const [x0, , x1] = boxAround(picked);
  let { plan } = store;
  const keys = [];
  for (const section of picked) {
    const copy = copyOf(section, plan, [x1 - x0 + COPY_ROOM, 0]);
    plan = { ...plan, sections: [...plan.sections, copy] };
    keys.push(copy.key);
  }
  store.change(plan);
  store.select(keys);
  announce(t("planCopied", keys.length));
}

/** The other half of a symmetric hall: copies across the middle of the stage. */
export function mirrorSelected(store) {
  const { picked, plan: { stage } } = store;
  if (!picked.length) return;
  const axis = stage ? stage.x + stage.width / 2 : 0;
  let { plan } = store;
  const keys = [];
  for (const section of picked) {
    const copy = mirrored(copyOf(section, plan, [0, 0]), axis);
    plan = { ...plan, sections: [...plan.sections, copy] };
    keys.push(copy.key);
  }
  store.change(plan);
  store.select(keys);
}

function mirrored(section, axis) {
  const x = 2 * axis - section.x;
  const rotation = (360 - section.rotation) % 360;
  if (section.kind === "standing") return { ...section, x };
  if (section.kind === "free") return { ...section, x, rotation, points: section.points.map((row) => row.map(([px, py]) => [-px, py])) };
  // Rows are drawn from the left, so a mark moves to the other end of its row.
  const marks = Object.fromEntries(Object.entries(section.marks).map(([key, mark]) => {
    const [row, i] = key.split(":").map(Number);
    const n = seatsInRow(section, row);
    return [`${row}:${n - 1 - i}`, mark];
  }));
  return { ...section, x, rotation, marks, numbering: { ...section.numbering, fromRight: !section.numbering.fromRight } };
}

export function removeSelected(store) {
  if (store.seats.size) return markSeats(store, { state: "gone" });
  if (!store.selected.size) return;
  const { plan, selected } = store;
  const n = selected.size;
  store.change({ ...plan, stage: store.isStagePicked ? null : plan.stage, sections: plan.sections.filter(({ key }) => !selected.has(key)) });
  store.select([]);
  announce(t("planRemoved", n));
}

/** Gives every selected seat a mark, or takes it away with a false value. */
export function markSeats(store, change) {
  const { seats } = store;
  const places = (section) => [...seats.get(section.key)].map((key) => key.split(":").map(Number));
  const next = store.mapped((section) => withMarks(section, places(section), change), ({ key }) => seats.has(key));
  store.change(store.withGrade(next, change.grade));
  if (change.state === "gone") store.selectSeats(new Map());
}

/** Adds rows, a standing zone or the stage in a rectangle, or of an ordinary size around a point. */
export function add(store, kind, [x0, y0, x1, y1]) {
  const [width, height] = [Math.abs(x1 - x0), Math.abs(y1 - y0)];
  const isDrawn = STEP * 1.5 < width && STEP * 1.5 < height;
  const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
  const { plan } = store;
  if (kind === "stage") {
    const [w, h] = isDrawn ? [width, height] : [240, 60];
    store.change({ ...plan, stage: { x: x - w / 2, y: y - h / 2, width: w, height: h } });
    store.use("select");
    store.select(["stage"]);
    return announce(t("planStageAdded"));
  }
  const section = kind === "standing" ? zoneIn(store, { x, y }, isDrawn ? [width, height] : [200, 80]) : rowsIn(store, { x, y }, isDrawn ? [width, height] : [110, 90]);
  store.change(store.withGrade({ ...plan, sections: [...plan.sections, section] }, section.grade));
  store.use("select");
  store.select([section.key]);
  announce(t("planAdded", section.name));
}

const lastNameOf = ({ sections }, kind) => sections.filter((it) => (it.kind === "standing") === (kind === "standing")).at(-1)?.name;

function rowsIn({ plan, grade }, at, [width, height]) {
  const seats = Math.max(1, Math.round(width / STEP) + 1);
  return rowsSection({ ...at, name: freeName(plan, lastNameOf(plan, "rows") ?? "101"), grade: grade || plan.grades[0] || "R", seats, lastSeats: seats, rows: Math.max(1, Math.round(height / STEP) + 1) });
}

function zoneIn({ plan, grade }, at, [width, height]) {
  // About two people to a seat's room, in tens.
  const count = Math.max(10, Math.round((width * height) / 500) * 10);
  return standingSection({ ...at, name: freeName(plan, lastNameOf(plan, "standing") ?? "ST-A"), grade: grade || plan.grades[0] || "R", width, height, count });
}

/** Seats drawn one by one become rows that can be made longer, bent and numbered by rules. */
export function layOutAnew(store) {
  store.change(store.mapped((section) => (section.kind === "free" ? asRows(section) : section)));
}

/** A section after one corner of its frame was dragged to `point`; the opposite corner stays. */
export function resized(section, corner, point) {
  const frame = frameOf(section);
  const fixedOf = (it) => [corner[0] < 0 ? it[2] : it[0], corner[1] < 0 ? it[3] : it[1]];
  const fixed = fixedOf(frame);
  const [px, py] = unturned(section, point);
  const size = [Math.max(STEP, (px - fixed[0]) * corner[0]), Math.max(STEP, (py - fixed[1]) * corner[1])];
  const next = scaledTo(section, [size[0] / (frame[2] - frame[0]), size[1] / (frame[3] - frame[1])], size);
  const [before, after] = [turned(section, fixed), turned(next, fixedOf(frameOf(next)))];
  return { ...next, x: next.x + before[0] - after[0], y: next.y + before[1] - after[1] };
}

function scaledTo(section, [wide, high], [width, height]) {
  const times = (n, share) => Math.max(1, Math.min(400, Math.round(n * share)));
  if (section.kind === "standing") return { ...section, width: Math.round(width), height: Math.round(height) };
  if (section.kind === "free") return { ...section, scale: Math.max(0.1, Math.round(section.scale * Math.max(wide, high) * 100) / 100) };
  const { rows, seats, lastSeats } = section;
  return { ...section, rows: times(rows, high), seats: times(seats, wide), lastSeats: times(lastSeats, wide) };
}

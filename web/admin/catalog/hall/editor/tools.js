// What the pointer does with each tool. `down` returns the gesture that the press begins, with `move`
// and `up`, or null to leave the press to the map, which pans.

import { sectionAt, seatNear, seatsIn } from "../../../../shared/seatmap/plan.js";
import { add, boxAround, copySelected, resized, STEP } from "./actions.js";
import { drawn, frameOf, withMarks } from "../model/sections.js";
import { turned } from "../model/shapes.js";

const HANDLE_PX = 14;
const SPIN_PX = 34;
const ALIGN_PX = 6;
const STILL_PX = 4;

export const CORNERS = [[-1, -1], [1, -1], [1, 1], [-1, 1]];

/** Where the handles of one section, or of the stage, are on the plan. */
export function handlesOf(item, scale) {
  const frame = frameOf(item);
  const corners = CORNERS.map(([sx, sy]) => ({ corner: [sx, sy], at: turned(item, [sx < 0 ? frame[0] : frame[2], sy < 0 ? frame[1] : frame[3]]) }));
  if (item.kind === "standing") return { corners, spin: null };
  return { corners, spin: turned(item, [0, frame[1] - SPIN_PX / scale]) };
}

/** The stage as something with handles. */
export const stageItem = ({ x, y, width, height }) => ({ kind: "standing", x: x + width / 2, y: y + height / 2, width, height, rotation: 0 });

const near = ([ax, ay], [bx, by], reach) => Math.hypot(ax - bx, ay - by) <= reach;

export function pressTool(board, store, press) {
  const tools = { select: pressSelect, hand: () => null, section: pressArea, standing: pressArea, stage: pressArea, paint: pressPaint, seats: pressSeats };
  return tools[store.tool](board, store, press);
}

function pressSelect(board, store, press) {
  return pressHandle(board, store, press) ?? pressItem(board, store, press) ?? (press.isTouch ? deselects(store) : marquee(board, store, press));
}

/** A touch on empty ground pans; a tap there selects nothing. */
function deselects(store) {
  if (store.selected.size) store.select([]);
  return null;
}

function pressHandle(board, store, { at }) {
  const { picked } = store;
  const isStage = store.isStagePicked && !picked.length;
  if (!isStage && picked.length !== 1) return null;
  const item = isStage ? stageItem(store.plan.stage) : picked[0];
  const reach = HANDLE_PX / board.scale;
  const { corners, spin } = handlesOf(item, board.scale);
  const found = corners.find((it) => near(it.at, at, reach));
  if (found) return isStage ? resizeStage(store, found.corner) : resize(store, item, found.corner);
  if (spin && near(spin, at, reach)) return spinSection(store, item);
  return null;
}

function resize(store, section, corner) {
  return {
    move: ({ at }) => store.draft(replaced(store, section.key, resized(section, corner, at))),
    up: () => finish(store),
  };
}

function resizeStage(store, corner) {
  const { stage } = store.plan;
  return {
    move: ({ at }) => {
      const { x, y, width, height } = resized(stageItem(stage), corner, at);
      store.draft({ ...store.plan, stage: { x: x - width / 2, y: y - height / 2, width, height } });
    },
    up: () => finish(store),
  };
}

function spinSection(store, section) {
  return {
    move: ({ at, isFree }) => {
      const degrees = (Math.atan2(at[0] - section.x, section.y - at[1]) * 180) / Math.PI;
      const rotation = (isFree ? Math.round(degrees) : Math.round(degrees / 5) * 5) + 360;
      store.draft(replaced(store, section.key, { ...section, rotation: rotation % 360 }));
    },
    up: () => finish(store),
  };
}

const replaced = (store, key, next) => store.mapped(() => next, (section) => section.key === key);
const finish = (store) => store.change(store.plan);

/** The topmost section or the stage under a point. */
function itemAt({ map }, { plan }, [x, y]) {
  const index = sectionAt(map.plan, x, y);
  if (index >= 0) return map.plan.sections[index].key;
  const { stage } = plan;
  return stage && stage.x <= x && x <= stage.x + stage.width && stage.y <= y && y <= stage.y + stage.height ? "stage" : null;
}

function pressItem(board, store, press) {
  const key = itemAt(board, store, press.at);
  if (key === null) return null;
  const isPicked = store.selected.has(key);
  if (press.isTouch && !isPicked) return tapOnly(() => store.select([key]));
  if (press.isAdding) store.select(isPicked ? [...store.selected].filter((it) => it !== key) : [...store.selected, key]);
  else if (!isPicked) store.select([key]);
  if (press.isFree && store.picked.length) copySelected(store);
  return drag(board, store, press);
}

/** Leaves the press to the map, and acts if it was a tap. */
function tapOnly(act) {
  return { isShared: true, move: () => null, up: ({ moved }) => (moved <= STILL_PX ? act() : null) };
}

function drag(board, store, { at: from }) {
  const before = store.plan;
  const { picked, isStagePicked } = store;
  let hasMoved = false;
  return {
    move: ({ at, moved, isFree }) => {
      hasMoved ||= STILL_PX < moved;
      if (!hasMoved) return;
      const [dx, dy] = snapped(board, store, { before, picked, by: [at[0] - from[0], at[1] - from[1]], isFree });
      const isMeant = ({ key }) => store.selected.has(key);
      const sections = before.sections.map((section) => (isMeant(section) ? { ...section, x: section.x + dx, y: section.y + dy } : section));
      const stage = isStagePicked ? { ...before.stage, x: before.stage.x + dx, y: before.stage.y + dy } : before.stage;
      store.draft({ ...before, sections, stage });
    },
    up: () => {
      board.guides = [];
      if (hasMoved) finish(store);
    },
  };
}

/** Edges and middles of others attract; then the grid. */
function snapped(board, store, { before, picked, by, isFree }) {
  board.guides = [];
  if (!store.snaps || isFree) return by;
  const grid = by.map((value) => Math.round(value / (STEP / 2)) * (STEP / 2));
  if (!picked.length) return grid;
  const box = boxAround(picked);
  const others = before.sections.filter(({ key }) => !store.selected.has(key)).map((section) => drawn(section).box);
  const { stage } = before;
  if (stage) others.push([stage.x, stage.y, stage.x + stage.width, stage.y + stage.height]);
  return [0, 1].map((axis) => {
    const found = attract(lines(box, axis).map((value) => value + by[axis]), others.flatMap((other) => lines(other, axis)), ALIGN_PX / board.scale);
    if (!found) return grid[axis];
    board.guides.push({ axis, at: found.at });
    return by[axis] + found.by;
  });
}

const lines = (box, axis) => [box[axis], (box[axis] + box[axis + 2]) / 2, box[axis + 2]];

function attract(ours, theirs, reach) {
  let best = null;
  for (const at of theirs) {
    for (const our of ours) {
      if (Math.abs(at - our) <= (best ? Math.abs(best.by) - 0.001 : reach)) best = { at, by: at - our };
    }
  }
  return best;
}

function marquee(board, store, { at: from, isAdding }) {
  const had = isAdding ? [...store.selected] : [];
  store.select(had);
  return {
    move: ({ at }) => {
      board.marquee = rectangle(from, at);
      const [x0, y0, x1, y1] = board.marquee;
      const inside = store.plan.sections.filter((section) => {
        const { box } = drawn(section);
        return x0 <= box[2] && box[0] <= x1 && y0 <= box[3] && box[1] <= y1;
      });
      store.select([...had, ...inside.map(({ key }) => key)]);
    },
    up: () => board.drop(),
  };
}

const rectangle = ([ax, ay], [bx, by]) => [Math.min(ax, bx), Math.min(ay, by), Math.max(ax, bx), Math.max(ay, by)];

/** Draws the rectangle of a new section, standing zone or stage. */
function pressArea(board, store, { at: from }) {
  const kind = store.tool;
  const snap = (value) => (store.snaps ? Math.round(value / (STEP / 2)) * (STEP / 2) : value);
  let to = from;
  return {
    move: ({ at }) => {
      to = at;
      board.marquee = rectangle(from.map(snap), to.map(snap));
      board.draw();
    },
    up: () => {
      board.drop();
      add(store, kind, rectangle(from.map(snap), to.map(snap)));
    },
  };
}

function pressPaint(board, store, press) {
  if (!store.grade) return null;
  const paint = ({ at }) => {
    const next = painted(board, store, at);
    if (next) store.draft(store.withGrade(next, store.grade));
  };
  paint(press);
  return { move: paint, up: () => finish(store) };
}

/** The plan with what is under the brush in its grade; null if nothing changes. */
function painted({ map }, store, [x, y]) {
  const { grade, brush } = store;
  const seat = seatNear(map.plan, x, y, STEP * 0.8);
  const index = seat >= 0 ? map.plan.section[seat] : sectionAt(map.plan, x, y);
  if (index < 0) return null;
  const { key } = map.plan.sections[index];
  const section = store.plan.sections.find((it) => it.key === key);
  if (brush === "section" || section.kind === "standing") return plain(store, section, grade);
  if (seat < 0) return null;
  const { at, grade: now } = map.plan.seats[seat];
  const row = drawn(section).seats.filter((it) => it.at[0] === at[0]);
  if (brush === "seat" ? now === grade : row.every((it) => it.grade === grade)) return null;
  const places = brush === "seat" ? [at] : row.map((it) => it.at);
  return replaced(store, key, withMarks(section, places, { grade: grade === section.grade ? null : grade }));
}

/** The whole section in one grade, also where single seats had another. */
function plain(store, section, grade) {
  const marked = Object.entries(section.marks).filter(([, mark]) => mark.grade);
  if (section.grade === grade && !marked.length) return null;
  const bare = withMarks(section, marked.map(([key]) => key.split(":").map(Number)), { grade: null });
  return replaced(store, section.key, { ...bare, grade });
}

function pressSeats(board, store, press) {
  const seat = seatNear(board.map.plan, ...press.at, STEP * 0.8);
  if (seat >= 0) {
    store.selectSeats(toggled(board, store, [seat], press.isAdding || press.isTouch));
    return { move: () => null, up: () => null };
  }
  if (press.isTouch) return null;
  return {
    move: ({ at }) => {
      board.marquee = rectangle(press.at, at);
      board.draw();
    },
    up: () => {
      const found = board.marquee ? seatsIn(board.map.plan, board.marquee) : [];
      board.drop();
      store.selectSeats(toggled(board, store, found, press.isAdding));
    },
  };
}

/** The seats by section; a single seat that was selected is not any more. */
export function toggled({ map: { plan } }, store, indexes, isAdding) {
  const seats = new Map(isAdding ? [...store.seats].map(([key, set]) => [key, new Set(set)]) : []);
  for (const i of indexes) {
    const { key } = plan.sections[plan.section[i]];
    const place = plan.seats[i].at.join(":");
    const set = seats.get(key) ?? new Set();
    if (indexes.length === 1 && set.has(place)) set.delete(place);
    else set.add(place);
    if (set.size) seats.set(key, set);
    else seats.delete(key);
  }
  return seats;
}

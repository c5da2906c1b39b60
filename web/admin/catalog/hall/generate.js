// Generates seat plans from a few numbers: straight blocks, a theatre, an arena. The result is an
// ordinary seat template that the editor can change.

import { PITCH } from "../../../shared/seatmap/plan.js";
import { rowsSection, standingSection } from "./model/sections.js";
import { fittingLastRow, middleOf, turned } from "./model/shapes.js";
import { writeTemplate } from "./model/template.js";

export const SHAPES = ["grid", "arc", "arena"];

/** Between sections beside each other, and between tiers. */
const AISLE = 16;
const TIER_GAP = 28;

/** Adjacent blocks of straight rows, the most expensive in front. */
function grid({ blocks, rows, seats, grades }) {
  const perBlock = Math.max(1, Math.ceil(seats / blocks));
  const width = perBlock * PITCH + AISLE;
  const [tiers, deep] = tiersOf(rows, grades);
  const sections = [];
  for (let tier = 0; tier < tiers; tier += 1) {
    for (let column = 0; column < blocks; column += 1) {
      const n = Math.min(deep, rows - tier * deep);
      const front = [(column - (blocks - 1) / 2) * width, 70 + tier * (deep * PITCH + TIER_GAP)];
      sections.push(block(`${String.fromCharCode(65 + tier)}${column + 1}`, gradeAt(grades, tier, tiers), front, {
        rows: n, seats: perBlock, lastSeats: perBlock, numbering: numberedFrom(tier * deep + 1) }));
    }
  }
  const wide = Math.max(100, Math.round(blocks * width * 0.5));
  return { stage: { x: -wide / 2, y: 0, width: wide, height: 40 }, sections };
}

/** Curved rows around one point, as in a theatre. */
function arc({ blocks, rows, seats, grades }) {
  const [tiers, deep] = tiersOf(rows, grades);
  const inner = Math.max(90, (seats * PITCH + blocks * AISLE) / ((140 * Math.PI) / 180));
  const sections = [];
  for (let tier = 0; tier < tiers; tier += 1) {
    const n = Math.min(deep, rows - tier * deep);
    const radius = inner + tier * (deep * PITCH + TIER_GAP);
    const wedges = ring({ centre: [0, 0], radius, from: 160, to: 20, n: blocks, rows: n });
    wedges.forEach((asked, i) => sections.push(rowsSection({ ...asked, name: nameOf(tier, i), grade: gradeAt(grades, tier, tiers), numbering: numberedFrom(tier * deep + 1) })));
  }
  const wide = Math.round(inner * 1.1);
  return { stage: { x: -wide / 2, y: -20, width: wide, height: Math.max(40, Math.round(inner * 0.25)) }, sections };
}

/** A stage at one end, standing zones and blocks on the floor, and tiers around it in a U. */
function arena(asked) {
  const { blocks, rows, seats, grades } = asked;
  const around = 1 < grades.length ? grades.slice(1) : grades;
  const [tiers, deep] = tiersOf(rows, around);
  // The first row is two sides and half a circle: 2 · 0.9 + π times the radius.
  const inner = Math.max(110, (seats * PITCH + blocks * AISLE) / (1.8 + Math.PI));
  const side = Math.round(inner * 0.9);
  const width = (inner * (1.8 + Math.PI)) / blocks;
  const sections = floor(inner, side, grades[0]);
  for (let tier = 0; tier < tiers; tier += 1) {
    const radius = inner + tier * (deep * PITCH + TIER_GAP);
    const places = tierOf({ radius, side, width, rows: Math.min(deep, rows - tier * deep) });
    places.forEach((place, i) => sections.push(rowsSection({ ...place, name: nameOf(tier, i), grade: gradeAt(around, tier, tiers) })));
  }
  const wide = Math.round(inner * 1.1);
  return { stage: { x: -wide / 2, y: -Math.round(inner * 0.4), width: wide, height: Math.round(inner * 0.32) }, sections };
}

/** Down the left side, around the end, up the right side. */
function tierOf({ radius, side, width, rows }) {
  const n = Math.max(1, Math.round(side / width));
  const each = side / n;
  const count = Math.max(1, Math.floor((each - AISLE) / PITCH) + 1);
  const straight = (x, y, rotation) => placed({ rows, seats: count, lastSeats: count, bend: 0, rotation }, [x, y]);
  const left = Array.from({ length: n }, (_, i) => straight(-radius, each * (i + 0.5), 90));
  const right = Array.from({ length: n }, (_, i) => straight(radius, each * (n - i - 0.5), 270));
  const nWedges = Math.max(2, Math.round((Math.PI * radius) / width));
  return [...left, ...ring({ centre: [0, side], radius, from: 180, to: 0, n: nWedges, rows }), ...right];
}

/** Wedges around a centre; angles are in degrees, 90 is downwards. */
function ring({ centre, radius, from, to, n, rows }) {
  const each = Math.abs(to - from) / n;
  const seats = Math.max(1, Math.floor(((each * Math.PI * radius) / 180 - AISLE) / PITCH) + 1);
  const bend = Math.max(1, Math.round((((seats - 1) * PITCH) / radius) * (180 / Math.PI)));
  const shape = { rows, seats, bend, seatStep: PITCH, rowStep: PITCH };
  return Array.from({ length: n }, (_, i) => {
    const angle = from + Math.sign(to - from) * each * (i + 0.5);
    const [sin, cos] = [Math.sin((angle * Math.PI) / 180), Math.cos((angle * Math.PI) / 180)];
    const rotation = Math.round((angle - 90 + 360) % 360);
    return placed({ ...shape, lastSeats: fittingLastRow(shape), rotation }, [centre[0] + radius * cos, centre[1] + radius * sin]);
  });
}

/** Two standing zones before the stage, and blocks of seats behind them. */
function floor(inner, side, grade) {
  const half = inner - 44;
  const deep = Math.max(40, Math.round(inner * 0.3));
  const room = Math.max(50, Math.round(((half - 10) * deep) / 40));
  const zone = (name, sign) => standingSection({ name, grade, count: room, width: half - 10, height: deep, x: (sign * (half + 10)) / 2, y: deep / 2 });
  const sections = [zone("ST-A", -1), zone("ST-B", 1)];
  const perBlock = Math.max(2, Math.floor((half * 0.56 - AISLE) / PITCH) + 1);
  const rows = Math.max(1, Math.floor((side - deep - 40) / PITCH));
  const blocks = [...band(deep + 30, rows), ...(inner < 200 ? [] : band(deep + 30 + rows * PITCH + AISLE, Math.floor((inner * 0.5) / PITCH)))];
  return [...sections, ...blocks.map((it, i) => ({ ...it, name: `F${i + 1}` }))];

  function band(y, n) {
    return [-1, 0, 1].map((column) => block("F", grade, [column * (perBlock * PITCH + AISLE), y], { rows: n, seats: perBlock, lastSeats: perBlock }));
  }
}

/** A section of straight rows whose first row is at `front`. */
function block(name, grade, front, shape) {
  return rowsSection({ name, grade, ...placed({ bend: 0, rotation: 0, ...shape }, front) });
}

/** The section's middle, so that the middle of its first row is at `front`. */
function placed(shape, [fx, fy]) {
  const whole = { seatStep: PITCH, rowStep: PITCH, ...shape };
  const [x, y] = turned({ x: fx, y: fy, rotation: whole.rotation }, middleOf(whole));
  return { ...whole, x, y };
}

const nameOf = (tier, i) => `${tier + 1}${String(i + 1).padStart(2, "0")}`;
const numberedFrom = (first) => ({ firstRow: String(first), fromBack: false, firstSeat: "1", fromRight: false, step: 1, skipsIO: false });

const MAKERS = { grid, arc, arena };

/** `asked`: shape, blocks, rows, seats (of the first row), grades from the most expensive down. */
export function generate(asked) {
  return writeTemplate(MAKERS[asked.shape](asked));
}

/** How many tiers, and how many rows each: at most ten rows, and a tier for every grade. */
function tiersOf(rows, grades) {
  const deep = Math.ceil(rows / Math.max(Math.ceil(rows / 10), Math.min(rows, grades.length)));
  return [Math.ceil(rows / deep), deep];
}

function gradeAt(grades, tier, tiers) {
  return grades[Math.min(grades.length - 1, Math.floor((tier * grades.length) / tiers))];
}

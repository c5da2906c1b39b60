// The seat map as SVG: fit for some thousand seats, usable by mouse, finger and keyboard.

import { el, svg } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";

/** Pixels per seat: smallest that a finger hits, what we start with, largest. */
const PITCH = { min: 14, start: 28, max: 56 };

// What a status character looks like. Shape tells as much as colour does.
const SHAPES = { A: "seat-free", H: "seat-held", S: "seat-sold", MINE: "seat-mine" };

/**
 * Draws `plan`. `grades` orders the colours, `describe(seat, state)` names a seat for screen
 * readers, `onPick(seat)` is called for a click, Enter or Space.
 */
export function drawMap(plan, { grades, describe, onPick }) {
  const marks = plan.seats.map((seat) => mark(seat, grades));
  const drawing = svg("svg", {
    viewBox: `0 0 ${plan.width} ${plan.height}`,
    role: "grid",
    "aria-label": t("seatMap"),
    "aria-multiselectable": "true",
  }, shapes(), stage(plan), plan.sections.map((section) => sectionGroup(section, marks)));
  const box = el("div", { class: "map", tabindex: "-1" }, drawing);

  const states = plan.seats.map(() => null);
  const set = (index, state) => {
    if (states[index] === state) return;
    states[index] = state;
    const node = marks[index];
    node.setAttribute("href", `#${SHAPES[state]}`);
    node.dataset.state = state;
    node.setAttribute("aria-selected", String(state === "MINE"));
    node.setAttribute("aria-label", describe(plan.seats[index], state));
    if (state === "A" || state === "MINE") node.removeAttribute("aria-disabled");
    else node.setAttribute("aria-disabled", "true");
  };

  drawing.addEventListener("click", (event) => {
    const index = event.target.dataset?.index;
    if (index === undefined) return;
    focusSeat(marks, Number(index));
    onPick(plan.seats[index]);
  });
  drawing.addEventListener("keydown", (event) => onKey(event, { plan, marks, states, onPick }));
  if (marks.length) marks[0].setAttribute("tabindex", "0");
  return { element: box, set, zoom: zoomer(box, drawing, plan) };
}

/** Arrows move, Home and End go to the ends of the row, `n` to the next free seat. */
function onKey(event, { plan, marks, states, onPick }) {
  const index = Number(event.target.dataset?.index);
  const seat = plan.seats[index];
  if (!seat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    onPick(seat);
    return;
  }
  const row = plan.rows[seat.rowIndex].seats;
  const at = row.indexOf(seat);
  const target = {
    ArrowLeft: () => row[at - 1],
    ArrowRight: () => row[at + 1],
    ArrowUp: () => nearest(plan.rows[seat.rowIndex - 1], seat),
    ArrowDown: () => nearest(plan.rows[seat.rowIndex + 1], seat),
    Home: () => row[0],
    End: () => row.at(-1),
    n: () => nextFree(plan.seats, states, index),
  }[event.key];
  if (!target) return;
  event.preventDefault();
  const next = target();
  if (next) focusSeat(marks, next.index);
}

function nearest(row, seat) {
  const distance = (other) => Math.abs(other.cx - seat.cx);
  return row?.seats.reduce((best, other) => (distance(other) < distance(best) ? other : best));
}

function nextFree(seats, states, index) {
  const order = [...seats.slice(index + 1), ...seats.slice(0, index)];
  return order.find((seat) => states[seat.index] === "A");
}

/** Only one seat is in the tab order: Tab passes the map in one step. */
function focusSeat(marks, index) {
  marks.find((node) => node.getAttribute("tabindex") === "0")?.setAttribute("tabindex", "-1");
  marks[index].setAttribute("tabindex", "0");
  marks[index].focus();
}

function mark(seat, grades) {
  const grade = Math.min(Math.max(grades.indexOf(seat.grade), 0), 3);
  const special = [seat.accessible && "accessible", seat.restrictedView && "restricted"].filter(Boolean);
  return svg("use", {
    class: ["seat", `g${grade}`, ...special].join(" "),
    x: seat.cx - .5,
    y: seat.cy - .5,
    width: 1,
    height: 1,
    role: "gridcell",
    tabindex: "-1",
    "data-index": seat.index,
  });
}

function sectionGroup(section, marks) {
  const seats = section.rows.flatMap((row) => row.seats);
  const xs = seats.map((seat) => seat.cx);
  const middle = (Math.min(...xs) + Math.max(...xs)) / 2;
  const top = Math.min(...seats.map((seat) => seat.cy));
  const name = section.name
    ? svg("text", { class: "section", x: middle, y: top - .85, "aria-hidden": "true" }, section.name)
    : null;
  return svg("g", { role: "rowgroup", "aria-label": section.name || null }, name, section.rows.map((row) => rowGroup(row, marks)));
}

function rowGroup(row, marks) {
  const first = row.seats.reduce((left, seat) => (seat.cx < left.cx ? seat : left));
  const label = svg("text", { class: "row-label", x: first.cx - .8, y: first.cy, "aria-hidden": "true" }, row.label);
  return svg("g", { role: "row" }, label, row.seats.map((seat) => marks[seat.index]));
}

function stage({ width }) {
  const wide = Math.min(width - 1, Math.max(6, width * .4));
  return svg("g", { "aria-hidden": "true" },
    svg("rect", { class: "stage", x: (width - wide) / 2, y: .4, width: wide, height: 1.6, rx: .3 }),
    svg("text", { class: "stage-name", x: width / 2, y: 1.2 }, t("stage")));
}

function shapes() {
  const symbol = (id, ...parts) => svg("symbol", { id, viewBox: "0 0 16 16" }, svg("rect", { class: "hit", width: 16, height: 16 }), ...parts);
  return svg("defs", {},
    symbol("seat-free", svg("circle", { class: "disc", cx: 8, cy: 8, r: 6 })),
    symbol("seat-held",
      svg("circle", { class: "ring", cx: 8, cy: 8, r: 5 }),
      svg("path", { class: "half", d: "M8 3a5 5 0 0 0 0 10z" })),
    symbol("seat-sold",
      svg("circle", { class: "ring sold", cx: 8, cy: 8, r: 4 }),
      svg("path", { class: "cross", d: "M6.4 6.4l3.2 3.2M9.6 6.4L6.4 9.6" })),
    symbol("seat-mine",
      svg("circle", { class: "mine", cx: 8, cy: 8, r: 7 }),
      svg("path", { class: "tick", d: "M5 8.300l2.100 2.100L11.200 6" })));
}

/** The map scrolls in its box; zooming only changes how wide it is drawn. */
function zoomer(box, drawing, plan) {
  let pitch = PITCH.start;
  const apply = (next) => {
    const middle = (box.scrollLeft + box.clientWidth / 2) / (drawing.clientWidth || 1);
    pitch = Math.min(PITCH.max, Math.max(PITCH.min, next));
    drawing.setAttribute("width", plan.width * pitch);
    drawing.setAttribute("height", plan.height * pitch);
    box.scrollLeft = middle * drawing.clientWidth - box.clientWidth / 2;
  };
  return {
    in: () => apply(pitch * 1.35),
    out: () => apply(pitch / 1.35),
    start: () => {
      apply(Math.max(PITCH.start * .75, Math.min(PITCH.start * 1.3, box.clientWidth / plan.width)));
      box.scrollLeft = (drawing.clientWidth - box.clientWidth) / 2;
    },
  };
}

// What the editor draws over and under the map: the grid, the picture to trace, the selection with its
// handles, guides and the rectangle that is being drawn.

import { drawn } from "../model/sections.js";
import { handlesOf, stageItem } from "./tools.js";

const GRID = 50;
const GRID_MIN_PX = 9;

export function drawUnder(pen, map, { store, background }) {
  const { view, dpr, theme } = map;
  if (background?.bitmap) {
    const { bitmap, x, y, width, opacity } = background;
    const height = (width * bitmap.height) / bitmap.width;
    const at = (value, offset) => (value * view.scale + offset) * dpr;
    pen.globalAlpha = opacity;
    pen.drawImage(bitmap, at(x, view.left), at(y, view.top), width * view.scale * dpr, height * view.scale * dpr);
    pen.globalAlpha = 1;
  }
  if (!store.showsGrid || GRID * view.scale < GRID_MIN_PX) return;
  pen.strokeStyle = theme.sectionLine;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let x = Math.floor(-view.left / view.scale / GRID) * GRID; x * view.scale + view.left < view.width; x += GRID) {
    const px = Math.round((x * view.scale + view.left) * dpr) + 0.5;
    pen.moveTo(px, 0);
    pen.lineTo(px, pen.canvas.height);
  }
  for (let y = Math.floor(-view.top / view.scale / GRID) * GRID; y * view.scale + view.top < view.height; y += GRID) {
    const py = Math.round((y * view.scale + view.top) * dpr) + 0.5;
    pen.moveTo(0, py);
    pen.lineTo(pen.canvas.width, py);
  }
  pen.stroke();
}

export function drawOver(pen, map, board) {
  const { store } = board;
  const sketch = penOf(pen, map);
  for (const section of store.picked) sketch.path(drawn(section).outline, 2.5);
  drawHandles(sketch, board);
  for (const [key, places] of store.seats) drawSeats(sketch, map, key, places);
  if (board.cursor >= 0) sketch.ring([map.plan.x[board.cursor], map.plan.y[board.cursor]], 6, map.theme.focus);
  for (const { axis, at } of board.guides) sketch.guide(axis, at);
  if (!board.marquee) return;
  const [x0, y0, x1, y1] = board.marquee;
  sketch.path([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], 1.5, true);
}

function drawHandles(sketch, { store, scale }) {
  const { picked } = store;
  const isStage = store.isStagePicked;
  if (isStage) sketch.path(handlesOf(stageItem(store.plan.stage), scale).corners.map(({ at }) => at), 2.5);
  if (picked.length + Number(isStage) !== 1) return;
  const item = isStage ? stageItem(store.plan.stage) : picked[0];
  const { corners, spin } = handlesOf(item, scale);
  if (!isStage) sketch.path(corners.map(({ at }) => at), 1, true);
  if (spin) {
    const middle = [(corners[0].at[0] + corners[1].at[0]) / 2, (corners[0].at[1] + corners[1].at[1]) / 2];
    sketch.line(middle, spin);
    sketch.handle(spin, true);
  }
  corners.forEach(({ at }) => sketch.handle(at, false));
}

function drawSeats(sketch, map, key, places) {
  const section = map.plan.sections.find((it) => it.key === key);
  if (!section) return;
  for (let i = section.first; i < section.first + section.count; i += 1) {
    if (places.has(map.plan.seats[i].at.join(":"))) sketch.ring([map.plan.x[i], map.plan.y[i]], 5, map.theme.mine);
  }
}

/** Draws in units of the plan; lines and handles keep their size on the screen. */
function penOf(pen, { view, dpr, theme }) {
  const at = ([x, y]) => [(x * view.scale + view.left) * dpr, (y * view.scale + view.top) * dpr];
  const stroke = (width, colour = theme.heat, dash = []) => {
    pen.setLineDash(dash.map((it) => it * dpr));
    pen.strokeStyle = colour;
    pen.lineWidth = width * dpr;
    pen.stroke();
    pen.setLineDash([]);
  };
  return {
    path(points, width, isDashed) {
      pen.beginPath();
      points.forEach((point, i) => pen[i ? "lineTo" : "moveTo"](...at(point)));
      pen.closePath();
      stroke(width, theme.heat, isDashed ? [5, 4] : []);
    },
    line(from, to) {
      pen.beginPath();
      pen.moveTo(...at(from));
      pen.lineTo(...at(to));
      stroke(1.5);
    },
    handle(point, isRound) {
      const [x, y] = at(point);
      const r = 6 * dpr;
      pen.beginPath();
      if (isRound) pen.arc(x, y, r, 0, 2 * Math.PI);
      else pen.roundRect(x - r, y - r, 2 * r, 2 * r, 3 * dpr);
      pen.fillStyle = theme.section;
      pen.fill();
      stroke(2);
    },
    ring(point, radius, colour) {
      const [x, y] = at(point);
      pen.beginPath();
      pen.arc(x, y, Math.max(3, radius * view.scale) * dpr, 0, 2 * Math.PI);
      stroke(2.2, colour);
    },
    guide(axis, value) {
      pen.beginPath();
      const along = (value * view.scale + (axis ? view.top : view.left)) * dpr;
      if (axis) {
        pen.moveTo(0, along);
        pen.lineTo(pen.canvas.width, along);
      } else {
        pen.moveTo(along, 0);
        pen.lineTo(along, pen.canvas.height);
      }
      stroke(1, theme.focus);
    },
  };
}

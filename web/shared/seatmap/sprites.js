// Sprites of a seat in every state, as pixels to copy. Shape shows the state as well as colour
// does: disc, half disc, ring with a cross, disc with a tick, disc with a star.

import { COLOURS, PITCH } from "./plan.js";

/** The radius of a seat relative to its pitch. */
const RADIUS = 0.395;

export const [FREE, HELD, SOLD, MINE, OWN] = [0, 1, 2, 3, 4];

/** Seats of other grades or sections are dimmed. */
const FAINT = 0.28;

/** `at(state, colour, faint)` returns the pixels, `size` squared, of one seat. */
export function makeSprites(theme, scale, detail) {
  const size = Math.max(2, Math.ceil(scale * PITCH * 0.98));
  const canvas = new OffscreenCanvas(size, size);
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const radius = Math.max(0.85, scale * PITCH * RADIUS);
  const draw = (paint) => {
    pen.clearRect(0, 0, size, size);
    pen.globalAlpha = 1;
    paint(pen, size / 2, radius);
    return new Uint32Array(pen.getImageData(0, 0, size, size).data.buffer.slice(0));
  };
  const made = new Map();
  const at = (state, colour, isFaint) => {
    const key = (state * COLOURS + colour) * 2 + Number(isFaint);
    if (!made.has(key)) made.set(key, draw(painter(theme, { state, colour, isFaint, detail })));
    return made.get(key);
  };
  return { size, half: size / 2, at };
}

function painter(theme, { state, colour, isFaint, detail }) {
  const faint = isFaint ? FAINT : 1;
  const fill = theme.grades[colour];
  if (state === FREE) return (pen, c, r) => disc(pen, { c, r, fill, alpha: faint, shine: 2 <= detail });
  if (state === MINE) return (pen, c, r) => mine(pen, c, r, theme);
  if (state === OWN) return (pen, c, r) => own(pen, c, r, theme);
  if (detail === 1) return (pen, c, r) => disc(pen, { c, r: r * (state === HELD ? 0.66 : 0.5), fill: state === HELD ? theme.held : theme.sold, alpha: faint });
  return state === HELD ? (pen, c, r) => half(pen, c, r, theme.held, faint) : (pen, c, r) => gone(pen, c, r, theme.sold, faint);
}

function disc(pen, { c, r, fill, alpha, shine }) {
  pen.globalAlpha = alpha;
  pen.fillStyle = fill;
  circle(pen, c, r);
  pen.fill();
  if (!shine) return;
  // The highlight.
  pen.globalAlpha = alpha * 0.28;
  pen.fillStyle = "#fff";
  pen.beginPath();
  pen.ellipse(c - r * 0.32, c - r * 0.4, r * 0.3, r * 0.19, -0.6, 0, 2 * Math.PI);
  pen.fill();
}

function half(pen, c, r, colour, alpha) {
  pen.globalAlpha = alpha;
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = Math.max(1, r * 0.2);
  circle(pen, c, r * 0.84);
  pen.stroke();
  pen.beginPath();
  pen.arc(c, c, r * 0.84, Math.PI / 2, (3 * Math.PI) / 2);
  pen.fill();
}

function gone(pen, c, r, colour, alpha) {
  pen.globalAlpha = alpha;
  pen.strokeStyle = colour;
  pen.lineWidth = Math.max(0.8, r * 0.15);
  circle(pen, c, r * 0.8);
  pen.stroke();
  const arm = r * 0.3;
  pen.beginPath();
  pen.moveTo(c - arm, c - arm);
  pen.lineTo(c + arm, c + arm);
  pen.moveTo(c + arm, c - arm);
  pen.lineTo(c - arm, c + arm);
  pen.stroke();
}

function mine(pen, c, r, theme) {
  pen.fillStyle = theme.mine;
  circle(pen, c, r * 1.05);
  pen.fill();
  if (r < 3) return;
  pen.strokeStyle = theme.mineInk;
  pen.lineWidth = Math.max(1.2, r * 0.24);
  pen.lineCap = pen.lineJoin = "round";
  pen.beginPath();
  pen.moveTo(c - r * 0.42, c + r * 0.04);
  pen.lineTo(c - r * 0.1, c + r * 0.36);
  pen.lineTo(c + r * 0.46, c - r * 0.34);
  pen.stroke();
}

/** Already the fan's: a star. */
function own(pen, c, r, theme) {
  pen.fillStyle = theme.mine;
  circle(pen, c, r * 1.05);
  pen.fill();
  if (r < 3) return;
  pen.fillStyle = theme.mineInk;
  pen.beginPath();
  for (let i = 0; i < 10; i += 1) {
    const [angle, length] = [(i * Math.PI) / 5 - Math.PI / 2, r * (i % 2 ? 0.3 : 0.7)];
    pen.lineTo(c + Math.cos(angle) * length, c + Math.sin(angle) * length);
  }
  pen.closePath();
  pen.fill();
}

function circle(pen, c, r) {
  pen.beginPath();
  pen.arc(c, c, r, 0, 2 * Math.PI);
}

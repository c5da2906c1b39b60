// The poster of an event without a picture: colours by its title, shapes by its genre, the title set
// large. The same event yields the same poster.

import { svg } from "../../shared/ui/dom.js";

/** Deep ground, middle and light; white is readable on the ground. */
const SKIES = [
  ["#2B1055", "#7B3FF2", "#FF9AD5"],
  ["#0B2A4A", "#1A70C8", "#7DF5C8"],
  ["#4A0F35", "#C01F6A", "#FFC38A"],
  ["#0F2E2A", "#0EA283", "#D6F58A"],
  ["#3A1C06", "#C05510", "#FFD36E"],
  ["#15133C", "#4A5BFF", "#C6B2FF"],
  ["#3D0C11", "#B3202E", "#FFD0A6"],
  ["#06282E", "#13808C", "#BFF3E0"],
  ["#1E1140", "#8A2BD0", "#FFB3E6"],
  ["#101820", "#3E5C76", "#F2E9D8"],
];

/** Deterministic pseudo-random numbers from a text. */
function numbers(text) {
  let state = 2_166_136_261;
  for (const letter of text) state = Math.imul(state ^ letter.codePointAt(0), 16_777_619);
  // The last letters alone would decide the first number.
  for (const shift of [16, 13, 16]) state = Math.imul(state ^ (state >>> shift), 2_246_822_507);
  return () => {
    state = Math.imul(state ^ (state >>> 15), 2_246_822_519);
    state = Math.imul(state ^ (state >>> 13), 3_266_489_917);
    return ((state ^= state >>> 16) >>> 0) / 4_294_967_296;
  };
}

const circle = (cx, cy, r, rest) => svg("circle", { cx, cy, r, ...rest });
const path = (d, rest) => svg("path", { d, ...rest });
const times = (n, make) => Array.from({ length: n }, (_, index) => make(index));

/** One drawing for each genre, in the upper two thirds of 120 × 160. */
const MOTIFS = {
  POP: ({ next, middle, light }) => times(3, (i) => path(`M${20 + i * 40} -10 L${next() * 120} 120 L${next() * 60 + 50} 120 Z`, { fill: i % 2 ? light : middle, opacity: 0.45 })),
  BALLAD: ({ next, light, middle }) => [circle(30 + next() * 60, 42, 22, { fill: light }), times(4, (i) => path(`M-10 ${84 + i * 9} q30 ${-14 + next() * 8} 60 0 t60 0 t60 0`, { fill: "none", stroke: middle, "stroke-width": 4, opacity: 0.8 - i * 0.15 }))],
  ROCK: ({ next, middle, light }) => [times(5, (i) => path(`M${i * 30 - 14 + next() * 8} -5 l-14 130 h12 l14 -130 Z`, { fill: middle, opacity: 0.6 })), path("M68 12 L36 66 H58 L48 108 L88 50 H64 L78 12 Z", { fill: light })],
  INDIE: ({ next, middle, light }) => times(12, (i) => svg("rect", { x: 14 + (i % 3) * 32, y: 12 + Math.floor(i / 3) * 25, width: 28, height: 21, rx: 2, fill: next() < 0.4 ? light : middle, opacity: 0.5 + next() * 0.5 })),
  HIPHOP: ({ middle, light, deep }) => [times(6, (i) => circle(60, 58, 50 - i * 7, { fill: i % 2 ? deep : middle })), circle(60, 58, 9, { fill: light })],
  JAZZ: ({ next, middle, light }) => times(9, (i) => svg("rect", { x: 9 + i * 11.6, y: -4, width: 8.4, height: 40 + next() * 72, rx: 4, fill: i % 3 === 1 ? light : middle })),
  CLASSICAL: ({ next, middle, light }) => times(7, (i) => path(`M${60 - 12 - i * 9} 112 a${12 + i * 9} ${12 + i * 9} 0 0 1 ${24 + i * 18} 0`, { fill: "none", stroke: i % 3 === Math.floor(next() * 3) ? light : middle, "stroke-width": 3, "stroke-dasharray": "1 5", "stroke-linecap": "round" })),
  MUSICAL: ({ middle, light }) => [circle(60, 66, 34, { fill: light }), times(4, (i) => [path(`M${i * 9 - 2} 0 q10 60 ${-4 - i * 4} 116 h12 q8 -60 2 -116 Z`, { fill: middle }), path(`M${122 - i * 9} 0 q-10 60 ${4 + i * 4} 116 h-12 q-8 -60 -2 -116 Z`, { fill: middle })])],
  FESTIVAL: ({ next, middle, light }) => [times(12, (i) => path("M60 62 L54 -40 L66 -40 Z", { fill: light, opacity: 0.35, transform: `rotate(${i * 30 + next() * 6} 60 62)` })), circle(60, 62, 24, { fill: light }), path("M-5 112 q32 -30 62 -8 t70 -6 v30 h-140 Z", { fill: middle })],
  OTHER: ({ next, middle, light }) => [[38, 46], [80, 40], [60, 82]].map(([x, y], i) => circle(x + next() * 10 - 5, y + next() * 10 - 5, 24 + next() * 8, { fill: i === 1 ? light : middle, opacity: 0.85 })),
};

/** The title in lines of about equal length: Hangul is as wide as high, Latin half of it. */
function titleLines(title) {
  const widthOf = (text) => [...text].reduce((sum, letter) => sum + (/[\u1100-\uFFFF]/.test(letter) ? 1 : 0.56), 0);
  const words = title.split(/\s+/);
  const perLine = Math.max(6, ...words.map(widthOf), widthOf(title) / 3);
  const lines = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(`${last} ${word}`) <= perLine) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  const shown = lines.slice(0, 4);
  return { lines: shown, size: Math.min(15, 104 / Math.max(...shown.map(widthOf)), 44 / shown.length) };
}

let made = 0;

/** A drawing of 3:4. It has no words for screen readers, since the title stands beside it. */
export function art({ title, genre }, className) {
  const next = numbers(title);
  const [deep, middle, light] = SKIES[Math.floor(next() * SKIES.length)];
  const { lines, size } = titleLines(title);
  made += 1;
  const shade = `shade${made}`;
  return svg("svg", { class: className, viewBox: "0 0 120 160", preserveAspectRatio: "xMidYMid slice", "aria-hidden": "true", "data-genre": genre ?? "OTHER" },
    svg("defs", {}, svg("linearGradient", { id: shade, x1: 0, y1: 0, x2: 0, y2: 1 },
      svg("stop", { offset: 0.45, "stop-color": deep, "stop-opacity": 0 }),
      svg("stop", { offset: 0.75, "stop-color": deep }))),
    svg("rect", { width: 120, height: 160, fill: deep }),
    (MOTIFS[genre] ?? MOTIFS.OTHER)({ next, deep, middle, light }),
    svg("rect", { width: 120, height: 160, fill: `url(#${shade})` }),
    lines.map((line, index) => svg("text", { x: 8, y: 150 - (lines.length - 1 - index) * size * 1.2, fill: "#fff", "font-size": size.toFixed(1), "font-weight": 700 }, line)));
}

// A generated poster: grapes in colours derived from the title. The same title yields the same
// poster.

import { svg } from "../../shared/ui/dom.js";

const SKIES = [
  ["#2B1055", "#7B3FF2", "#FF9AD5"],
  ["#0B2A4A", "#1A70C8", "#7DF5C8"],
  ["#3A0F2E", "#C01F6A", "#FFC38A"],
  ["#0F2E2A", "#0EA283", "#D6F58A"],
  ["#2A1606", "#C05510", "#FFD36E"],
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

let made = 0;

export function poster(title, className = "poster") {
  const next = numbers(title);
  const [deep, middle, light] = SKIES[Math.floor(next() * SKIES.length)];
  made += 1;
  const [sky, glow] = [`sky${made}`, `glow${made}`];
  const grapes = Array.from({ length: 14 }, (_, i) => {
    const row = Math.floor((Math.sqrt(8 * i + 1) - 1) / 2);
    const inRow = i - (row * (row + 1)) / 2;
    const x = 60 + (inRow - row / 2) * 17 + (next() - 0.5) * 5;
    return svg("circle", { cx: x, cy: 118 - row * 15 + (next() - 0.5) * 4, r: 8 + next() * 3.5, fill: light, opacity: (0.25 + next() * 0.55).toFixed(2) });
  });
  return svg("svg", { class: className, viewBox: "0 0 120 156", preserveAspectRatio: "xMidYMid slice", "aria-hidden": "true" },
    svg("defs", {},
      svg("linearGradient", { id: sky, x1: 0, y1: 0, x2: 0.4, y2: 1 },
        svg("stop", { offset: 0, "stop-color": deep }),
        svg("stop", { offset: 0.6, "stop-color": middle }),
        svg("stop", { offset: 1, "stop-color": light })),
      svg("radialGradient", { id: glow },
        svg("stop", { offset: 0, "stop-color": "#fff", "stop-opacity": 0.7 }),
        svg("stop", { offset: 1, "stop-color": "#fff", "stop-opacity": 0 }))),
    svg("rect", { width: 120, height: 156, fill: `url(#${sky})` }),
    svg("circle", { cx: 20 + next() * 80, cy: 20 + next() * 40, r: 34 + next() * 22, fill: `url(#${glow})` }),
    svg("path", { d: `M60 44q${8 + next() * 12} -22 ${18 + next() * 14} -${18 + next() * 8}`, stroke: light, "stroke-width": 2.5, fill: "none", opacity: 0.8 }),
    grapes,
    svg("rect", { y: 132, width: 120, height: 24, fill: deep, opacity: 0.55 }));
}

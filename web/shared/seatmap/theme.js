// The map's colours, read from the page's tokens, because a canvas has no custom properties.

import { COLOURS } from "./plan.js";

export function readTheme(element) {
  const style = getComputedStyle(element);
  const token = (name) => style.getPropertyValue(name).trim();
  const each = (name) => Array.from({ length: COLOURS }, (_, i) => token(`${name}-${i}`));
  return {
    ground: token("--map-ground"),
    section: token("--map-section"),
    sectionLine: token("--map-section-line"),
    sold: token("--map-sold"),
    held: token("--seat-held"),
    mine: token("--seat-mine"),
    mineInk: token("--seat-mine-ink"),
    ink: token("--ink"),
    ink2: token("--ink-2"),
    stage: token("--stage"),
    stageInk: token("--stage-ink"),
    focus: token("--focus"),
    heat: token("--brand"),
    grades: each("--grade"),
    onGrades: each("--on-grade"),
    tints: each("--grade-tint"),
    font: style.fontFamily,
  };
}

/** Black or white, whichever is more readable on `heat` over the section at this strength. */
export function inkOver(theme, strength) {
  const [over, under] = [rgb(theme.heat), rgb(theme.section)];
  const mixed = over.map((value, i) => value * strength + under[i] * (1 - strength));
  const [r, g, b] = mixed.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return 0.179 < luminance ? "#0C0616" : "#FFFFFF";
}

function rgb(hex) {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

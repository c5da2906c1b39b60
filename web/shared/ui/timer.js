// How a countdown looks: calm, amber in the last two minutes, red in the last half minute, grey at the
// end. The text says the same as the colour.

const SOON_MS = 120_000;
const URGENT_MS = 30_000;

/** Marks `box`, the element around a countdown with `ms` left. */
export function showUrgency(box, ms) {
  box.classList.toggle("soon", URGENT_MS < ms && ms <= SOON_MS);
  box.classList.toggle("urgent", 0 < ms && ms <= URGENT_MS);
  box.classList.toggle("over", ms === 0);
}

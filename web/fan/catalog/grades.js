// Grades with their prices and free seats.

import { COLOURS } from "../../shared/seatmap/plan.js";

/** Grades from the most expensive down: `{grade, price, left}`. */
export function gradesOf({ prices = {}, seatsLeft = {} }) {
  const list = Object.entries(prices).map(([grade, price]) => ({ grade, price, left: seatsLeft[grade] }));
  return list.sort((a, b) => b.price - a.price || a.grade.localeCompare(b.grade));
}

/** The class that gives a grade its colour. */
export function toneOf(index) {
  return `g${Math.min(index, COLOURS - 1)}`;
}

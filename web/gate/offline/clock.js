// The server's time without a network: how far this device's clock was off when they last spoke.

import { clockOffset } from "../../shared/app/clock.js";

const OFFSET = "podo.gate.clock";

/** Called after the server answered. */
export function keepClock() {
  const offset = clockOffset();
  if (offset !== null) localStorage.setItem(OFFSET, String(Math.round(offset)));
}

export function gateNow() {
  return Date.now() + (clockOffset() ?? Number(localStorage.getItem(OFFSET) ?? 0));
}

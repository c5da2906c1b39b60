// The API's letters and the map's states.

import { FREE, HELD, SOLD } from "./sprites.js";

const STATES = { A: FREE, H: HELD, S: SOLD };

export function stateOf(letter) {
  return STATES[letter] ?? SOLD;
}

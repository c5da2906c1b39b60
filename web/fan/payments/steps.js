// Where the fan is between choosing seats and having tickets.

import { el, icon } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";

const STEPS = ["stepSeats", "stepPay", "stepDone"];

/** `current` counts from 0. */
export function bookingSteps(current) {
  return el("ol", { class: "steps", "aria-label": t("steps") }, STEPS.map((key, i) =>
    el("li", { class: i < current ? "passed" : null, "aria-current": i === current ? "step" : null },
      el("i", { "aria-hidden": "true" }, i < current ? icon("check") : String(i + 1)), t(key))));
}

// The entry: how long it lasts, and how to extend it.

import { call } from "../../shared/app/api.js";
import { every, msUntil } from "../../shared/app/clock.js";
import { announce, el, whileBusy } from "../../shared/ui/dom.js";
import { countdown } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { showUrgency } from "../../shared/ui/timer.js";
import { keep, recall } from "../../shared/app/session.js";

/** The fan is warned when this much time is left. */
const WARN_MS = 120_000;

/** The remaining time of the entry, with a button to extend it. */
export function entryTimer(page) {
  const clock = el("b", { class: "num", role: "timer", "aria-label": t("timeInside") });
  const box = el("span", { class: "timer" }, el("span", {}, t("timeInside")), clock);
  const more = el("button", { class: "btn", type: "button" });
  let warned = false;
  const update = () => {
    const entry = recall("entry", page.id);
    const left = entry?.expiresAt ? msUntil(entry.expiresAt) : 0;
    if (left === 0) return leaveSale(page);
    clock.textContent = countdown(left);
    showUrgency(box, left);
    more.hidden = !entry.extensionsLeft;
    more.textContent = t("extend", entry.extensionsLeft);
    if (left < WARN_MS && !warned) announce(t("timeShort"));
    warned = left < WARN_MS;
  };
  more.addEventListener("click", () => whileBusy(more, async () => {
    try {
      const answer = await call("POST", "/api/queue/extend", { body: { scheduleId: page.id }, scheduleId: page.id });
      keep("entry", page.id, {
        ...recall("entry", page.id),
        expiresAt: answer.entryExpiresAt,
        extensionsLeft: answer.extensionsLeft,
      });
    } catch (error) {
      if (error.code === "NO_EXTENSIONS_LEFT") keep("entry", page.id, { ...recall("entry", page.id), extensionsLeft: 0 });
      announce(error.message);
    }
    update();
  }));
  every(500, page.signal, update);
  return el("div", { class: "row" }, box, more);
}

export function leaveSale(page) {
  keep("entry", page.id, null);
  if (!page.signal.aborted) location.replace(`#/queue/${page.id}`);
}

// A reminder before the sale of a date opens.

import { call, get, remove } from "../../shared/app/api.js";
import { msUntil } from "../../shared/app/clock.js";
import { announce, el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { user } from "../../shared/app/session.js";

/** The fan's reminders, read once for all dates of the page. */
export async function remindersOf(signal) {
  if (!user()) return new Set();
  const { items } = await get("/api/users/me/reminders", { signal }).catch(() => ({ items: [] }));
  return new Set(items);
}

export function reminderButton(page, schedule, reminders) {
  if (msUntil(schedule.saleStartsAt) === 0 || schedule.status === "CANCELLED") return null;
  const problem = problemBox();
  const button = el("button", { class: "btn small", type: "button" });
  const draw = () => {
    const isOn = reminders.has(schedule.id);
    button.replaceChildren(icon("bell"), t(isOn ? "reminderOn" : "reminderOff"));
    button.setAttribute("aria-pressed", String(isOn));
  };
  button.addEventListener("click", () => whileBusy(button, async () => {
    if (!user()) return page.login();
    const path = `/api/schedules/${schedule.id}/reminder`;
    try {
      if (reminders.has(schedule.id)) {
        await remove(path);
        reminders.delete(schedule.id);
      } else {
        await call("PUT", path, { body: {} });
        reminders.add(schedule.id);
        announce(t("reminderSet"));
      }
      problem.show("");
    } catch (error) {
      problem.show(error.message);
    }
  }).then(draw));
  draw();
  return el("div", { class: "stack tight" }, button, problem.element);
}

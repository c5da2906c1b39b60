// The entry: how long it lasts, how to extend it, and what is already held.

import { call, get } from "../../shared/app/api.js";
import { every, msUntil } from "../../shared/app/clock.js";
import { announce, el, whileBusy } from "../../shared/ui/dom.js";
import { count, countdown } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { keep, recall } from "../../shared/app/session.js";

/** The fan is warned when this much time is left. */
const WARN_MS = 120_000;

/** The remaining time of the entry, with a button to extend it. */
export function entryTimer(page) {
  const clock = el("b", { class: "num", role: "timer", "aria-label": t("timeInside") });
  const more = el("button", { class: "btn", type: "button" });
  let warned = false;
  const update = () => {
    const entry = recall("entry", page.id);
    const left = entry?.expiresAt ? msUntil(entry.expiresAt) : 0;
    if (left === 0) return leaveSale(page);
    clock.textContent = countdown(left);
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
  return el("div", { class: "row" }, el("span", { class: "timer" }, el("span", {}, t("timeInside")), clock), more);
}

export function leaveSale(page) {
  keep("entry", page.id, null);
  if (!page.signal.aborted) location.replace(`#/queue/${page.id}`);
}

/** Seats that are already held are paid for at the checkout. */
export function holdNotice(page) {
  const box = el("p", { class: "note ok", hidden: true });
  get("/api/booking/reservations", { scheduleId: page.id, signal: page.signal }).then((answer) => {
    const held = answer.items.find((it) => it.scheduleId === page.id && ["HELD", "PAYING"].includes(it.status));
    if (!held) return;
    const id = held.reservationId ?? held.id;
    keep("schedule", id, page.id);
    box.replaceChildren(el("a", { href: `#/checkout/${id}` }, t("youHold", count(held.seats?.length ?? 1))));
    box.hidden = false;
  }).catch(() => null);
  return box;
}

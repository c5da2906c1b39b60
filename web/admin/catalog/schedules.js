// Finds dates, for pages about one of them.

import { get } from "../../shared/app/api.js";
import { el } from "../../shared/ui/dom.js";
import { moment } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";

/** Every date of the newest events, each with its event's title. */
export async function allSchedules(signal) {
  const { items } = await get("/api/admin/events?limit=50", { signal });
  const events = await Promise.all(items.map(({ id }) => get(`/api/admin/events/${id}`, { signal })));
  return events.flatMap((event) => event.schedules.map((schedule) => ({ ...schedule, event })));
}

/** The date most likely wanted: on sale, or the next to go on sale. */
export function mostWanted(schedules) {
  const now = Date.now();
  const rank = (it) => {
    const isLive = it.event.status === "OPEN" && it.status !== "CANCELLED";
    const isOnSale = Date.parse(it.saleStartsAt) <= now && now < Date.parse(it.saleEndsAt);
    const distance = Math.abs(Date.parse(it.saleStartsAt) - now);
    return (isLive ? 0 : 1e15) + (isOnSale ? 0 : 1e14) + distance;
  };
  return [...schedules].sort((a, b) => rank(a) - rank(b))[0];
}

export function schedulePicker(schedules, chosen, onPick) {
  const select = el("select", { "aria-label": t("chooseDate"), class: "pick" }, schedules.map((it) =>
    el("option", { value: it.id, selected: it.id === chosen }, `${it.event.title} · ${moment(it.startsAt, it.timeZone)}`)));
  select.addEventListener("change", () => onPick(select.value));
  return select;
}

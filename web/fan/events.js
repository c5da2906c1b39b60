// Concerts on sale: the list, and one concert with its dates and prices.

import { get } from "../shared/api.js";
import { serverNow } from "../shared/clock.js";
import { el, whileBusy } from "../shared/dom.js";
import { count, moment, won } from "../shared/format.js";
import { t } from "../shared/i18n.js";
import { gradesOf, placeOf } from "./seats/plan.js";

export async function eventList({ main, signal }) {
  const first = await get("/api/events", { signal, isPublic: true });
  const list = el("ul", { class: "events" }, first.items.map(eventCard));
  const more = moreButton(list, first.nextCursor, signal);
  const isEmpty = first.items.length === 0;
  main.replaceChildren(
    el("div", { class: "stack" },
      el("h1", {}, t("events")),
      isEmpty ? el("p", { class: "quiet" }, t("noEvents")) : list,
      more));
}

function moreButton(list, cursor, signal) {
  if (!cursor) return null;
  const button = el("button", { class: "btn", type: "button" }, t("more"));
  button.addEventListener("click", () => whileBusy(button, async () => {
    const path = `/api/events?cursor=${encodeURIComponent(cursor)}`;
    const page = await get(path, { signal, isPublic: true }).catch(() => null);
    // The button stays for another try.
    if (!page) return;
    list.append(...page.items.map(eventCard));
    cursor = page.nextCursor;
    if (!cursor) button.remove();
  }));
  return button;
}

function eventCard(event) {
  return el("li", { class: "card" },
    el("a", { class: "event", href: `#/events/${event.id}` },
      el("span", { class: "poster", "aria-hidden": "true" }),
      el("span", {},
        el("strong", {}, event.title),
        el("span", { class: "quiet" }, [event.artist, placeOf(event)].filter(Boolean).join(" · ")))));
}

export async function eventDetail({ main, id, signal }) {
  const event = await get(`/api/events/${id}`, { signal, isPublic: true });
  const asked = (event.schedules ?? []).map(({ id }) => get(`/api/schedules/${id}`, { signal, isPublic: true }));
  const schedules = await Promise.all(asked);
  main.replaceChildren(
    el("div", { class: "stack" },
      el("div", { class: "event" },
        el("span", { class: "poster", "aria-hidden": "true" }),
        el("div", {},
          el("h1", {}, event.title),
          el("p", { class: "quiet" }, [event.artist, placeOf(event)].filter(Boolean).join(" · ")))),
      event.description ? el("p", { class: "prose" }, event.description) : null,
      el("h2", {}, t("dates")),
      schedules.length === 0 ? el("p", { class: "quiet" }, t("noDates")) : null,
      schedules.map(scheduleCard)));
}

function scheduleCard(schedule) {
  return el("section", { class: "card pad stack", "aria-label": moment(schedule.startsAt) },
    el("div", { class: "row apart" },
      el("h3", { class: "num" }, moment(schedule.startsAt)),
      enterLink(schedule)),
    el("p", { class: "quiet num" }, t("saleWindow", moment(schedule.saleStartsAt), moment(schedule.saleEndsAt))),
    el("ul", { class: "grades num" }, gradesOf(schedule).map(({ grade, price, left }, index) =>
      el("li", {},
        el("span", { class: `tag g${Math.min(index, 3)}` }, grade),
        el("span", {}, won(price)),
        el("span", { class: "quiet" }, left === undefined ? "" : t("seatsLeft", count(left)))))));
}

function enterLink(schedule) {
  const isOver = Date.parse(schedule.saleEndsAt) <= serverNow();
  if (isOver) return el("span", { class: "quiet" }, t("saleOver"));
  const isEarly = serverNow() < Date.parse(schedule.saleStartsAt);
  const label = isEarly ? t("enterLobby") : t("enter");
  return el("a", { class: "btn primary", href: `#/queue/${schedule.id}` }, label);
}

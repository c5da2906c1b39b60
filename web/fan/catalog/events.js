// Concerts on sale: search, filters, and a countdown for those that open soon.

import { get } from "../../shared/app/api.js";
import { every, msUntil, serverNow } from "../../shared/app/clock.js";
import { el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { countdown, showTime } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { poster } from "./poster.js";

/** Sales that open within this time have a countdown. */
const SOON_MS = 24 * 3_600_000;
const TYPING_MS = 250;

export async function eventList(page) {
  const { main, signal } = page;
  const problem = problemBox();
  const list = el("ul", { class: "events" });
  const nothing = el("div", { class: "card quiet pad nothing stack", role: "status", hidden: true });
  const more = el("button", { class: "btn", type: "button", hidden: true }, t("more"));
  const filters = filterForm(page.query);
  let cursor = null;
  let round = 0;

  async function load(isFirst) {
    round += 1;
    const mine = round;
    const query = new URLSearchParams({ ...filters.read(), ...(isFirst || !cursor ? {} : { cursor }) });
    try {
      const found = await get(`/api/events?${query}`, { signal, isPublic: true });
      if (mine !== round) return;
      problem.show("");
      if (isFirst) list.replaceChildren();
      list.append(...found.items.map((event) => eventCard(page, event)));
      cursor = found.nextCursor;
      more.hidden = !cursor;
      nothing.hidden = list.children.length > 0;
      if (!nothing.hidden) nothing.replaceChildren(...emptyWords());
    } catch (error) {
      if (error.name === "AbortError") throw error;
      problem.show(error.message);
    }
  }

  /** Nothing on sale, or nothing that matches: the way out differs. */
  function emptyWords() {
    const { query, ...rest } = filters.read();
    if (!query && !Object.keys(rest).length) return [el("p", {}, t("noEvents"))];
    const clear = el("button", { class: "btn", type: "button", onclick: () => {
      filters.element.reset();
      filters.element.query.value = "";
      load(true).catch(page.fail);
    } }, t("clearSearch"));
    return [el("p", {}, query ? t("noneFound", query) : t("noneFiltered")), el("p", {}, clear)];
  }

  more.addEventListener("click", () => whileBusy(more, () => load(false)));
  let typing = null;
  filters.element.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => load(true).catch(page.fail), TYPING_MS);
  });
  await load(true);
  main.replaceChildren(
    el("div", { class: "stack" },
      el("div", { class: "welcome" }, el("h1", {}, t("events")), el("p", { class: "quiet" }, t("eventsWords"))),
      filters.element,
      problem.element,
      list,
      nothing,
      el("div", { class: "row center" }, more)));
}

function filterForm(query) {
  const search = el("input", { type: "search", name: "query", value: query.get("query"), placeholder: t("searchWhat"), "aria-label": t("search") });
  const option = (value, words) => el("option", { value }, words);
  const status = el("select", { name: "sale", "aria-label": t("filterStatus") },
    option("", t("filterAll")), option("UPCOMING", t("filterUpcoming")), option("ONGOING", t("filterOpen")), option("ENDED", t("filterEnded")));
  const when = el("select", { name: "when", "aria-label": t("filterWhen") }, option("", t("anyTime")), option("30", t("withinMonth")), option("90", t("withinQuarter")));
  const city = el("input", { type: "text", name: "city", placeholder: t("filterCity"), "aria-label": t("filterCity"), autocomplete: "off" });
  const element = el("form", { class: "finder", role: "search" }, el("label", { class: "search" }, icon("search"), search), city, when, status);
  element.addEventListener("submit", (event) => event.preventDefault());
  const read = () => {
    const { query: text, sale, when: days, city: place } = Object.fromEntries(new FormData(element));
    const state = sale === "ENDED" ? { status: sale } : { scheduleStatus: sale };
    const range = days ? { from: new Date().toISOString(), to: new Date(Date.now() + Number(days) * 86_400_000).toISOString() } : {};
    return Object.fromEntries(Object.entries({ query: text.trim(), ...state, city: place.trim(), ...range }).filter(([, value]) => value));
  };
  return { element, read };
}

function eventCard(page, event) {
  const when = el("span", { class: "when num" });
  addDates(page, event, when);
  return el("li", {},
    el("a", { class: "event-card card", href: `#/events/${event.id}` },
      poster(event.title, "poster wide"),
      el("span", { class: "text" },
        el("strong", {}, event.title),
        el("span", { class: "quiet" }, event.artist),
        el("span", { class: "quiet" }, `${event.venueName} · ${event.city}`),
        when)));
}

/** The list has no dates, so each card loads its own. */
async function addDates(page, event, when) {
  const found = await get(`/api/events/${event.id}`, { signal: page.signal, isPublic: true }).catch(() => null);
  const dates = found?.schedules ?? [];
  const next = dates.find((it) => serverNow() < Date.parse(it.saleEndsAt)) ?? dates[0];
  if (!next) return;
  const clock = el("span", { class: "badge" });
  when.append(el("span", {}, showTime(next.startsAt)), clock);
  const isGone = serverNow() < Date.parse(next.saleEndsAt) && msUntil(next.saleStartsAt) === 0 && await areAllGone(page, dates);
  every(1_000, page.signal, () => {
    const left = msUntil(next.saleStartsAt);
    const isOver = Date.parse(next.saleEndsAt) <= serverNow();
    clock.className = isOver ? "badge" : isGone ? "badge danger" : left ? "badge warn" : "badge ok";
    clock.textContent = isOver ? t("saleOver") : isGone ? t("soldOut") : left === 0 ? t("onSale") : left < SOON_MS ? t("opensIn", countdown(left)) : t("opensAt", showTime(next.saleStartsAt));
  });
}

/** Whether no open date has seats; the numbers of one date come from the date itself. */
async function areAllGone({ signal }, dates) {
  const open = dates.filter((it) => serverNow() < Date.parse(it.saleEndsAt));
  const found = await Promise.all(open.map(({ id }) => get(`/api/schedules/${id}`, { signal, isPublic: true }).catch(() => null)));
  return found.every((it) => it && Object.values(it.seatsLeft ?? { unknown: 1 }).every((left) => left === 0));
}

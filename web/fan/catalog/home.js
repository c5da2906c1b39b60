// The upper part of the home page: the next big opening, what opens within two weeks, what sells fast.

import { get } from "../../shared/app/api.js";
import { every, msUntil, serverNow } from "../../shared/app/clock.js";
import { el, icon } from "../../shared/ui/dom.js";
import { count, dayOf, hourOf, showTime } from "../../shared/ui/format.js";
import { localText, t } from "../../shared/ui/i18n.js";
import { poster } from "./poster.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const OPENINGS_WITHIN_MS = 14 * DAY_MS;
const OPENINGS_MAX = 8;
const RANKED_MAX = 5;

/** All events with an opening within two weeks. The hour is cut off, so that nodes can cache the answer. */
export async function openingCards(signal) {
  const from = Math.floor(serverNow() / HOUR_MS) * HOUR_MS;
  const period = { opensFrom: new Date(from).toISOString(), opensTo: new Date(from + OPENINGS_WITHIN_MS + HOUR_MS).toISOString() };
  const cards = [];
  let cursor = null;
  do {
    const query = new URLSearchParams({ ...period, limit: 100, ...(cursor ? { cursor } : {}) });
    const page = await get(`/api/events/cards?${query}`, { signal, isPublic: true }).catch(() => ({ items: [] }));
    cards.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor);
  return cards;
}

/** The sections for these events; nothing for an empty catalogue. */
export function homeSections(page, cards, opening) {
  return [hero(page, cards, opening), openings(opening), ranking(cards)].filter(Boolean);
}

const phaseName = (opening) => localText(opening, "phase");

/** The next opening, else the concert that sells best. */
function hero(page, cards, opening) {
  const [next] = upcoming(opening);
  const card = next?.card ?? bySoldShare(cards)[0] ?? cards.find((it) => it.state === "ON_SALE");
  if (!card) return null;
  const clock = el("div", { class: "hero-clock num", role: "timer", "aria-live": "off" });
  if (next) every(1_000, page.signal, () => clock.replaceChildren(...timeLeft(msUntil(next.opening.opensAt))));
  return el("section", { class: "home-hero", "aria-labelledby": "hero-title", style: card.poster ? { "--tone": card.poster.tone } : {} },
    el("div", { class: "stack tight" },
      el("p", { class: "hero-when num" }, icon(next ? "clock" : "ticket"), next ? t("heroOpens", showTime(next.opening.opensAt, card.timeZone), phaseName(next.opening)) : t("heroNow")),
      el("h2", { id: "hero-title" }, card.title),
      el("p", { class: "num" }, [card.startsAt ? showTime(card.startsAt, card.timeZone) : null, card.venueName, card.city].filter(Boolean).join(" · ")),
      next ? clock : null,
      el("p", {}, el("a", { class: "btn", href: `#/events/${card.id}` }, t("heroGo")))),
    poster(card, "poster hero-art", { isFirst: true }));
}

function timeLeft(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const parts = [["homeDays", Math.floor(seconds / 86_400)], ["homeHours", Math.floor(seconds / 3_600) % 24], ["homeMinutes", Math.floor(seconds / 60) % 60], ["homeSeconds", seconds % 60]];
  return parts.map(([words, number]) => el("b", {}, t(words, number)));
}

/** Openings of all events, the earliest first. Dates of an event that open together are one. */
function upcoming(cards) {
  const isFirst = (opening, index, all) => all.findIndex((it) => it.opensAt === opening.opensAt && it.phase === opening.phase) === index;
  const all = cards.flatMap((card) => card.openings.filter(isFirst).map((opening) => ({ card, opening })));
  return all.filter(({ opening }) => msUntil(opening.opensAt) > 0).sort((a, b) => Date.parse(a.opening.opensAt) - Date.parse(b.opening.opensAt));
}

/** 티켓 오픈: Korean fans look for what opens on which day. */
function openings(cards) {
  const soon = upcoming(cards).filter(({ opening }) => msUntil(opening.opensAt) < OPENINGS_WITHIN_MS).slice(0, OPENINGS_MAX);
  if (!soon.length) return null;
  const days = Map.groupBy?.(soon, ({ card, opening }) => dayOf(opening.opensAt, card.timeZone)) ?? groupByDay(soon);
  const [today, tomorrow] = [dayOf(serverNow()), dayOf(serverNow() + DAY_MS)];
  const name = (day) => (day === today ? t("openingToday") : day === tomorrow ? t("openingTomorrow") : day);
  return el("section", { class: "stack", "aria-labelledby": "openings-title" },
    el("div", {}, el("h2", { id: "openings-title" }, t("openings")), el("p", { class: "quiet" }, t("openingsWords"))),
    el("ol", { class: "openings num" }, [...days].map(([day, items]) =>
      el("li", {}, el("h3", {}, name(day)), el("ul", {}, items.map(openingRow))))));
}

function groupByDay(items) {
  const days = new Map();
  for (const item of items) {
    const day = dayOf(item.opening.opensAt, item.card.timeZone);
    days.set(day, [...(days.get(day) ?? []), item]);
  }
  return days;
}

function openingRow({ card, opening }) {
  return el("li", {}, el("a", { href: `#/events/${card.id}` },
    poster(card),
    el("span", {},
      el("b", {}, hourOf(opening.opensAt, card.timeZone)), phaseName(opening) ? el("span", { class: "tag" }, phaseName(opening)) : null,
      el("strong", {}, card.title),
      el("small", { class: "quiet" }, card.venueName))));
}

const soldShare = (card) => (card.seats ? (card.seats - card.seatsLeft) / card.seats : 0);

function bySoldShare(cards) {
  return cards.filter((card) => card.state === "ON_SALE" && soldShare(card) > 0).sort((a, b) => soldShare(b) - soldShare(a));
}

/** Fans who have a ticket, are reminded of an opening or follow the artist. */
const popularity = (card) => (card.seats - card.seatsLeft) + card.interested;

function ranking(cards) {
  const ranked = cards.filter((card) => ["ON_SALE", "UPCOMING", "SOLD_OUT"].includes(card.state) && popularity(card) > 0)
    .sort((a, b) => popularity(b) - popularity(a)).slice(0, RANKED_MAX);
  if (ranked.length < 2) return null;
  return el("section", { class: "stack", "aria-labelledby": "ranking-title" },
    el("h2", { id: "ranking-title" }, t("ranking")),
    el("ol", { class: "ranking num" }, ranked.map((card, index) =>
      el("li", {}, el("a", { href: `#/events/${card.id}` },
        poster(card, "poster ranked"),
        el("span", {}, el("b", { "aria-hidden": "true" }, index + 1), el("span", {}, el("strong", {}, card.title), el("small", { class: "quiet" }, rankWords(card)))))))));
}

function rankWords(card) {
  if (card.state === "UPCOMING") return t("rankWaiting", count(card.interested));
  return t("rankSold", Math.round(soldShare(card) * 100));
}

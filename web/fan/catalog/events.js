// The home page: what opens next, and all concerts with search and filters.

import { get } from "../../shared/app/api.js";
import { every, msUntil } from "../../shared/app/clock.js";
import { el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { count, countdown, shortTime, showTime, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { GENRES } from "../words/event.js";
import { homeSections, openingCards } from "./home.js";
import { poster } from "./poster.js";
import { nextOpenings, searchField, spellingHelp, suggestionsFor } from "./search.js";

/** Sales that open within this time have a countdown. */
const SOON_MS = 24 * 3_600_000;
const TYPING_MS = 250;

export async function eventList(page) {
  const { main, signal } = page;
  const problem = problemBox();
  const list = el("ul", { class: "events" });
  const nothing = el("div", { class: "card quiet pad nothing stack", role: "status", hidden: true });
  const more = el("button", { class: "btn", type: "button", hidden: true }, t("more"));
  const filters = filterForm(page, () => load(true).catch(page.fail));
  const top = el("div", { class: "stack loose" });
  let cursor = null;
  let round = 0;

  // The list is in the order of publication, so what opens soon may be on any of its pages.
  const opening = openingCards(signal);

  async function load(isFirst) {
    round += 1;
    const mine = round;
    const query = new URLSearchParams({ ...filters.read(), ...(isFirst || !cursor ? {} : { cursor }) });
    try {
      const found = await get(`/api/events/cards?${query}`, { signal, isPublic: true });
      if (mine !== round) return;
      problem.show("");
      if (isFirst) {
        list.replaceChildren();
        // A search wants its results first.
        top.replaceChildren(...(filters.isEmpty() ? homeSections(page, found.items, await opening) : []));
      }
      list.append(...found.items.map((event) => eventCard(page, event)));
      cursor = found.nextCursor;
      more.hidden = !cursor;
      nothing.hidden = list.children.length > 0;
      if (!nothing.hidden) nothing.replaceChildren(...(await emptyWords()));
    } catch (error) {
      if (error.name === "AbortError") throw error;
      problem.show(error.message);
    }
  }

  /** Nothing on sale, or nothing that matches: the way out differs. */
  async function emptyWords() {
    if (filters.isEmpty()) return [el("p", {}, t("noEvents"))];
    const { query } = filters.read();
    const { spelling } = query ? await suggestionsFor(query, signal) : {};
    const help = spellingHelp(spelling, (words) => {
      filters.element.query.value = words;
      load(true).catch(page.fail);
    });
    const clear = el("button", { class: "btn", type: "button", onclick: () => {
      filters.element.reset();
      filters.element.query.value = "";
      load(true).catch(page.fail);
    } }, t("clearSearch"));
    return [el("p", {}, query ? t("noneFound", query) : t("noneFiltered")), help, el("p", {}, clear), nextOpenings(await opening)].filter(Boolean);
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
      top,
      el("div", { class: "welcome" }, el("h1", {}, t("events")), el("p", { class: "quiet" }, t("eventsWords"))),
      filters.element,
      problem.element,
      list,
      nothing,
      el("div", { class: "row center" }, more)));
}

/** The most that a cheapest seat may cost. */
const PRICES = [50_000, 100_000, 150_000];

function filterForm(page, onChoose) {
  const search = searchField(page, { value: page.query.get("query"), label: t("search"), placeholder: t("searchWhat"), onChoose });
  const option = (value, words) => el("option", { value }, words);
  const status = el("select", { name: "sale", "aria-label": t("filterStatus") },
    option("", t("filterAll")), option("UPCOMING", t("filterUpcoming")), option("ONGOING", t("filterOpen")), option("ENDED", t("filterEnded")));
  const when = el("select", { name: "when", "aria-label": t("filterWhen") }, option("", t("anyTime")), option("30", t("withinMonth")), option("90", t("withinQuarter")));
  const price = el("select", { name: "priceMax", "aria-label": t("filterPrice") }, option("", t("anyPrice")), PRICES.map((it) => option(it, t("priceUpTo", won(it)))));
  const city = el("input", { type: "text", name: "city", placeholder: t("filterCity"), "aria-label": t("filterCity"), autocomplete: "off" });
  const element = el("form", { class: "finder", role: "search" }, search, city, when, price, status, genreChips());
  element.addEventListener("submit", (event) => event.preventDefault());
  const read = () => {
    const { query: text, sale, when: days, city: place, genre, priceMax } = Object.fromEntries(new FormData(element));
    const state = sale === "ENDED" ? { status: sale } : { scheduleStatus: sale };
    const range = days ? { from: new Date().toISOString(), to: new Date(Date.now() + Number(days) * 86_400_000).toISOString() } : {};
    return Object.fromEntries(Object.entries({ query: text.trim(), ...state, city: place.trim(), genre, priceMax, ...range }).filter(([, value]) => value));
  };
  return { element, read, isEmpty: () => Object.keys(read()).length === 0 };
}

/** Radio buttons that look like chips, so that arrow keys work and forms read them. */
function genreChips() {
  const chip = (value, words) => el("label", { class: "genre" }, el("input", { type: "radio", name: "genre", value, checked: value === "" }), el("span", {}, words));
  return el("fieldset", { class: "genres" }, el("legend", { class: "sr" }, t("genreBy")), chip("", t("genreAll")), GENRES.map((genre) => chip(genre, t(`genre${genre}`))));
}

function eventCard(page, card) {
  const badge = el("span", { class: "badge" });
  every(1_000, page.signal, () => Object.assign(badge, stateOf(card)));
  return el("li", {},
    el("a", { class: "event-card card", href: `#/events/${card.id}` },
      poster(card, "poster art"),
      el("span", { class: "text" },
        badge,
        el("strong", {}, card.title),
        el("span", { class: "quiet" }, card.artist),
        el("span", { class: "quiet num" }, [card.startsAt ? showTime(card.startsAt, card.timeZone) : null, card.venueName, card.city].filter(Boolean).join(" · ")),
        card.priceFrom === undefined ? null : el("span", { class: "num" }, t("cardFrom", won(card.priceFrom, card.currency))))));
}

/** The class and text of a card's badge. An opening that has passed is on sale, before the next visit. */
function stateOf({ state, openings: [next], seats, seatsLeft, timeZone }) {
  const left = next ? msUntil(next.opensAt) : 0;
  if (state === "ENDED") return { className: "badge", textContent: t("saleOver") };
  if (state === "NO_DATES") return { className: "badge", textContent: t("noDates") };
  if (state === "SOLD_OUT") return { className: "badge danger", textContent: t("soldOut") };
  if (state === "UPCOMING" && left > 0) {
    return { className: "badge warn", textContent: left < SOON_MS ? t("opensIn", countdown(left)) : t("opensAt", shortTime(next.opensAt, timeZone)) };
  }
  if (state === "ON_SALE" && seatsLeft * 10 < seats) return { className: "badge warn", textContent: t("cardLeft", count(seatsLeft)) };
  return { className: "badge ok", textContent: t("onSale") };
}

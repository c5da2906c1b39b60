// One concert: its dates with prices and free seats, the hall, and the rules.

import "../../shared/seatmap/element.js";
import { get } from "../../shared/app/api.js";
import { every, msUntil, serverNow } from "../../shared/app/clock.js";
import { announce, el, icon, whileBusy } from "../../shared/ui/dom.js";
import { count, countdown, dayOf, moment, usePlace, won } from "../../shared/ui/format.js";
import { localText, t } from "../../shared/ui/i18n.js";
import { readPlan } from "../../shared/seatmap/plan.js";
import { stateOf } from "../../shared/seatmap/states.js";
import { gradesOf, toneOf } from "./grades.js";
import { currentPhase, phaseList } from "./phases.js";
import { picture, poster } from "./poster.js";
import { feeNote } from "../payments/order.js";
import { periodsOf, refundTerms } from "../payments/refunds.js";
import { followButton, followedArtists } from "../identity/follow.js";
import { remindersOf, reminderButton } from "./reminder.js";
import { standbyBox } from "../booking/standby.js";

const SOON_MS = 24 * 3_600_000;

const typeName = (type) => localText(type, "name");

export async function eventDetail(page) {
  const { main, id, signal } = page;
  const event = await get(`/api/events/${id}`, { signal, isPublic: true });
  usePlace(event);
  const [reminders, followed, ...schedules] = await Promise.all([
    remindersOf(signal),
    followedArtists(signal),
    ...event.schedules.map(({ id }) => get(`/api/schedules/${id}`, { signal, isPublic: true })),
  ]);
  main.className = "event-page";
  main.replaceChildren(
    el("header", { class: "billing", style: event.poster ? { "--tone": event.poster.tone } : {} },
      poster(event, "poster tall", { alt: event.poster?.alt, isFirst: true }),
      el("div", { class: "stack tight" },
        event.genre === "OTHER" ? null : el("p", { class: "quiet" }, t(`genre${event.genre}`)),
        el("h1", {}, event.title),
        el("p", { class: "big" }, event.artist),
        facts(event, schedules),
        el("p", { class: "row" }, followButton(page, event, followed), shareButton(event)))),
    el("div", { class: "event-columns" },
      el("div", { class: "stack loose" },
        event.description ? el("p", { class: "prose" }, event.description) : null,
        gallery(event),
        el("h2", {}, t("dates")),
        schedules.length ? schedules.map((schedule) => scheduleCard(page, schedule, { refunds: refundTerms(event.refundRules, periodsOf(event, schedule.id)), reminders, isOnly: schedules.length === 1 })) : el("p", { class: "quiet" }, t("noDates")),
        schedules.length ? preview(page, schedules[0]) : null,
        venue(event),
        rules()),
      schedules.length ? buyCard(page, schedules) : null));
}

/** Pictures beside the poster; each opens by itself in its full size. */
function gallery({ gallery: images }) {
  if (!images?.length) return null;
  const item = (image) => el("li", {}, el("a", { href: image.url }, picture(image, { className: "picture", sizes: "(max-width: 640px) 80vw, 320px" })));
  return el("section", { class: "stack tight", "aria-labelledby": "gallery-title" },
    el("h2", { id: "gallery-title" }, t("gallery")),
    el("ul", { class: "gallery" }, images.map(item)));
}

/** Where it is, with a link to a map of another site, which is loaded only when the fan follows it. */
function venue({ venueName, hallName, venueAddress }) {
  const map = `https://map.kakao.com/link/search/${encodeURIComponent(venueAddress || venueName)}`;
  return el("section", { class: "card pad stack tight", id: "venue", "aria-labelledby": "venue-title" },
    el("h2", { id: "venue-title" }, t("venue")),
    el("p", {}, el("b", {}, venueName), ` · ${hallName}`),
    venueAddress ? el("p", { class: "quiet" }, venueAddress) : null,
    el("p", {}, el("a", { class: "btn small", href: map, rel: "noreferrer", target: "_blank" }, icon("building"), t("venueMap"))));
}

/** The device's own sheet, or the address in the clipboard. */
function shareButton({ id, title }) {
  const button = el("button", { class: "btn small", type: "button" }, icon("send"), t("share"));
  const url = new URL(`/events/${id}`, location.href).href;
  button.addEventListener("click", () => whileBusy(button, async () => {
    if (navigator.share) return navigator.share({ title, url }).catch(() => null);
    await navigator.clipboard?.writeText(url);
    announce(t("shareCopied"));
    button.replaceChildren(icon("send"), t("shareCopied"));
  }));
  return button;
}

/** What to do next, always in sight: beside the page, or at the lower edge of a phone. */
function buyCard(page, schedules) {
  const isOpen = (it) => it.status !== "CANCELLED" && serverNow() < Date.parse(it.saleEndsAt);
  const schedule = schedules.find(isOpen) ?? schedules[0];
  const grades = gradesOf(schedule);
  const left = grades.reduce((sum, it) => sum + (it.left ?? 0), 0);
  const isOver = !isOpen(schedule) || (schedule.phases?.length > 0 && !currentPhase(schedule));
  const prices = grades.map(({ price }) => price + feeOf(schedule));
  const state = el("span", { class: "buy-state num" });
  every(1_000, page.signal, () => {
    const wait = msUntil(currentPhase(schedule)?.startsAt ?? schedule.saleStartsAt);
    state.textContent = isOver ? t("saleOver") : wait > 0 ? t("opensIn", countdown(wait)) : left ? t("seatsLeft", count(left)) : t("soldOut");
  });
  return el("aside", { class: "buy-card card pad stack tight", "aria-label": t("buyNow") },
    el("p", { class: "quiet num" }, moment(schedule.startsAt)),
    prices.length ? el("p", { class: "big num" }, t("cardFrom", won(Math.min(...prices)))) : null,
    el("p", {}, state),
    enterLink(page, schedule, { isOver, isGone: left === 0 }));
}

const feeOf = ({ fees }) => fees?.booking?.amount ?? 0;

/** The key facts: where, when, for how much. */
function facts(event, schedules) {
  const fact = (picture, words) => el("li", {}, icon(picture), el("span", {}, words));
  const prices = schedules.flatMap((it) => Object.values(it.prices).map((price) => price + feeOf(it)));
  const [first, last] = [schedules[0], schedules.at(-1)];
  return el("ul", { class: "event-facts num" },
    fact("building", `${event.venueName} · ${event.hallName} · ${event.city}`),
    first ? fact("calendar", first === last ? moment(first.startsAt) : `${dayOf(first.startsAt)} – ${dayOf(last.startsAt)}`) : null,
    prices.length ? fact("money", t("priceRange", won(Math.min(...prices)), won(Math.max(...prices)))) : null,
    first ? fact("ticket", t("perPerson", first.seatsPerPerson ?? 4)) : null,
    fact("users", event.minimumAge ? t("ageFrom", event.minimumAge) : t("ageAll")),
    event.transferable ? null : fact("shield", t("transferOff")));
}

/** What the grades will cost after a planned price change. */
function nextPrices({ nextPrices: next }) {
  if (!next) return null;
  const list = Object.entries(next.prices).map(([grade, price]) => `${grade} ${won(price)}`).join(" · ");
  return el("p", { class: "note num" }, t("nextPrices", moment(next.from), list));
}

function scheduleCard(page, schedule, { refunds, reminders, isOnly }) {
  const grades = gradesOf(schedule);
  const left = grades.reduce((sum, it) => sum + (it.left ?? 0), 0);
  const isOver = Date.parse(schedule.saleEndsAt) <= serverNow() || (schedule.phases?.length > 0 && !currentPhase(schedule));
  return el("section", { class: "card pad stack", "aria-label": moment(schedule.startsAt) },
    el("div", { class: "row apart" },
      el("div", {},
        el("h3", { class: "num" }, moment(schedule.startsAt)),
        el("p", { class: "quiet num" }, t("saleWindow", moment(schedule.saleStartsAt), moment(schedule.saleEndsAt)))),
      el("div", { class: "row" },
        reminderButton(page, schedule, reminders),
        // The card beside the page leads to the only date.
        isOnly ? null : enterLink(page, schedule, { isOver, isGone: left === 0 }))),
    priceTable(schedule, grades),
    nextPrices(schedule),
    feeNote(schedule),
    phaseList(page, schedule),
    left === 0 && !isOver ? standbyBox(page, schedule, grades) : null,
    el("h4", {}, t("refundRules")),
    refunds);
}

/** What each grade costs as each ticket type, with the fee of a ticket. */
function priceTable(schedule, grades) {
  const types = schedule.ticketTypes ?? [];
  const fee = feeOf(schedule);
  const head = (words, isNumber) => el("th", { scope: "col", class: isNumber ? "right" : null }, words);
  const priceOf = (type, { grade, price }) => (type.grades && !type.grades.includes(grade) ? "–" : won(withFee(reduced(price, type), fee)));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${t("priceTable")}, ${moment(schedule.startsAt)}` },
    el("table", { class: "prices num" },
      el("caption", {}, fee ? t("priceWithFee", won(fee)) : t("priceTable")),
      el("thead", {}, el("tr", {}, head(t("grade")), head(t("priceFull"), true), types.map((type) => head(typeName(type), true)), head(t("seatsFree"), true))),
      el("tbody", {}, grades.map((it, index) => el("tr", { class: toneOf(index) },
        el("th", { scope: "row" }, el("span", { class: "tag" }, it.grade)),
        el("td", { class: "right" }, el("b", {}, won(it.price + fee))),
        types.map((type) => el("td", { class: "right" }, priceOf(type, it))),
        el("td", { class: "right quiet" }, it.left === undefined ? "" : it.left ? count(it.left) : t("soldOut")))))));
}

/** A ticket that costs nothing has no fee. */
const withFee = (price, fee) => (price ? price + fee : 0);

/** As the server computes it: percentages are rounded down to whole minor units. */
function reduced(price, discount) {
  if (discount.percent !== undefined) return price - Math.floor((price * discount.percent) / 100);
  if (discount.won !== undefined) return Math.max(0, price - discount.won);
  return Math.min(price, discount.price);
}

function enterLink(page, schedule, { isOver, isGone }) {
  if (isOver || schedule.status === "CANCELLED") {
    return el("span", { class: "badge" }, schedule.status === "CANCELLED" ? t("dateCanceled") : t("saleOver"));
  }
  // Winners get offers, so there is no waiting room to enter.
  if (currentPhase(schedule)?.audience === "DRAWN") return el("span", { class: "badge warn" }, t("drawPhase"));
  // Held seats may come back, so the link stays, but is no longer the primary action.
  const link = el("a", { class: isGone ? "btn" : "btn primary", href: `#/queue/${schedule.id}` });
  every(1_000, page.signal, () => {
    // Each phase opens its own waiting room.
    const left = msUntil(currentPhase(schedule)?.startsAt ?? schedule.saleStartsAt);
    link.textContent = left === 0 ? t("enter") : left < SOON_MS ? t("enterLobbyIn", countdown(left)) : t("enterLobby");
  });
  return link;
}

/** A read-only view of the hall. */
function preview(page, schedule) {
  const map = document.createElement("seat-map");
  map.setAttribute("role", "img");
  map.setAttribute("aria-label", t("seatMap"));
  map.words = { stage: t("stage") };
  const box = el("section", { class: "card hall-preview" }, el("h2", {}, t("seatPreview")), map);
  fill(page, schedule, map).catch(() => box.remove());
  return box;
}

async function fill({ signal }, schedule, map) {
  const options = { signal, isPublic: true };
  const [layout, { seats }] = await Promise.all([
    get(`/api/schedules/${schedule.id}/layout`, { ...options, cache: "default" }),
    get(`/api/schedules/${schedule.id}/seats`, { ...options, cache: "no-cache" }),
  ]);
  const plan = readPlan(layout, gradesOf(schedule).map((it) => it.grade));
  map.show(plan, Uint8Array.from({ length: plan.n }, (_, i) => stateOf(seats[i])));
}

function rules() {
  const rule = (picture, title, words) => el("li", {}, icon(picture), el("span", {}, el("b", {}, title), el("br"), words));
  return el("section", { class: "card pad stack" },
    el("h2", {}, t("rules")),
    el("ul", { class: "rules" },
      rule("clock", t("ruleQueue"), t("ruleQueueWords")),
      rule("ticket", t("ruleHold"), t("ruleHoldWords")),
      rule("undo", t("ruleRefund"), t("ruleRefundWords"))));
}

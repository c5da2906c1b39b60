// One concert: its dates with prices and free seats, the hall, and the rules.

import "../../shared/seatmap/element.js";
import { get } from "../../shared/app/api.js";
import { every, msUntil, serverNow } from "../../shared/app/clock.js";
import { el, icon } from "../../shared/ui/dom.js";
import { count, countdown, moment, seoulDay, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { readPlan } from "../../shared/seatmap/plan.js";
import { stateOf } from "../../shared/seatmap/states.js";
import { gradesOf, toneOf } from "./grades.js";
import { currentPhase, phaseList } from "./phases.js";
import { poster } from "./poster.js";
import { feeNote } from "../payments/order.js";
import { periodsOf, refundTerms } from "../payments/refunds.js";
import { remindersOf, reminderButton } from "./reminder.js";
import { standbyBox } from "../booking/standby.js";

const SOON_MS = 24 * 3_600_000;

export async function eventDetail(page) {
  const { main, id, signal } = page;
  const event = await get(`/api/events/${id}`, { signal, isPublic: true });
  const [reminders, ...schedules] = await Promise.all([
    remindersOf(signal),
    ...event.schedules.map(({ id }) => get(`/api/schedules/${id}`, { signal, isPublic: true })),
  ]);
  main.replaceChildren(
    el("div", { class: "stack loose" },
      el("div", { class: "billing" },
        poster(event.title, "poster tall"),
        el("div", { class: "stack tight" },
          event.genre === "OTHER" ? null : el("p", { class: "quiet" }, t(`genre${event.genre}`)),
          el("h1", {}, event.title),
          el("p", { class: "big" }, event.artist),
          facts(event, schedules),
          event.description ? el("p", { class: "prose" }, event.description) : null)),
      el("h2", {}, t("dates")),
      schedules.length ? schedules.map((schedule) => scheduleCard(page, schedule, { refunds: refundTerms(event.refundRules, periodsOf(event, schedule.id)), reminders })) : el("p", { class: "quiet" }, t("noDates")),
      schedules.length ? preview(page, schedules[0]) : null,
      rules()));
}

/** The key facts: where, when, for how much. */
function facts(event, schedules) {
  const fact = (picture, words) => el("li", {}, icon(picture), el("span", {}, words));
  const prices = schedules.flatMap((it) => Object.values(it.prices));
  const [first, last] = [schedules[0], schedules.at(-1)];
  return el("ul", { class: "event-facts num" },
    fact("building", `${event.venueName} · ${event.hallName} · ${event.city}`),
    first ? fact("calendar", first === last ? moment(first.startsAt) : `${seoulDay(first.startsAt)} – ${seoulDay(last.startsAt)}`) : null,
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

function scheduleCard(page, schedule, { refunds, reminders }) {
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
        enterLink(page, schedule, { isOver, isGone: left === 0 }))),
    el("ul", { class: "grades num" }, grades.map(({ grade, price, left: free }, index) =>
      el("li", { class: toneOf(index) },
        el("span", { class: "tag" }, grade),
        el("b", {}, won(price)),
        el("span", { class: "quiet" }, free === undefined ? "" : free ? t("seatsLeft", count(free)) : t("soldOut"))))),
    nextPrices(schedule),
    feeNote(schedule),
    phaseList(page, schedule),
    left === 0 && !isOver ? standbyBox(page, schedule, grades) : null,
    el("details", { class: "more" }, el("summary", {}, t("refundRules")), refunds));
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

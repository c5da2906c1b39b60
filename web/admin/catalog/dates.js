// The dates of a concert: their times, prices and limits, for the wizard, another date, and changes.

import { call } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el, icon } from "../../shared/ui/dom.js";
import { count, instantIn, localIn, majorOf, minorDigits, minorOf, placeCurrency } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { field, tick } from "../form.js";
import { copySale } from "./phases/copy.js";

const TIMES = ["startsAt", "endsAt", "saleStartsAt", "saleEndsAt"];
const DAY_MS = 86_400_000;

/** Prices of the grades of a new hall in minor units, the most expensive first. */
const PRICES = [165_000, 132_000, 99_000, 77_000, 55_000];

/** The limits of a field for an amount in the currency of the event: people type euros, not cents. */
export function priceRange(max = placeCurrency() === "KRW" ? 100_000_000 : 10_000_000) {
  const step = 1 / 10 ** minorDigits(placeCurrency());
  return { min: step, max: majorOf(max), step };
}

/** The fields of a date; `grades` are `{ grade, seats }`. `readTerms` reads the same fields. */
export function termFields(terms, grades) {
  const number = (name, max) => field({ label: t(name), name, type: "number", min: 1, max, value: terms[name], required: true });
  return [
    el("div", { class: "two" }, TIMES.map((name) => field({ label: t(name), name, type: "datetime-local", value: toLocal(terms[name]), required: true }))),
    el("fieldset", { class: "stack" },
      el("legend", {}, t("colprices")),
      el("div", { class: "two" }, grades.map(({ grade, seats }, i) => field({
        label: seats === undefined ? grade : `${grade} · ${t("seatCount", count(seats))}`,
        name: `price ${grade}`,
        type: "number",
        ...priceRange(),
        value: majorOf(terms.prices[grade] ?? PRICES[Math.min(i, PRICES.length - 1)]),
        required: true,
      })))),
    number("seatsPerPerson", 50),
    number("seatsPerOrder", 10),
  ];
}

export function readTerms(form, grades) {
  return {
    ...Object.fromEntries(TIMES.map((name) => [name, fromLocal(form.get(name))])),
    prices: Object.fromEntries(grades.map(({ grade }) => [grade, minorOf(form.get(`price ${grade}`))])),
    seatsPerPerson: Number(form.get("seatsPerPerson")),
    seatsPerOrder: Number(form.get("seatsPerOrder")),
  };
}

/** Another date in the same hall, a day after the last one. Other dates may be on sale already. */
export function addDateButton(page, event) {
  const last = event.schedules.at(-1);
  if (!last || ["ENDED", "CANCELLED"].includes(event.status)) return null;
  const act = async () => {
    const terms = nextOf(last);
    const grades = Object.entries(last.prices).sort((a, b) => b[1] - a[1]).map(([grade]) => ({ grade }));
    // A second try after a failure goes on with the date that was made.
    let made = null;
    const done = await ask({
      title: t("addDate"),
      content: el("div", { class: "stack" }, termFields(terms, grades), tick({ label: t("takeAlong"), name: "takesAlong" })),
      yes: t("addDate"),
      act: async (form) => {
        const body = readTerms(form, grades);
        made ??= { ...body, ...(await call("POST", `/api/admin/events/${event.id}/schedules`, { body })) };
        if (form.has("takesAlong")) await copySale(last, made);
        return made;
      },
    });
    if (done) page.again();
  };
  return el("button", { class: "btn small", type: "button", onclick: act }, icon("plus"), t("addDate"));
}

function nextOf({ prices, seatsPerPerson, seatsPerOrder, ...last }) {
  const later = (time) => new Date(Date.parse(time) + DAY_MS).toISOString();
  // A sale that has begun is no example: the new date opens tomorrow at that time of day.
  const days = Math.max(0, Math.ceil((Date.now() - Date.parse(last.saleStartsAt)) / DAY_MS));
  const opens = new Date(Date.parse(last.saleStartsAt) + days * DAY_MS).toISOString();
  return { startsAt: later(last.startsAt), endsAt: later(last.endsAt), saleStartsAt: opens, saleEndsAt: later(last.saleEndsAt), prices, seatsPerPerson, seatsPerOrder };
}

export async function editTimes(page, schedule) {
  const done = await ask({
    title: t("edit"),
    content: el("div", { class: "stack" },
      Date.parse(schedule.saleStartsAt) <= Date.now() ? el("p", { class: "note warn" }, t("moveWarn")) : null,
      TIMES.map((name) => field({ label: t(name), name, type: "datetime-local", value: toLocal(schedule[name]), required: true }))),
    yes: t("saveIt"),
    act: (form) => {
      const body = Object.fromEntries(TIMES.map((name) => [name, fromLocal(form.get(name))]));
      return call("PATCH", `/api/admin/schedules/${schedule.id}`, { body });
    },
  });
  if (done) page.again();
}

/** The field shows the venue's time, whatever the device's time zone. */
export const toLocal = (time) => localIn(time);
export const fromLocal = (text) => instantIn(text);

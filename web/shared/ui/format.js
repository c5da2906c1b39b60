// Formats amounts, times and waits by locale. Amounts come as minor units of a currency, times of a show
// are those of its venue.

import { language } from "./i18n.js";

const LOCALES = { ko: "ko-KR", en: "en-GB", ja: "ja-JP", zh: "zh-CN" };
const locale = () => LOCALES[language()];

/** Short dates: `1.16`, `1/16`, `1月16日`, with the year before them. */
const SHORT = {
  ko: (year, month, day) => `${year ? `${year}.` : ""}${month}.${day}`,
  ja: (year, month, day) => `${year ? `${year}/` : ""}${month}/${day}`,
  zh: (year, month, day) => `${year ? `${year}年` : ""}${month}月${day}日`,
};

export function count(number) {
  return Number(number).toLocaleString(locale());
}

/** What an event can be sold in, as the server knows it. */
export const CURRENCIES = ["KRW", "JPY", "EUR", "USD", "GBP"];

/** `유로 (EUR)` */
export const currencyName = (code) => `${new Intl.DisplayNames(locale(), { type: "currency" }).of(code)} (${code})`;

/** What a page is about, an event or one of its dates: its amounts have this currency, its times this zone. */
let place = {};

/** A view calls this with the event, the date or the receipt that it shows; the router forgets it. */
export function usePlace({ currency, timeZone } = {}) {
  place = { currency, timeZone };
}

const viewersZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;
const zoneOr = (zone) => zone ?? place.timeZone ?? viewersZone();

/** How many decimals the minor unit of a currency has: none for won and yen. */
export const minorDigits = (currency) =>
  (currency ? new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits : 0);

export const placeCurrency = () => place.currency;

/** Minor units as the number that people type: 1250 cents are 12.5. */
export const majorOf = (amount, currency = place.currency) => amount / 10 ** minorDigits(currency);

/** The other way, of a field's text. */
export const minorOf = (text, currency = place.currency) => Math.round(Number(text) * 10 ** minorDigits(currency));

/** `150,000원` or `₩150,000`, `€45.50`. */
export function won(amount, currency = place.currency) {
  return inCurrency(amount, currency, {});
}

/** Large amounts in short, for tiles: `1.2억원`, `₩120M`. */
export function shortWon(amount, currency = place.currency) {
  return inCurrency(amount, currency, { notation: "compact", maximumFractionDigits: 1, minimumFractionDigits: 0 });
}

function inCurrency(amount, currency, options) {
  const value = Number(amount) / 10 ** minorDigits(currency);
  // Koreans write the name of their own currency behind the number.
  const isBare = !currency || (currency === "KRW" && language() === "ko");
  const style = isBare ? {} : { style: "currency", currency };
  const text = new Intl.NumberFormat(locale(), { ...style, ...options }).format(value);
  return isBare && currency ? `${text}원` : text;
}

/** The zone's name at that time, if clocks there and here differ then; empty otherwise. */
function zoneName(date, timeZone) {
  const name = (zone, timeZoneName) => new Intl.DateTimeFormat(locale(), { timeZone: zone, timeZoneName })
    .formatToParts(date).find(({ type }) => type === "timeZoneName").value;
  return name(timeZone, "longOffset") === name(viewersZone(), "longOffset") ? "" : ` ${name(timeZone, "short")}`;
}

export function moment(time, zone) {
  const timeZone = zoneOr(zone);
  const format = new Intl.DateTimeFormat(locale(), {
    timeZone,
    year: "numeric",
    month: "short",
    day: "numeric",
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  return `${format.format(new Date(time))}${zoneName(new Date(time), timeZone)}`;
}

/** `18:00` */
export function hourOf(time, zone) {
  return new Intl.DateTimeFormat(locale(), { timeZone: zoneOr(zone), hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(new Date(time));
}

/** `1.16 (토) 18:00`, with the zone's name if clocks there and here differ. */
export function showTime(time, zone) {
  return `${shortTime(time, zone)}${zoneName(new Date(time), zoneOr(zone))}`;
}

/** Without the zone's name, where there is no room for it. The year is there only if it isn't this one. */
export function shortTime(time, zone) {
  const date = new Date(time);
  const timeZone = zoneOr(zone);
  const part = (options) => new Intl.DateTimeFormat(locale(), { timeZone, ...options }).format(date);
  const number = (name) => Number(new Intl.DateTimeFormat("en-US", { timeZone, [name]: "numeric" }).format(date));
  const isThisYear = number("year") === new Date().getFullYear();
  const clock = hourOf(time, timeZone);
  const short = SHORT[language()];
  if (!short) return `${part({ weekday: "short", day: "numeric", month: "short", ...(isThisYear ? {} : { year: "numeric" }) })}, ${clock}`;
  return `${short(isThisYear ? null : number("year"), number("month"), number("day"))} (${part({ weekday: "short" })}) ${clock}`;
}

/** `3월 12일 (목)`: a day where the venue is. */
export function dayOf(time, zone) {
  return new Intl.DateTimeFormat(locale(), { timeZone: zoneOr(zone), month: "short", day: "numeric", weekday: "short" }).format(new Date(time));
}

/** `3월 12일 (목)` for `2026-03-12`, a day of the calendar without a time. */
export function calendarDay(date) {
  return new Intl.DateTimeFormat(locale(), { timeZone: "UTC", month: "short", day: "numeric", weekday: "short" }).format(new Date(`${date}T00:00Z`));
}

/** A compact form for tables: day, and time to the second. */
export function stamp(time, zone) {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zoneOr(zone), dateStyle: "short", timeStyle: "medium" });
  return format.format(new Date(time));
}

/**
 * `04:59`, or `1:04:59` from an hour on. Zero means expired; before that, our estimate of the
 * server's clock may be half a second off, and five minutes should not start as 05:01.
 */
export function countdown(ms) {
  const seconds = Math.max(0 < ms ? 1 : 0, Math.round(ms / 1000));
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${two(minutes)}:${two(seconds % 60)}`;
}

/** `20:00:00.0`, because fans compare clocks before an opening. */
export function clockTime(ms, zone) {
  const format = new Intl.DateTimeFormat("en-GB", { timeZone: zoneOr(zone), hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  return `${format.format(ms)}.${Math.floor((ms % 1000) / 100)}`;
}

/** `2026-03-29T20:00` in a zone as an instant; `text` is what a field for local times has. */
export function instantIn(text, zone) {
  const asUtc = Date.parse(`${text}:00Z`);
  const offsetAt = (ms) => Date.parse(`${localIn(ms, zone)}:00Z`) - ms;
  // Twice, because the first guess may be on the other side of a change of the clocks.
  const guess = asUtc - offsetAt(asUtc);
  return new Date(asUtc - offsetAt(guess)).toISOString();
}

/** The other way: `2026-03-29T20:00` for such a field. */
export function localIn(time, zone) {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zoneOr(zone), year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  return format.format(new Date(time)).replace(" ", "T");
}

// Formats amounts, times and waits by locale. Times are Korean time and say so.

import { language } from "./i18n.js";

const ZONE = "Asia/Seoul";
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

export function won(amount) {
  return language() === "ko" ? `${count(amount)}원` : `₩${count(amount)}`;
}

/** Large amounts in short, for tiles: `1.2억원`, `₩120M`. */
export function shortWon(amount) {
  const short = new Intl.NumberFormat(locale(), { notation: "compact", maximumFractionDigits: 1 }).format(Number(amount));
  return language() === "ko" ? `${short}원` : `₩${short}`;
}

export function moment(time) {
  const format = new Intl.DateTimeFormat(locale(), {
    timeZone: ZONE,
    year: "numeric",
    month: "short",
    day: "numeric",
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  return `${format.format(new Date(time))} KST`;
}

/** `1.16 (토) 18:00`: short, with the year only if it isn't this one. Korean time. */
export function showTime(time) {
  const date = new Date(time);
  const part = (options) => new Intl.DateTimeFormat(locale(), { timeZone: ZONE, ...options }).format(date);
  const number = (name) => Number(new Intl.DateTimeFormat("en-US", { timeZone: ZONE, [name]: "numeric" }).format(date));
  const isThisYear = number("year") === new Date().getFullYear();
  const clock = part({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const short = SHORT[language()];
  if (!short) return `${part({ weekday: "short", day: "numeric", month: "short", ...(isThisYear ? {} : { year: "numeric" }) })}, ${clock}`;
  return `${short(isThisYear ? null : number("year"), number("month"), number("day"))} (${part({ weekday: "short" })}) ${clock}`;
}

/** `3월 12일 (목)`: a day in Seoul. */
export function seoulDay(time) {
  return new Intl.DateTimeFormat(locale(), { timeZone: ZONE, month: "short", day: "numeric", weekday: "short" }).format(new Date(time));
}

/** `3월 12일 (목)` for `2026-03-12`, a day of the calendar without a time. */
export function calendarDay(date) {
  return new Intl.DateTimeFormat(locale(), { timeZone: "UTC", month: "short", day: "numeric", weekday: "short" }).format(new Date(`${date}T00:00Z`));
}

/** A compact form for tables: day, and time to the second. */
export function stamp(time) {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: ZONE, dateStyle: "short", timeStyle: "medium" });
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
export function clockTime(ms) {
  const format = new Intl.DateTimeFormat("en-GB", { timeZone: ZONE, hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  return `${format.format(ms)}.${Math.floor((ms % 1000) / 100)}`;
}

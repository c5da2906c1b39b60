// Cancellation fees and deadlines, with the dates of one show. The server counts the days, where the
// venue is.

import { el } from "../../shared/ui/dom.js";
import { calendarDay, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";

/** The periods of a date, from the earliest to the latest. */
export function periodsOf(event, scheduleId) {
  return event.refundDates.find((it) => it.scheduleId === scheduleId)?.periods ?? [];
}

export function refundTerms(rules, periods) {
  const { grace, lastMoment, steps } = rules;
  return el("div", { class: "stack tight" },
    grace ? el("p", {}, graceWords(grace)) : null,
    periods.length ? table(periods, steps.at(-1).daysBefore > 0) : el("p", { class: "quiet" }, t("refundFree")),
    lastMoment ? el("p", {}, t("refundLast", lastMoment.daysBefore, lastMoment.hour)) : null);
}

function table(periods, endsEarly) {
  return el("table", { class: "terms num" },
    el("caption", { class: "sr" }, t("refundRules")),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("refundWhen")), el("th", { scope: "col" }, t("refundKept")))),
    el("tbody", {},
      periods.map((it) => el("tr", {}, el("th", { scope: "row" }, days(it)), el("td", {}, fee(it)))),
      endsEarly ? el("tr", {}, el("th", { scope: "row" }, t("refundAfter")), el("td", {}, t("refundNone"))) : null));
}

function days({ from, until }) {
  if (!from) return t("refundUntil", calendarDay(until));
  return from === until ? calendarDay(until) : t("refundFromTo", calendarDay(from), calendarDay(until));
}

function fee({ feePercent, feeAmount }) {
  if (feeAmount) return t("refundFeeFixed", won(feeAmount), feePercent);
  return feePercent ? t("refundFee", feePercent) : t("refundNoFee");
}

function graceWords({ unit, length, daysBefore, refundsFees }) {
  const show = daysBefore ? t("refundGraceShow", daysBefore) : "";
  return [t("refundGrace", t(`refundGrace${unit}`, length), show), refundsFees ? t("refundGraceFees") : ""].join(" ").trim();
}

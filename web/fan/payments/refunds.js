// Cancellation fees and deadlines, with the dates of one show.

import { el } from "../../shared/ui/dom.js";
import { seoulDay } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";

const DAY_MS = 86_400_000;

/**
 * Periods from the earliest to the latest: `{from, to, fee}`, in days before the show. Before the
 * first step canceling is free; after the last it is not possible.
 */
export function refundPeriods({ steps }) {
  if (!steps.length) return [];
  const [first] = steps;
  const periods = steps.map(({ daysBefore, feePercent }, i) => ({
    from: daysBefore,
    to: i + 1 < steps.length ? steps[i + 1].daysBefore + 1 : daysBefore,
    fee: feePercent,
  }));
  return [{ from: null, to: first.daysBefore + 1, fee: 0 }, ...periods];
}

export function refundTerms(rules, { startsAt }) {
  const day = (daysBefore) => seoulDay(Date.parse(startsAt) - daysBefore * DAY_MS);
  const periods = refundPeriods(rules);
  if (!periods.length) return el("p", { class: "quiet" }, t("refundFree"));
  const when = ({ from, to }) => (from === null ? t("refundUntil", day(to)) : from === to ? day(to) : t("refundFromTo", day(from), day(to)));
  const cost = ({ fee }) => (fee ? t("refundFee", fee) : t("refundNoFee"));
  return el("table", { class: "terms num" },
    el("caption", { class: "sr" }, t("refundRules")),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("refundWhen")), el("th", { scope: "col" }, t("refundKept")))),
    el("tbody", {},
      periods.map((it) => el("tr", {}, el("th", { scope: "row" }, when(it)), el("td", {}, cost(it)))),
      el("tr", {}, el("th", { scope: "row" }, t("refundAfter")), el("td", {}, t("refundNone")))));
}

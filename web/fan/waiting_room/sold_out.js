// Nothing to buy: every seat is sold, or the queue is closed. Says so at once, with the
// alternatives.

import { el, icon } from "../../shared/ui/dom.js";
import { count, moment } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { gradesOf } from "../catalog/grades.js";
import { posterOfDate } from "../catalog/poster.js";
import { standbyBox } from "../booking/standby.js";

/** In the queue of a sold-out date. The place stays; the standby list is the better choice. */
export function fullPanel(page, schedule) {
  const position = el("b", {});
  const element = el("div", { class: "stack full" },
    el("p", { class: "kick" }, icon("ticket"), t("soldOut")),
    el("h2", { class: "big" }, t("fullTitle")),
    el("p", {}, t("fullWords")),
    standbyBox(page, schedule, gradesOf(schedule)),
    el("p", { class: "quiet num" }, t("fullPlace"), " ", position));
  const update = (answer) => {
    position.textContent = t("positionTitle", count(answer.position));
    return t("fullTitle");
  };
  return { element, update };
}

/** The queue is closed for new fans, or the running phase is for others. */
export function shutPage(page, schedule, { code, message }) {
  const isCanceled = code === "SCHEDULE_CANCELED";
  const isForOthers = code === "NOT_ELIGIBLE";
  const isDraw = code === "DRAW_ONLY";
  const isGone = gradesOf(schedule).every(({ left }) => left === 0);
  page.main.className = "narrow";
  page.main.replaceChildren(
    el("section", { class: "card" },
      el("div", { class: "head" },
        posterOfDate(schedule),
        el("div", {},
          el("h1", {}, schedule.eventTitle ?? t("waitingRoom")),
          el("p", { class: "quiet num" }, moment(schedule.startsAt)))),
      el("div", { class: "pad stack" },
        el("p", { class: "note warn", role: "alert" }, message),
        isCanceled ? null : isDraw ? el("p", {}, t("drawOnlyWords")) : isForOthers ? el("p", {}, t("phaseVerifyWords")) : isGone ? standbyBox(page, schedule, gradesOf(schedule)) : el("p", {}, t("shutWords")),
        el("a", { class: "btn", href: `#/events/${schedule.eventId}` }, t("toEvent")))));
}

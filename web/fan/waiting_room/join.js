// Entering a waiting room through a link.

import { get } from "../../shared/app/api.js";
import { el } from "../../shared/ui/dom.js";
import { moment } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { recall } from "../../shared/app/session.js";

/**
 * Other sites cannot make a fan enter, neither with a link nor with a window they open: a fan
 * without a place enters only through a link or a button on our pages.
 */
export async function mayEnter(page) {
  if (page.isAsked || recall("place", page.id)) return true;
  try {
    await get(`/api/queue/status?scheduleId=${page.id}`, { scheduleId: page.id, signal: page.signal });
    return true;
  } catch (error) {
    if (error.name === "AbortError" || error.status === 401) throw error;
    return false;
  }
}

export function doorPage(page, schedule) {
  page.main.className = "narrow";
  page.main.replaceChildren(
    el("div", { class: "card pad stack" },
      el("h1", {}, schedule.eventTitle ?? t("waitingRoom")),
      el("p", { class: "quiet num" }, moment(schedule.startsAt)),
      el("p", {}, t("joinQueueWords")),
      el("button", { class: "btn primary wide", type: "button", onclick: page.again }, t("joinQueue"))));
}

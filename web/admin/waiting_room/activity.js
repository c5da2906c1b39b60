// The events of the last minutes, derived from the differences between seconds.

import { el } from "../../shared/ui/dom.js";
import { clockTime, count } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { card } from "../form.js";

const LINES_MAX = 6;
const SLOW_MS = 500;

export function newsBox() {
  const list = el("ul", { class: "log num" });
  let last = null;
  const say = (view, words) => {
    const time = clockTime(Date.parse(view.now)).slice(0, 8);
    list.prepend(el("li", {}, el("time", { datetime: view.now }, time), el("span", {}, words)));
    while (LINES_MAX < list.children.length) list.lastElementChild.remove();
  };
  const take = (view) => {
    if (!last) say(view, t("newsWatching"));
    else findings(last, view).forEach((words) => say(view, words));
    last = view;
  };
  return { element: card(t("news"), null, list), take };
}

function findings(last, view) {
  const found = [];
  const { mode } = view.settings;
  if (mode !== last.settings.mode) found.push(t("newsMode", t("state", mode)));
  if (view.settings.message !== last.settings.message) found.push(t("newsNotice"));
  if (view.settings.admitPerSecond !== last.settings.admitPerSecond) found.push(t("newsRate", count(view.settings.admitPerSecond)));
  if (view.settings.maxActive !== last.settings.maxActive) found.push(t("newsCap", count(view.settings.maxActive)));
  if (view.expired > last.expired) found.push(t("newsExpired", count(view.expired - last.expired)));
  if (view.admitPercent < 100 && last.admitPercent === 100) found.push(t("newsSlower", view.admitPercent));
  if (view.admitPercent === 100 && last.admitPercent < 100) found.push(t("newsWell"));
  if (SLOW_MS <= view.p99Ms && last.p99Ms < SLOW_MS) found.push(t("newsSlow", count(view.p99Ms)));
  if (view.errorRatio > 0 && last.errorRatio === 0) found.push(t("newsErrors"));
  if (view.available === 0 && last.available > 0) found.push(t("newsSoldOut"));
  if (view.waiting === 0 && last.waiting > 0) found.push(t("newsEmpty"));
  return found;
}

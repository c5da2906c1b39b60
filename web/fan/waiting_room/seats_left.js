// Free seats by grade, shown while waiting. Held seats don't count as sold, because they may come
// back.

import { get } from "../../shared/app/api.js";
import { every } from "../../shared/app/clock.js";
import { el } from "../../shared/ui/dom.js";
import { count } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { gradesOf, toneOf } from "../catalog/grades.js";

const EVERY_MS = 5_000;

export function seatsLeft(page, schedule) {
  const list = el("ul", { class: "left num" });
  const most = new Map();
  const show = (next) => list.replaceChildren(...gradesOf(next).map(({ grade, left }, i) => {
    most.set(grade, Math.max(most.get(grade) ?? 1, left ?? 0));
    return el("li", { class: toneOf(i) },
      el("span", { class: "tag" }, grade),
      el("meter", { min: 0, max: most.get(grade), value: left ?? 0, "aria-label": grade }),
      el("span", {}, count(left ?? 0)));
  }));
  show(schedule);
  every(EVERY_MS, page.signal, () => {
    get(`/api/schedules/${page.id}`, { signal: page.signal, isPublic: true }).then(show).catch(() => null);
  });
  return { element: el("section", { class: "card pad" }, el("h2", {}, t("seatsNow")), list, el("p", { class: "quiet" }, t("seatsNowNote"))) };
}

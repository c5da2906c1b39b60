// The live monitor: the queue, the seats and the revenue of one date, at most a second old.

import { get, pushed } from "../../shared/app/api.js";
import { every, pause, serverNow } from "../../shared/app/clock.js";
import { el, icon } from "../../shared/ui/dom.js";
import { moment, usePlace } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { stayLoggedIn } from "../../shared/app/stay.js";
import { badge } from "../form.js";
import { attendanceCard } from "./attendance.js";
import { cards } from "./cards.js";
import { controls } from "./controls.js";
import { gradeTable } from "./grades.js";
import { firstRun } from "../shell/first_run.js";
import { heatMap } from "./heat.js";
import { newsBox } from "./activity.js";
import { courseFile } from "./report.js";
import { allSchedules, mostWanted, schedulePicker } from "../catalog/schedules.js";

const RETRY_MS = 2_000;

/** The charts begin with what the server kept of this time. */
const KEPT_MS = 20 * 60_000;

/** After this long without data, the connection counts as broken. */
const OLD_MS = 40_000;

export async function live(page) {
  const schedules = await allSchedules(page.signal);
  if (!schedules.length) return firstRun(page);
  const chosen = schedules.find(({ id }) => id === page.id) ?? mostWanted(schedules);
  usePlace(chosen);
  const path = `/api/admin/schedules/${chosen.id}`;
  const since = new Date(serverNow() - KEPT_MS).toISOString();
  const [first, course] = await Promise.all([get(`${path}/live`, { signal: page.signal }), get(`${path}/course?from=${since}`, { signal: page.signal })]);
  const parts = [
    cards(course.items),
    gradeTable(chosen.prices),
    controls(chosen.id, first.settings),
    newsBox(),
  ];
  const [figures, grades, admission, news] = parts;
  const age = ageOf(page);
  const state = el("span", {});
  page.main.className = "wide";
  page.main.replaceChildren(
    el("div", { class: "hd" },
      el("div", {},
        el("h1", {}, chosen.event.title),
        el("p", { class: "quiet num" }, `${moment(chosen.startsAt)} · ${chosen.event.venueName} · `, sinceOpening(page, chosen))),
      state,
      age.element,
      el("span", { class: "grow" }),
      schedulePicker(schedules, chosen.id, (id) => page.go(`#/live/${id}`)),
      el("a", { class: "btn", href: `#/live/${chosen.id}/admissions` }, icon("users"), t("admissions")),
      el("a", { class: "btn", href: `#/live/${chosen.id}/report` }, icon("chart"), t("report")),
      courseFile(page, chosen.id)),
    figures.element,
    el("div", { class: "monitor" },
      heatMap(page, chosen),
      el("div", { class: "stack slim" }, admission.element, grades.element, attendanceCard(page, chosen.id), news.element)));
  const isAhead = () => serverNow() < Date.parse(chosen.saleStartsAt);
  const take = (view) => {
    age.fresh();
    state.replaceChildren(badge(isAhead() && view.settings.mode === "AUTO" ? "UPCOMING" : view.settings.mode));
    parts.forEach((part) => part.take(view));
  };
  take(first);
  stayLoggedIn(page);
  follow(page, chosen.id, take, age).catch(page.fail);
}

async function follow(page, id, take, age) {
  const path = `/api/admin/schedules/${id}/live`;
  for (;;) {
    for await (const view of pushed(`${path}/stream`, { signal: page.signal, onOpen: age.fresh, onBeat: age.fresh })) take(view);
    age.lost();
    await pause(RETRY_MS, page.signal);
    const view = await get(path, { signal: page.signal }).catch(() => null);
    if (view) take(view);
  }
}

/** The age of the connection. While nothing changes, the figures are as new as the last heartbeat. */
function ageOf(page) {
  const element = el("span", { class: "badge num" });
  let at = performance.now();
  let isLost = false;
  const show = () => {
    const ms = performance.now() - at;
    const isOld = isLost || OLD_MS < ms;
    element.className = isOld ? "badge danger num" : "badge ok num";
    element.textContent = isLost ? t("ageLost") : t("age", (ms / 1000).toFixed(1));
  };
  every(200, page.signal, show);
  return {
    element,
    fresh() {
      [at, isLost] = [performance.now(), false];
      show();
    },
    lost: () => (isLost = true),
  };
}

function sinceOpening(page, schedule) {
  const text = el("span", {});
  every(1_000, page.signal, () => {
    const seconds = Math.floor((serverNow() - Date.parse(schedule.saleStartsAt)) / 1000);
    const length = lengthOf(Math.abs(seconds));
    text.textContent = seconds < 0 ? t("opensIn", length) : t("openFor", length);
  });
  return text;
}

/** The two largest units. */
function lengthOf(seconds) {
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60];
  if (days) return t("lengthDays", days, hours);
  return hours ? t("lengthHours", hours, minutes) : t("lengthMinutes", minutes, seconds % 60);
}

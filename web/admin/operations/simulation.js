// Simulated fans: how many, how fast, how many of them misbehave. They use the same API as people,
// and the result is a capacity figure.

import { call, get, remove } from "../../shared/app/api.js";
import { pause } from "../../shared/app/clock.js";
import { el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { count } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { card, choice, field, heading } from "../form.js";
import { heatMap } from "../waiting_room/heat.js";
import { allSchedules, mostWanted, schedulePicker } from "../catalog/schedules.js";

const PATH = "/api/admin/simulation";
const LOOK_EVERY_MS = 500;

export async function simulation(page) {
  const schedules = await allSchedules(page.signal);
  if (!schedules.length) {
    page.main.replaceChildren(heading(t("navSimulation"), t("noDatesYet")));
    return;
  }
  const running = await get(PATH, { signal: page.signal });
  const wanted = page.query.get("schedule") ?? running.scheduleId;
  const chosen = schedules.find(({ id }) => id === wanted) ?? mostWanted(schedules);
  const box = el("div", { class: "pad stack" });
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(t("navSimulation"), t("simulationWords"),
      schedulePicker(schedules, chosen.id, (id) => page.go(`#/simulation?schedule=${id}`)),
      el("a", { class: "btn", href: `#/live/${chosen.id}` }, t("monitor"))),
    el("div", { class: "monitor" },
      heatMap(page, chosen),
      el("div", { class: "stack slim" }, startCard(page, chosen), card(t("simulationRun"), null, box))));
  follow(page, box).catch(page.fail);
}

function startCard(page, schedule) {
  const problem = problemBox();
  const start = el("button", { class: "btn primary wide" }, t("simulationStart"));
  const number = (name, value, max) => field({ label: t(`sim${name}`), name, type: "number", min: 0, max, value, required: true });
  const form = el("form", { class: "pad stack" },
    el("div", { class: "two" },
      number("fans", 500, 20_000),
      number("seconds", 20, 600),
      number("botPercent", 10, 100),
      number("thinkMs", 1_500, 60_000)),
    choice({ label: t("simarrival"), name: "arrival", options: ["RUSH", "EVEN", "AT_ONCE"].map((it) => [it, t(`arrival${it.replace("_", "")}`)]) }),
    problem.element,
    start);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(start, async () => {
      problem.show("");
      const { arrival, ...numbers } = Object.fromEntries(new FormData(form));
      const body = { scheduleId: schedule.id, arrival };
      Object.entries(numbers).forEach(([name, value]) => (body[name] = Number(value)));
      try {
        await call("POST", PATH, { body });
      } catch (error) {
        problem.show(error.message);
      }
    });
  });
  return card(t("simulationSet"), null, form);
}

async function follow(page, box) {
  for (;;) {
    const state = await get(PATH, { signal: page.signal });
    box.replaceChildren(...show(state));
    await pause(LOOK_EVERY_MS, page.signal);
  }
}

function show(state) {
  if (state.status === "IDLE") return [el("p", { class: "quiet" }, t("simulationIdle"))];
  const { progress, report, fans } = state;
  const fact = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
  const parts = [
    el("progress", { max: Math.max(1, fans), value: progress.finished, "aria-label": t("simulationRun") }),
    el("dl", { class: "facts num" },
      fact(t("simdone"), `${count(progress.finished)} / ${count(fans)}`),
      fact(t("siminside"), count(progress.admitted)),
      fact(t("simbought"), count(progress.bought)),
      fact(t("simrequests"), count(progress.requests)),
      fact(t("simunexpected"), count(progress.unexpected))),
  ];
  if (state.status === "RUNNING") {
    const stop = el("button", { class: "btn stop", type: "button", onclick: () => remove(PATH) }, t("simulationStop"));
    return [...parts, stop];
  }
  return report ? [...parts, capacity(report)] : parts;
}

/** The capacity figure, and its components. */
function capacity(report) {
  return el("div", { class: report.unexpected ? "note warn num" : "note ok num" },
    el("p", {}, el("b", { class: "huge" }, count(Math.round(report.requestsPerSecond))), ` ${t("simperSecond")}`),
    el("p", {}, t("simreport", count(Math.round(report.purchasesPerSecond * 60)), count(report.selectP99Ms), count(report.queueP99Ms), report.elapsedSeconds)),
    report.unexpected ? el("p", {}, t("simtrouble", count(report.unexpected))) : null);
}

// The hall by zone: darker means more sold. Updates live.

import "../../shared/seatmap/element.js";
import { get, streamed } from "../../shared/app/api.js";
import { every, pause } from "../../shared/app/clock.js";
import { el } from "../../shared/ui/dom.js";
import { count } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { readPlan } from "../../shared/seatmap/plan.js";
import { stateOf } from "../../shared/seatmap/states.js";

const RETRY_MS = 2_000;

export function heatMap(page, schedule) {
  const map = document.createElement("seat-map");
  map.mode = "heat";
  map.insets = [16, 16, 44, 16];
  map.words = { stage: t("stage") };
  map.setAttribute("role", "img");
  map.setAttribute("aria-label", t("heatLabel"));
  const rate = el("b", { class: "num" }, "0");
  const modes = modeSwitch(map);
  draw(page, schedule, map, rate).catch(page.fail);
  return el("section", { class: "card heat" },
    el("h2", { class: "bar" }, t("heat"), el("small", {}, t("changesPerSecond"), " ", rate), modes),
    map,
    el("p", { class: "scale", "aria-hidden": "true" }, "0%", el("i", {}), `100% ${t("gone")}`));
}

function modeSwitch(map) {
  const buttons = ["heat", "seats"].map((mode) => el("button", {
    type: "button",
    "aria-pressed": String(mode === "heat"),
    onclick: () => {
      map.mode = mode;
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(["heat", "seats"][i] === mode)));
      map.redraw();
    },
  }, t(`view${mode}`)));
  return el("span", { class: "seg small", role: "group", "aria-label": t("view") }, buttons);
}

async function draw(page, schedule, map, rate) {
  const { signal } = page;
  const grades = Object.entries(schedule.prices).sort((a, b) => b[1] - a[1]).map(([grade]) => grade);
  const layout = await get(`/api/schedules/${schedule.id}/layout`, { signal, isPublic: true, cache: "default" });
  const plan = readPlan(layout, grades);
  map.show(plan, new Uint8Array(plan.n));
  let changes = 0;
  every(1_000, signal, () => {
    rate.textContent = count(changes);
    changes = 0;
  });
  for (;;) {
    for await (const { name, data } of streamed(`/api/schedules/${schedule.id}/seats/stream`, { signal, isPublic: true })) {
      if (name === "seats") [...data.seats].forEach((letter, i) => map.set(i, stateOf(letter)));
      if (name !== "changes") continue;
      changes += data.changes.length;
      for (const [i, letter] of data.changes) map.set(i, stateOf(letter));
    }
    await pause(RETRY_MS, signal);
  }
}

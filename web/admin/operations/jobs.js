// Background jobs: their last rounds, and running one now.

import { call, get } from "../../shared/app/api.js";
import { every } from "../../shared/app/clock.js";
import { el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { count, stamp } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { csvOf, save } from "../../shared/ui/table.js";
import { badge, heading } from "../form.js";

const JOBS_EVERY_MS = 2_000;

export async function jobs(page) {
  const problem = problemBox();
  const body = el("tbody", {});
  let shown = [];
  const csv = el("button", { class: "btn", type: "button", onclick: () => save(csvOf(shown.map(({ last, ...job }) => ({ ...job, ...last }))), "jobs.csv") }, icon("download"), t("csv"));
  const heads = ["job", "runs", "status", "lastRun", "done", "took", "error", "actions"];
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(t("navJobs"), t("jobsWords"), csv),
    problem.element,
    el("section", { class: "card" },
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("navJobs") },
        el("table", { class: "num" },
          el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, t(`col${head}`))))),
          body))));
  every(JOBS_EVERY_MS, page.signal, async () => {
    try {
      const { items } = await get("/api/admin/jobs", { signal: page.signal });
      shown = items;
      body.replaceChildren(...items.map((job) => jobRow(page, job)));
      problem.show("");
    } catch (error) {
      if (error.name !== "AbortError") problem.show(error.message);
    }
  });
}

function jobRow(page, { name, about, runs, last }) {
  const run = el("button", { class: "btn small", type: "button", onclick: () => whileBusy(run, () => call("POST", `/api/admin/jobs/${name}/run`, { body: {} }).catch(() => null)) }, t("runNow"));
  const state = last ? badge(last.error ? "FAILED" : "OK") : "–";
  const tookMs = last ? Date.parse(last.finishedAt) - Date.parse(last.startedAt) : null;
  return el("tr", {},
    el("th", { scope: "row" }, name, el("br"), el("small", { class: "quiet" }, t("jobAbout", name, about))),
    el("td", { class: "num" }, t("jobRuns", runs)),
    el("td", {}, state),
    el("td", { class: "num" }, last ? stamp(last.startedAt) : "–"),
    el("td", { class: "right" }, last ? count(last.done) : "–"),
    el("td", { class: "right num" }, tookMs === null ? "–" : `${count(tookMs)} ms`),
    el("td", { class: "quiet" }, last?.error ?? ""),
    el("td", {}, run));
}

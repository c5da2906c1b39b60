// Every invariant: the result of the last check, and the dates whose sale it stopped.

import { call, get } from "../../shared/app/api.js";
import { el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { count, stamp } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { badge, heading, shortId } from "../form.js";

export async function invariants(page) {
  const problem = problemBox();
  const box = el("div", { class: "stack" });
  const act = (button, path) => whileBusy(button, async () => {
    try {
      await call("POST", path, { body: {} });
      page.again();
    } catch (error) {
      problem.show(error.message);
    }
  });
  const now = el("button", { class: "btn", type: "button", onclick: () => act(now, "/api/admin/jobs/verify/run") }, t("runNow"));
  page.main.className = "wide";
  page.main.replaceChildren(heading(t("navInvariants"), t("invariantsWords"), now), problem.element, box);
  try {
    const { last, stopped } = await get("/api/admin/verify", { signal: page.signal });
    box.replaceChildren(...stopped.map((it) => stop(it, act)), last ? findings(last) : el("p", { class: "quiet" }, t("invariantsNone")));
  } catch (error) {
    if (error.name !== "AbortError") problem.show(error.message);
  }
}

function stop({ scheduleId, stoppedAt, why }, act) {
  const resume = el("button", { class: "btn", type: "button", onclick: () => act(resume, `/api/admin/schedules/${scheduleId}/resume-sale`) }, t("resumeSale"));
  return el("section", { class: "card" },
    el("h2", {}, t("saleStopped")),
    el("p", {}, shortId(scheduleId), " · ", el("span", { class: "num" }, stamp(stoppedAt)), " · ", why),
    resume);
}

function findings({ finishedAt, findings: all }) {
  const heads = ["invariant", "status", "checked", "broken", "details"];
  const row = ({ id, rule, nChecked, nBroken, examples }) => el("tr", {},
    el("th", { scope: "row" }, id, el("br"), el("small", { class: "quiet" }, t("rule", id, rule))),
    el("td", {}, badge(nBroken ? "FAILED" : "OK")),
    el("td", { class: "right" }, count(nChecked)),
    el("td", { class: "right" }, count(nBroken)),
    el("td", { class: "quiet" }, examples.join(", ")));
  return el("section", { class: "card" },
    el("p", { class: "quiet num pad" }, stamp(finishedAt)),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("navInvariants") },
      el("table", { class: "num" },
        el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, t(`col${head}`))))),
        el("tbody", {}, all.map(row)))));
}

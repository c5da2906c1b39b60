// Who has come, in the live monitor: in all, by section and by gate, and as a file.

import { get } from "../../shared/app/api.js";
import { every } from "../../shared/app/clock.js";
import { may } from "../../shared/app/session.js";
import { el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { count } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { save } from "../../shared/ui/table.js";
import { card } from "../form.js";

const EVERY_MS = 10_000;

export function attendanceCard(page, scheduleId) {
  const path = `/api/admin/schedules/${scheduleId}/attendance`;
  const total = el("p", { class: "pad num" });
  const rows = el("tbody", {});
  const problem = problemBox();
  const table = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("attendance") },
    el("table", { class: "num" },
      el("thead", {}, el("tr", {}, ["attendanceOf", "attendanceIn", "attendanceDoubles"].map((head, i) =>
        el("th", { scope: "col", class: i ? "right" : null }, t(head))))),
      rows));
  const take = (found) => {
    const share = ((100 * found.admitted) / Math.max(1, found.tickets)).toFixed(1);
    total.replaceChildren(el("b", {}, count(found.admitted)), ` / ${count(found.tickets)} (${share}%)`);
    rows.replaceChildren(
      ...found.sections.map((it) => line(it.section, `${count(it.admitted)} / ${count(it.tickets)}`, "")),
      ...found.gates.map((it) => line(t("attendanceGate", it.gate), count(it.admitted - it.undone), it.doubles ? count(it.doubles) : "")));
    table.hidden = !rows.children.length;
  };
  const ask = () => get(path, { signal: page.signal, isQuiet: true }).then(take).catch(() => null);
  // A role without it has the file only.
  if (may("VIEW_ATTENDANCE")) every(EVERY_MS, page.signal, ask);
  table.hidden = true;
  const file = el("button", { class: "btn small", type: "button" }, icon("download"), t("csv"));
  file.addEventListener("click", () => whileBusy(file, async () => {
    problem.show("");
    try {
      const text = await get(`${path}.csv`, { signal: page.signal });
      save(new Blob([text], { type: "text/csv" }), `attendance-${scheduleId}.csv`);
    } catch (error) {
      problem.show(error.message);
    }
  }));
  return card(t("attendance"), null, total, table, problem.element, el("div", { class: "pad" }, file));
}

function line(name, ...cells) {
  return el("tr", {}, el("th", { scope: "row" }, name), cells.map((cell) => el("td", { class: "right" }, cell)));
}

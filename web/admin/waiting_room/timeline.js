// One fan's events in the waiting rooms, so that support can answer "what happened to me?".

import { el } from "../../shared/ui/dom.js";
import { stamp } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { pagedTable } from "../../shared/ui/table.js";
import { badge, heading, shortId } from "../form.js";

export function timeline({ main, id, signal }) {
  const path = `/api/admin/users/${id}/queue`;
  const table = pagedTable({
    caption: t("queueTimeline"),
    path,
    signal,
    empty: t("queueTimelineNone"),
    columns: [
      { head: t("coltime"), cell: (it) => el("span", { class: "num" }, stamp(it.at)) },
      { head: t("colwhat"), cell: (it) => badge(it.kind) },
      { head: t("colposition"), isNumber: true, cell: (it) => it.position ?? "–" },
      // In the same format as on the fan's page.
      { head: t("colplaceNumber"), cell: (it) => (it.number ? el("code", {}, it.number.toString(36).toUpperCase()) : "–") },
      { head: t("colended"), cell: (it) => (it.reason ? t("state", it.reason) : "–") },
      { head: t("colschedule"), cell: (it) => el("a", { href: `#/live/${it.scheduleId}` }, shortId(it.scheduleId)) },
    ],
  });
  main.className = "wide";
  main.replaceChildren(
    heading(t("queueTimeline"), t("queueTimelineWords"), el("a", { class: "btn", href: `#/users?query=${id}` }, t("navUsers"))),
    el("section", { class: "card" }, table.element));
  return table.reload();
}

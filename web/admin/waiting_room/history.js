// All fans admitted to one date: when, until when, and how the entry ended.

import { el, icon } from "../../shared/ui/dom.js";
import { stamp } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { listButton, pagedTable } from "../../shared/ui/table.js";
import { badge, heading, shortId } from "../form.js";

export function admissions({ main, id, signal }) {
  const path = `/api/admin/schedules/${id}/queue/history`;
  const at = (time) => el("span", { class: "num" }, time ? stamp(time) : "–");
  const table = pagedTable({
    caption: t("admissions"),
    path,
    signal,
    empty: t("admissionsNone"),
    columns: [
      // In the same format as on the fan's page.
      { head: t("colplaceNumber"), cell: (it) => (it.number ? el("code", {}, it.number.toString(36).toUpperCase()) : "–") },
      { head: t("colfan"), cell: (it) => (it.userId ? el("a", { href: `#/users?query=${it.userId}` }, shortId(it.userId)) : "–") },
      { head: t("coladmittedAt"), cell: (it) => at(it.activatedAt) },
      { head: t("coluntil"), cell: (it) => at(it.expiresAt) },
      { head: t("colstatus"), cell: (it) => badge(it.state) },
      { head: t("colended"), cell: (it) => (it.endedReason ? t("state", it.endedReason) : "–") },
    ],
  });
  main.className = "wide";
  main.replaceChildren(
    heading(t("admissions"), t("admissionsWords"), listButton({ path, name: "admissions" }),
      el("a", { class: "btn", href: `#/live/${id}` }, icon("chart"), t("monitor"))),
    el("section", { class: "card" }, table.element));
  return table.reload();
}

// All fans admitted to one date: when, until when, and how the entry ended.

import { el, icon } from "../../shared/ui/dom.js";
import { stamp } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { badge } from "../form.js";
import { listPage } from "../shell/list.js";
import { pairs, person, personLink } from "../shell/people.js";

/** In the same format as on the fan's page. */
const place = (it) => (it.number ? el("code", {}, it.number.toString(36).toUpperCase()) : "–");
const at = (time) => el("span", { class: "num" }, time ? stamp(time) : "–");
const ended = (it) => (it.endedReason ? t("state", it.endedReason) : "–");

export function admissions(page) {
  return listPage(page, {
    title: t("admissions"),
    words: t("admissionsWords"),
    address: `live/${page.id}/admissions`,
    path: `/api/admin/schedules/${page.id}/queue/history`,
    name: "admissions",
    empty: t("admissionsNone"),
    row: page.row,
    more: [el("a", { class: "btn", href: `#/live/${page.id}` }, icon("chart"), t("monitor"))],
    columns: [
      { head: t("colfan"), cell: (it) => person(it.person, it.userId) },
      { head: t("colplaceNumber"), isOrder: true, cell: place },
      { head: t("coladmittedAt"), cell: (it) => at(it.activatedAt) },
      { head: t("coluntil"), cell: (it) => at(it.expiresAt) },
      { head: t("colstatus"), cell: (it) => badge(it.state) },
      { head: t("colended"), cell: ended },
    ],
    detail: {
      id: (it) => it.number,
      find: async () => null,
      title: (it) => it.person?.name ?? t("personGone"),
      draw: (it) => ({
        content: [
          badge(it.state),
          pairs([
            [t("colfan"), personLink(it.person, it.userId)],
            [t("colplaceNumber"), place(it)],
            [t("coladmittedAt"), at(it.activatedAt)],
            [t("coluntil"), at(it.expiresAt)],
            [t("colended"), ended(it)],
          ]),
          el("p", {}, el("a", { href: `#/users/${it.userId}/queue` }, t("queueTimeline"))),
        ],
      }),
    },
  });
}

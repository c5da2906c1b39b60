// What the pages of a person and of a booking share: facts, notes, the timeline.

import { call } from "../../shared/app/api.js";
import { el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { stamp, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { pagedTable } from "../../shared/ui/table.js";
import { area, badge, card, shortId } from "../form.js";
import { seatWords } from "../shell/people.js";

/** `pairs` are labels with what they stand for; those without anything are left out. */
export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined);
  return el("dl", { class: "facts pad" }, shown.map(([label, value]) => el("div", {}, el("dt", {}, label), el("dd", {}, value))));
}

export function bookingRow(it) {
  return el("li", {},
    el("span", { class: "grow" },
      el("a", { class: "num", href: `#/support/bookings/${it.id}` }, it.bookingNumber ?? shortId(it.id)),
      el("small", { class: "quiet" }, `${it.eventTitle} · ${stamp(it.startsAt, it.timeZone).slice(0, 16)} · ${seatWords(it.seats)}`),
      it.customer ? el("small", { class: "quiet" }, `${t(`channel${it.channel}`)} · ${it.customer}`) : null),
    el("span", { class: "num" }, won(it.amount, it.currency)),
    badge(it.status),
    el("small", { class: "quiet num" }, stamp(it.createdAt)));
}

/** Notes with a field for the next one; `path` takes it. */
export function notesCard(known, path) {
  const problem = problemBox();
  const list = el("ul", { class: "rows" }, known.map(noteRow));
  const submit = el("button", { class: "btn" }, t("noteAdd"));
  const form = el("form", { class: "stack tight pad" },
    area({ label: t("noteNew"), name: "text", required: true, maxlength: 2000, rows: 2, hint: t("noteHint") }),
    problem.element, el("div", { class: "row end" }, submit));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(submit, async () => {
      problem.show("");
      try {
        const note = await call("POST", path, { body: { text: String(new FormData(form).get("text")) } });
        list.prepend(noteRow(note));
        form.reset();
      } catch (error) {
        problem.show(error.message || t("troubleUnknown"));
      }
    });
  });
  return card(t("notes"), null, form, list);
}

function noteRow(it) {
  return el("li", {},
    el("span", { class: "grow" }, el("span", { class: "note-text" }, it.text),
      el("small", { class: "quiet" }, `${it.author ?? it.authorId} · ${stamp(it.createdAt)}`)),
    it.reservationId ? el("a", { href: `#/support/bookings/${it.reservationId}` }, shortId(it.reservationId)) : null);
}

/** Everything that happened, newest first. */
export function timelineCard(path, signal) {
  const table = pagedTable({
    caption: t("supportTimeline"),
    path,
    signal,
    empty: t("supportTimelineNone"),
    columns: [
      { head: t("coltime"), cell: (it) => el("span", { class: "num" }, stamp(it.at)) },
      { head: t("colwhat"), cell: (it) => t("timelineKind", it.kind) },
      { head: t("colstatus"), cell: (it) => badge(it.state) },
      { head: t("colamount"), isNumber: true, cell: (it) => (it.amount === undefined ? "–" : won(it.amount, it.currency)) },
      { head: t("coldetails"), cell: (it) => [it.channel ? t("channel", it.channel) : null, it.detail].filter(Boolean).join(" · ") || "–" },
      { head: t("colactor"), cell: (it) => it.actor ?? "–" },
      { head: t("colnumber"), cell: (it) => (it.reservationId
        ? el("a", { href: `#/support/bookings/${it.reservationId}` }, shortId(it.reservationId)) : "–") },
    ],
  });
  return { element: card(t("supportTimeline"), null, table.element), reload: table.reload };
}

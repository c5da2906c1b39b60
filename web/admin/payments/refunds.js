// Refunds of a whole date: a preview, then one reservation after the other, with progress.

import { call, get } from "../../shared/app/api.js";
import { pause } from "../../shared/app/clock.js";
import { ask } from "../../shared/ui/dialog.js";
import { el } from "../../shared/ui/dom.js";
import { count, moment, stamp, usePlace, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { pagedTable } from "../../shared/ui/table.js";
import { badge, card, heading } from "../form.js";
import { methodWords, person } from "../shell/people.js";
import { allSchedules, mostWanted, schedulePicker } from "../catalog/schedules.js";

const LOOK_EVERY_MS = 1_000;

export async function refunds(page) {
  const schedules = await allSchedules(page.signal);
  const chosen = schedules.find(({ id }) => id === page.query.get("schedule"))
    ?? schedules.find(({ status }) => status === "CANCELLED") ?? mostWanted(schedules);
  if (!chosen) {
    page.main.replaceChildren(heading(t("navRefunds"), t("noDatesYet")));
    return;
  }
  usePlace(chosen);
  const box = el("div", {});
  const lists = ["REFUND_DUE", "REFUNDED"].map((status) => refunded(page, chosen, status));
  page.main.replaceChildren(
    heading(t("navRefunds"), t("refundsWords"), schedulePicker(schedules, chosen.id, (id) => page.go(`#/refunds?schedule=${id}`))),
    card(`${chosen.event.title} · ${moment(chosen.startsAt)}`, null, el("div", { class: "pad stack" }, badge(chosen.status), box)),
    el("div", { class: "stack refunded" }, lists.map(({ element }) => element)));
  const look = () => Promise.all(lists.map(({ reload }) => reload()));
  await look();
  if (chosen.status === "CANCELLED") follow(page, chosen, box).then(look).catch(page.fail);
  else await dryRun(page, chosen, box);
}

/** Who gets their money back, or got it; each leads to the payment. */
function refunded({ signal }, { id }, status) {
  const table = pagedTable({
    caption: t("state", status),
    path: "/api/admin/payments",
    query: () => ({ scheduleId: id, status }),
    signal,
    columns: [
      { head: t("colfan"), cell: (it) => person(it.person, it.userId) },
      { head: t("colnumber"), cell: (it) => el("a", { class: "num", href: `#/payments/${it.id}` }, it.bookingNumber ?? t("showPayments")) },
      { head: t("colmethod"), cell: methodWords },
      { head: t("colrefunded"), isNumber: true, cell: (it) => won(it.refunded) },
      { head: t("coltime"), isOrder: true, cell: (it) => el("span", { class: "num" }, stamp(it.createdAt)) },
    ],
  });
  const element = card(t("state", status), null, table.element);
  element.hidden = true;
  return { element, reload: () => table.reload().then(() => (element.hidden = !table.items.length)) };
}

/** Changes nothing: counts the affected seats and the amount. */
async function dryRun(page, schedule, box) {
  const live = await get(`/api/admin/schedules/${schedule.id}/live`, { signal: page.signal });
  const start = async () => {
    const done = await ask({
      title: t("cancelDate"),
      content: el("p", {}, t("cancelDateDry", count(live.sold), won(live.revenue), count(live.held))),
      yes: t("cancelDate"),
      isDanger: true,
      act: () => call("POST", `/api/admin/schedules/${schedule.id}/cancel`, { body: {} }),
    });
    if (done) page.again();
  };
  box.replaceChildren(
    el("div", { class: "stack" },
      el("p", { class: "note warn num" }, el("b", {}, t("dryRun")), " ", t("cancelDateDry", count(live.sold), won(live.revenue), count(live.held))),
      el("p", { class: "quiet" }, t("cancelDateWords")),
      el("p", {}, el("button", { class: "btn stop", type: "button", onclick: start }, t("cancelDate"))),
      el("p", {}, el("a", { href: "#/payments?status=CAPTURED" }, t("singleRefund")))));
}

async function follow(page, schedule, box) {
  for (;;) {
    const run = await get(`/api/admin/schedules/${schedule.id}/refunds`, { signal: page.signal }).catch((error) => {
      if (error.status === 404) return null;
      throw error;
    });
    if (!run) return box.replaceChildren(el("p", { class: "quiet" }, t("noRun")));
    const done = run.refunded;
    box.replaceChildren(
      el("div", { class: "stack num" },
        el("progress", { max: Math.max(1, run.refunded + run.due), value: done, "aria-label": t("navRefunds") }),
        el("p", {}, t("runProgress", count(run.reservations), count(run.refunded), count(run.due), won(run.amount))),
        run.isDone && !run.due ? el("p", { class: "note ok" }, t("runDone")) : null));
    if (run.isDone && !run.due) return;
    await pause(LOOK_EVERY_MS, page.signal);
  }
}

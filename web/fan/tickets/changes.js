// A booking whose show has a new date or venue: keep it, or get everything back.

import { act, call } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { announce, el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { moment, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";

export function changeCard(page, change, reservation) {
  const problem = problemBox();
  const { before, after } = change;
  const keep = el("button", { class: "btn primary", type: "button" }, t("changeKeep"));
  keep.addEventListener("click", () => whileBusy(keep, async () => {
    try {
      await call("POST", `/api/booking/reservations/${change.reservationId}/accept-change`, { body: {} });
      announce(t("changeKept"));
      page.again();
    } catch (error) {
      problem.show(error.message);
    }
  }));
  const refund = el("button", { class: "btn", type: "button", onclick: () => decline(page, change, reservation) }, t("changeRefund"));
  const isNewVenue = before.venueName !== after.venueName || before.address !== after.address;
  return el("div", { class: "note warn stack tight", role: "group", "aria-label": t("changeTitle") },
    el("b", {}, icon("calendar"), " ", t("changeTitle")),
    before.startsAt === after.startsAt ? null : line(t("changeDate"), moment(before.startsAt), moment(after.startsAt)),
    isNewVenue ? line(t("changeVenue"), `${before.venueName} (${before.address})`, `${after.venueName} (${after.address})`) : null,
    el("p", {}, t("changeWords")),
    problem.element,
    el("div", { class: "row" }, keep, refund));
}

function line(label, before, after) {
  return el("p", { class: "num" }, `${label}: `, el("del", {}, before), " → ", el("b", {}, after));
}

/** The usual cancellation: the server asks for no fee while the change is open. */
async function decline(page, change, reservation) {
  const done = await ask({
    title: t("changeRefund"),
    content: el("p", { class: "num" }, t("changeRefundWords", won(reservation?.amount ?? 0, reservation?.currency))),
    yes: t("changeRefund"),
    act: () => act(`/api/booking/reservations/${change.reservationId}/cancel`, { reason: t("changeTitle") }),
  });
  if (done) page.again();
}

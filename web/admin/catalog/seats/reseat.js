// Moves seats of a booking to free ones.

import { act, get } from "../../../shared/app/api.js";
import { announce, el, problemBox, whileBusy } from "../../../shared/ui/dom.js";
import { moment, usePlace } from "../../../shared/ui/format.js";
import { t } from "../../../shared/ui/i18n.js";
import { card, field, heading, tick } from "../../form.js";
import { numbersField, openPlan } from "./seat_choice.js";

export async function reseat(page) {
  const booking = page.query.get("booking");
  const of = (path) => get(path, { signal: page.signal });
  const [schedule, layout, { status }, { reservation }] = await Promise.all([
    get(`/api/schedules/${page.id}`, { signal: page.signal, isPublic: true }),
    of(`/api/admin/schedules/${page.id}/layout`),
    of(`/api/admin/schedules/${page.id}/allocations`),
    of(`/api/admin/support/bookings/${booking}`),
  ]);
  usePlace(schedule);
  const chosen = el("p", { class: "num", role: "status" }, t("reseatNone"));
  const plan = openPlan({
    layout, prices: schedule.prices, status, label: t("reseatMap"),
    isChoosable: (letter) => letter === "A",
    onChange: () => chosen.replaceChildren(plan.seats().map(({ number }) => number).join(", ") || t("reseatNone")),
  });
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(t("reseat"), `${reservation.bookingNumber} · ${schedule.eventTitle} · ${moment(schedule.startsAt)}`,
      el("a", { class: "btn", href: `#/support/bookings/${booking}` }, t("reseatBack"))),
    el("p", { class: "quiet" }, t("reseatWords")),
    el("div", { class: "desk" },
      el("div", { class: "stack slim" }, card(t("reseat"), null, moveForm({ page, booking, layout, plan, chosen }, reservation.seats))),
      card(t("seatPlan"), null, plan.element)));
}

function moveForm(desk, numbers) {
  const problem = problemBox();
  const ids = new Map(desk.layout.sections.flatMap(({ seats }) => seats.map(({ number, id }) => [number, id])));
  const button = el("button", { class: "btn brand" }, t("reseatDo"));
  const form = el("form", { class: "pad stack", "aria-label": t("reseat") },
    el("fieldset", { class: "stack tight" }, el("legend", {}, t("reseatOld")),
      numbers.map((number) => tick({ label: number, name: "from", value: ids.get(number), checked: numbers.length === 1 }))),
    numbersField(desk.plan, problem),
    el("div", {}, el("b", {}, t("reseatNew")), desk.chosen),
    tick({ label: t("reseatWaive"), name: "waive" }),
    field({ label: t("reseatReason"), name: "reason", required: true, maxlength: 200 }),
    problem.element,
    el("div", { class: "row" }, button));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const from = [...form.querySelectorAll('[name="from"]:checked')].map(({ value }) => value);
    const to = desk.plan.seats().map(({ id }) => id);
    problem.show(from.length && from.length === to.length ? "" : t("reseatCount"));
    if (!from.length || from.length !== to.length) return;
    const body = {
      moves: from.map((id, i) => ({ from: id, to: to[i] })),
      reason: form.querySelector('[name="reason"]').value,
      waiveDifference: form.querySelector('[name="waive"]').checked,
    };
    whileBusy(button, async () => {
      try {
        await act(`/api/admin/reservations/${desk.booking}/reseat`, body);
        announce(t("reseatDone"));
        location.hash = `#/support/bookings/${desk.booking}`;
      } catch (error) {
        const seats = (error.body?.taken ?? []).map((id) => desk.plan.numberOf(id));
        problem.show([error.message, seats.join(", ")].filter(Boolean).join(" "));
      }
    });
  });
  return form;
}

// Choosing seats: the live map, the pick of one to four, and holding them.

import { act, get, Problem } from "../shared/api.js";
import { pause } from "../shared/clock.js";
import { announce, el, problemBox } from "../shared/dom.js";
import { moment, won } from "../shared/format.js";
import { t } from "../shared/i18n.js";
import { keep, recall } from "../shared/session.js";
import { entryTimer, holdNotice, leaveSale } from "./seats/entry.js";
import { drawMap } from "./seats/map.js";
import { pickPanel, SEATS_MAX } from "./seats/pick.js";
import { gradesOf, readLayout } from "./seats/plan.js";

const REFRESH_MS = 1_000;

export async function seatMap(page) {
  const { id, signal } = page;
  if (!recall("entry", id)) return location.replace(`#/queue/${id}`);
  const [schedule, layout, status] = await Promise.all([
    get(`/api/schedules/${id}`, { signal, isPublic: true }),
    get(`/api/schedules/${id}/layout`, { signal, isPublic: true, cache: "default" }),
    statusOf(page),
  ]);
  const sale = openSale(page, schedule, readLayout(layout));
  sale.take(status);
  watch(page, sale).catch(page.fail);
}

function statusOf({ id, signal }) {
  return get(`/api/schedules/${id}/seats`, { signal, isPublic: true, cache: "no-cache" });
}

async function watch(page, sale) {
  for (;;) {
    await pause(REFRESH_MS, page.signal);
    try {
      sale.take(await statusOf(page));
      sale.problem.stale("");
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      sale.problem.stale(t("mapStale"));
      await pause(Math.max(REFRESH_MS, error.retryAfterMs), page.signal);
    }
  }
}

/** Everything on the page, tied together: the map, the pick beside it, and what they do. */
function openSale(page, schedule, plan) {
  const grades = gradesOf(schedule);
  const prices = new Map(grades.map(({ grade, price }) => [grade, price]));
  const picked = new Set((recall("pick", page.id) ?? []).filter((index) => plan.seats[index]));
  const stale = problemBox();
  const problem = { ...problemBox(), stale: stale.show };
  let faces = "";

  const nameOf = (seat) => t("seatName", seat.section, seat.number);
  const describe = (seat, state) =>
    t("seatSaid", nameOf(seat), seat.grade, won(prices.get(seat.grade) ?? 0), t(`state${state}`), seat);
  const faceOf = (index) => (picked.has(index) ? "MINE" : faces[index] ?? "S");
  const map = drawMap(plan, { grades: grades.map((it) => it.grade), describe, onPick: toggle });
  const panel = pickPanel({ nameOf, prices, onDrop: toggle, onHold: hold });

  function refreshPick() {
    keep("pick", page.id, [...picked]);
    panel.show([...picked].map((index) => plan.seats[index]));
  }

  function toggle(seat) {
    problem.show("");
    const state = faceOf(seat.index);
    if (state === "MINE") picked.delete(seat.index);
    else if (state !== "A") return announce(describe(seat, state));
    else if (SEATS_MAX <= picked.size) return problem.show(t("seatsMax", SEATS_MAX));
    else picked.add(seat.index);
    map.set(seat.index, faceOf(seat.index));
    announce(describe(seat, faceOf(seat.index)));
    refreshPick();
  }

  function take(status) {
    faces = status.seats;
    const lost = [...picked].filter((index) => faces[index] !== "A");
    lost.forEach((index) => picked.delete(index));
    for (let index = 0; index < plan.seats.length; index += 1) map.set(index, faceOf(index));
    if (!lost.length) return;
    refreshPick();
    problem.show(t("seatsLost", lost.map((index) => nameOf(plan.seats[index])).join(", ")));
  }

  async function hold() {
    // In one order, so that pressing again is the same action with the same key.
    const seatIds = [...picked].sort((a, b) => a - b).map((index) => plan.seats[index].id);
    await reserve("/api/booking/seats/select", { scheduleId: page.id, seatIds });
  }

  async function reserve(path, body) {
    problem.show("");
    try {
      const reservation = await act(path, body, { scheduleId: page.id });
      picked.clear();
      keep("pick", page.id, null);
      keep("schedule", reservation.reservationId, page.id);
      page.go(`#/checkout/${reservation.reservationId}`);
    } catch (error) {
      refused(error);
    }
  }

  function refused(error) {
    if (error.code === "ENTRY_REQUIRED" || error.code === "ENTRY_EXPIRED") return leaveSale(page);
    if (error.status === 401) return page.fail(error);
    problem.show(error.message ?? t("troubleUnknown"));
    if (error.code !== "SEAT_TAKEN") return;
    const byId = new Map(plan.seats.map((seat) => [seat.id, seat]));
    const taken = (error.body.taken ?? []).map((id) => byId.get(id)).filter(Boolean);
    taken.forEach((seat) => picked.delete(seat.index));
    if (taken.length) problem.show(t("seatsLost", taken.map(nameOf).join(", ")));
    const offer = (error.body.alternatives?.[0] ?? []).map((id) => byId.get(id)).filter(Boolean);
    panel.offer(offer, () => {
      picked.clear();
      offer.forEach((seat) => picked.add(seat.index));
      panel.offer([]);
      take({ seats: faces });
      refreshPick();
    });
    refreshPick();
    take({ seats: faces });
  }

  page.main.replaceChildren(
    el("div", { class: "sale" },
      el("section", { class: "stack" },
        el("div", { class: "row apart" },
          el("div", {},
            el("h1", {}, schedule.eventTitle ?? schedule.event?.title ?? t("chooseSeats")),
            el("p", { class: "quiet num" }, moment(schedule.startsAt))),
          entryTimer(page)),
        holdNotice(page),
        legend(grades, plan.seats),
        stale.element,
        map.element,
        zoomButtons(map)),
      el("aside", { class: "card pad stack", "aria-label": t("yourSeats") }, problem.element, panel.element)));
  map.zoom.start();
  refreshPick();
  return { take, problem };
}

function legend(grades, seats) {
  const shape = (id, text) => el("li", {}, el("span", { class: `key ${id}`, "aria-hidden": "true" }), text);
  return el("ul", { class: "legend num" },
    grades.map(({ grade, price }, index) =>
      el("li", {}, el("span", { class: `tag g${Math.min(index, 3)}` }, grade), won(price))),
    shape("free", t("stateA")), shape("mine", t("stateMINE")), shape("held", t("stateH")), shape("sold", t("stateS")),
    seats.some((seat) => seat.accessible) ? shape("accessible", t("accessible")) : null,
    seats.some((seat) => seat.restrictedView) ? shape("restricted", t("restrictedView")) : null);
}

function zoomButtons({ zoom }) {
  const button = (label, text, action) =>
    el("button", { class: "btn", type: "button", "aria-label": label, onclick: action }, text);
  return el("div", { class: "row apart" },
    el("p", { class: "quiet" }, t("mapKeys")),
    el("div", { class: "row" }, button(t("zoomOut"), "−", zoom.out), button(t("zoomIn"), "+", zoom.in)));
}

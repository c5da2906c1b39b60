// Seat selection: the live map, the selection of one to four seats, and the hold.

import "../../shared/seatmap/element.js";
import { act, get } from "../../shared/app/api.js";
import { announce, el } from "../../shared/ui/dom.js";
import { moment, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { readPlan } from "../../shared/seatmap/plan.js";
import { FREE, HELD, MINE } from "../../shared/seatmap/sprites.js";
import { keep, recall, user } from "../../shared/app/session.js";
import { gradesOf } from "../catalog/grades.js";
import { entryTimer, holdNotice, leaveSale } from "./entry.js";
import { followSeats } from "./feed.js";
import { seatGrid } from "./grid.js";
import { pickPanel } from "./panel.js";
import { mapTools } from "./tools.js";

export async function seatMap(page) {
  const { id, signal } = page;
  if (!user()) return page.login();
  if (!recall("entry", id)) return location.replace(`#/queue/${id}`);
  const [schedule, layout] = await Promise.all([
    get(`/api/schedules/${id}`, { signal, isPublic: true }),
    get(`/api/schedules/${id}/layout`, { signal, isPublic: true, cache: "default" }),
  ]);
  openSale(page, schedule, layout);
}

/** Connects the map, the selection beside it, and their actions. */
function openSale(page, schedule, layout) {
  const grades = gradesOf(schedule);
  const plan = readPlan(layout, grades.map((it) => it.grade));
  const faces = new Uint8Array(plan.n);
  const picked = new Set((recall("pick", page.id) ?? []).filter((i) => i < plan.n));
  const seatsMax = schedule.seatsPerPerson ?? 4;
  const map = document.createElement("seat-map");
  map.insets = matchMedia("(max-width: 820px)").matches ? [60, 10, 62, 10] : [70, 24, 64, 24];
  map.words = { stage: t("stage") };

  const nameOf = (i) => t("seatName", plan.seats[i].number);
  const priceOf = (i) => grades[plan.grade[i]]?.price ?? 0;
  const stateOf = (i) => (picked.has(i) ? MINE : faces[i]);
  const describe = (i) => t("seatSaid", nameOf(i), plan.seats[i].grade, won(priceOf(i)), t(`state${stateOf(i)}`), plan.seats[i]);
  const sale = { page, schedule, plan, grades, map, picked, seatsMax, nameOf, priceOf, stateOf, describe, toggle, openSection };

  const panel = pickPanel(sale, { onHold: hold, onBest: best });
  const grid = seatGrid(sale);
  const tools = mapTools(sale, grid);

  function showPick() {
    keep("pick", page.id, [...picked]);
    panel.show();
  }

  function set(i) {
    map.set(i, stateOf(i));
    grid.refresh(i);
  }

  function toggle(i) {
    panel.problem.show("");
    if (picked.has(i)) picked.delete(i);
    else if (faces[i] !== FREE) return announce(describe(i));
    else if (seatsMax <= picked.size) return panel.problem.show(t("seatsMax", seatsMax));
    else picked.add(i);
    set(i);
    announce(describe(i));
    showPick();
  }

  function openSection(index) {
    if (plan.sections[index].isStanding) return standIn(index);
    map.openSection(index);
    grid.open(index);
    tools.refresh();
  }

  /** Places of a standing zone are interchangeable: takes any free one. */
  function standIn(index) {
    const { first, count } = plan.sections[index];
    const free = Array.from({ length: count }, (_, offset) => first + offset).filter((i) => stateOf(i) === FREE);
    if (!free.length) return panel.problem.show(t("zoneFull"));
    toggle(free[Math.floor(Math.random() * free.length)]);
  }

  /** Seat changes: names selected seats that another fan got. */
  function take(changes) {
    const lost = [];
    for (const [i, face] of changes) {
      faces[i] = face;
      if (face !== FREE && picked.delete(i)) lost.push(i);
      set(i);
    }
    tools.refreshSoon();
    panel.full(!picked.size && !faces.includes(FREE) && !faces.includes(HELD));
    if (lost.length) lose(lost, []);
  }

  /** The sale is over: the waiting room says so, and explains the refund. */
  function calledOff(words) {
    announce(words);
    picked.clear();
    keep("pick", page.id, null);
    leaveSale(page);
  }

  function lose(lost, alternatives) {
    lost.forEach((i) => picked.delete(i));
    lost.forEach(set);
    showPick();
    panel.lost(lost, alternatives, (seats) => {
      [...picked].forEach((i) => {
        picked.delete(i);
        set(i);
      });
      seats.forEach((i) => picked.add(i));
      seats.forEach(set);
      showPick();
    });
  }

  async function hold() {
    // Sorted, so that pressing again is the same request with the same idempotency key.
    const seatIds = [...picked].sort((a, b) => a - b).map((i) => plan.seats[i].id);
    await reserve("/api/booking/seats/select", { scheduleId: page.id, seatIds });
  }

  async function best(count) {
    const grade = map.filter === null ? undefined : grades[map.filter].grade;
    await reserve("/api/booking/seats/best", { scheduleId: page.id, count, ...(grade ? { grade } : {}) });
  }

  async function reserve(path, body) {
    panel.problem.show("");
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
    if (error.code === "SCHEDULE_CANCELED") return calledOff(error.message);
    if (error.code === "ENTRY_REQUIRED" || error.code === "ENTRY_EXPIRED") return leaveSale(page);
    if (error.status === 401) return page.fail(error);
    panel.problem.show(error.message ?? t("troubleUnknown"));
    if (error.code !== "SEAT_TAKEN") return;
    const indexes = new Map(plan.seats.map((seat, i) => [seat.id, i]));
    const known = (ids) => ids.map((id) => indexes.get(id)).filter((i) => i !== undefined);
    panel.problem.show("");
    lose(known(error.body.taken ?? []), (error.body.alternatives ?? []).map(known).filter((it) => it.length));
  }

  map.addEventListener("seat", ({ detail }) => toggle(detail));
  map.addEventListener("section", ({ detail }) => openSection(detail));
  page.main.className = "sale";
  page.main.replaceChildren(
    el("section", { class: "hall", "aria-label": t("seatMap") },
      el("div", { class: "sale-head" },
        el("div", {},
          el("h1", {}, schedule.eventTitle ?? t("chooseSeats")),
          el("p", { class: "quiet num" }, moment(schedule.startsAt))),
        entryTimer(page)),
      holdNotice(page),
      el("div", { class: "map-box" }, map, tools.elements, grid.element)),
    panel.element);
  map.show(plan, new Uint8Array(plan.n));
  picked.forEach(set);
  showPick();
  followSeats(page, plan, take, tools, calledOff).catch(page.fail);
}

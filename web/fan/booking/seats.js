// Seat selection: the live map, the selection of seats, and the hold.

import "../../shared/seatmap/element.js";
import { act, get } from "../../shared/app/api.js";
import { announce, el } from "../../shared/ui/dom.js";
import { moment, usePlace, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { readPlan } from "../../shared/seatmap/plan.js";
import { FREE, HELD, MINE, OWN, SOLD } from "../../shared/seatmap/sprites.js";
import { keep, recall, user } from "../../shared/app/session.js";
import { gradesOf } from "../catalog/grades.js";
import { currentPhase } from "../catalog/phases.js";
import { entryTimer, leaveSale } from "./entry.js";
import { followSeats } from "./feed.js";
import { seatGrid } from "./grid.js";
import { holdNotice, ownIndexes, ownReservations } from "./own.js";
import { minimap } from "./map/minimap.js";
import { pickPanel } from "./panel.js";
import { suggestionBox } from "./suggest.js";
import { mapTools } from "./tools.js";

export async function seatMap(page) {
  const { id, signal } = page;
  if (!user()) return page.login();
  if (!recall("entry", id)) return location.replace(`#/queue/${id}`);
  const [schedule, layout, reservations] = await Promise.all([
    get(`/api/schedules/${id}`, { signal, isPublic: true }),
    get(`/api/schedules/${id}/layout`, { signal, isPublic: true, cache: "default" }),
    ownReservations(page),
  ]);
  usePlace(schedule);
  openSale(page, schedule, { layout, reservations });
}

/** Connects the map, the selection beside it, and their actions. */
function openSale(page, schedule, { layout, reservations }) {
  const grades = gradesOf(schedule);
  const plan = readPlan(layout, grades.map((it) => it.grade));
  const faces = new Uint8Array(plan.n);
  const own = new Set(ownIndexes(reservations, plan));
  const phase = currentPhase(schedule);
  const seatsMax = Math.min(schedule.seatsPerPerson ?? 4, phase?.seatsPerPerson ?? Infinity);
  const perOrder = phase?.seatsPerOrder ?? schedule.seatsPerOrder ?? 4;
  const room = () => Math.min(perOrder, Math.max(0, seatsMax - own.size));
  const before = (recall("pick", page.id) ?? []).filter((i) => i < plan.n && !own.has(i));
  const picked = new Set(before.slice(0, room()));
  const map = document.createElement("seat-map");
  map.insets = matchMedia("(max-width: 820px)").matches ? [60, 10, 62, 10] : [70, 24, 64, 24];
  map.openInsets = map.insets.with(0, map.insets[0] + 56);
  map.words = { stage: t("stage") };

  const zoneOf = (i) => plan.sections[plan.section[i]];
  const nameOf = (i) => (plan.seats[i].standing ? t("zoneName", zoneOf(i).name) : t("seatName", plan.seats[i].number));
  /** Seats that another phase sells look sold. */
  const isOnSale = (i) => (!phase?.grades || phase.grades.includes(plan.seats[i].grade))
    && (!phase?.sections || phase.sections.includes(plan.sections[plan.section[i]].name));
  const priceOf = (i) => grades[plan.grade[i]]?.price ?? 0;
  const stateOf = (i) => (picked.has(i) ? MINE : own.has(i) ? OWN : faces[i]);
  const describe = (i) => t("seatSaid", nameOf(i), plan.seats[i].grade, won(priceOf(i)), t(`state${stateOf(i)}`), plan.seats[i]);
  const stoodIn = (index) => [...picked].filter((i) => plan.section[i] === index && plan.seats[i].standing).length;
  /** In sight, without opening the grid of its section. */
  const openAt = (i) => map.openSection(plan.section[i]);
  const sale = { page, schedule, plan, grades, map, picked, own, seatsMax, room, nameOf, priceOf, stateOf, describe, toggle, openSection, openAt, stand, stoodIn };

  const proposals = suggestionBox(sale, replacePick);
  const panel = pickPanel(sale, { onHold: hold, onBest: best, proposals: proposals.element });
  const grid = seatGrid(sale);
  const tools = mapTools(sale, grid);

  function showPick() {
    keep("pick", page.id, [...picked]);
    panel.show();
    tools.refresh();
  }

  function set(i) {
    map.set(i, stateOf(i));
    grid.refresh(i);
  }

  function toggle(i) {
    panel.problem.show("");
    proposals.close();
    if (picked.has(i)) picked.delete(i);
    else if (stateOf(i) !== FREE) return announce(describe(i));
    else if (room() <= picked.size) return panel.problem.show(limitWords());
    else picked.add(i);
    set(i);
    announce(describe(i));
    showPick();
  }

  const limitWords = () => (own.size ? t("seatsMaxMore", seatsMax, room()) : t("seatsMax", room()));

  function openSection(index) {
    if (plan.sections[index].isStanding) return tools.zone.open(index);
    tools.zone.close();
    map.openSection(index);
    grid.open(index);
    tools.refresh();
  }

  /** The lowest place of a standing zone in this state: the number is the order of entry. */
  function lowest(index, state) {
    const { first, count } = plan.sections[index];
    for (let i = first; i < first + count; i += 1) if (stateOf(i) === state) return i;
    return -1;
  }

  /** One place of a standing zone more or less. */
  function stand(index, by) {
    const place = lowest(index, by < 0 ? MINE : FREE);
    if (place >= 0) toggle(place);
    else if (by > 0) panel.problem.show(t("zoneFull"));
  }

  /** Standing places are interchangeable: one that another fan got is replaced by the next one. */
  function replaceStanding(lost) {
    return lost.filter((i) => {
      const next = plan.seats[i].standing ? lowest(plan.section[i], FREE) : -1;
      if (next < 0) return true;
      picked.add(next);
      set(next);
      return false;
    });
  }

  /** Seat changes: names selected seats that another fan got. */
  function take(changes) {
    const taken = [];
    for (const [i, news] of changes) {
      const face = isOnSale(i) ? news : SOLD;
      // A hold of the fan's own has ended.
      if (face === FREE && faces[i] !== FREE && own.delete(i)) panel.show();
      faces[i] = face;
      if (face !== FREE && picked.delete(i)) taken.push(i);
      set(i);
    }
    const lost = replaceStanding(taken);
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
    proposals.close();
    lost.forEach((i) => picked.delete(i));
    lost.forEach(set);
    showPick();
    panel.lost(lost, alternatives, replacePick);
  }

  /** Other seats instead of those that were selected. */
  function replacePick(seats) {
    const before = [...picked];
    picked.clear();
    seats.forEach((i) => picked.add(i));
    [...before, ...seats].forEach(set);
    showPick();
  }

  async function hold() {
    const [zone, ...others] = new Set([...picked].map(zoneOf));
    // The server gives the lowest numbers, so that fans who press at once don't race for the same.
    if (zone.isStanding && !others.length) {
      return reserve("/api/booking/seats/best", { scheduleId: page.id, count: picked.size, section: zone.name });
    }
    // Sorted, so that pressing again is the same request with the same idempotency key.
    const seatIds = [...picked].sort((a, b) => a - b).map((i) => plan.seats[i].id);
    await reserve("/api/booking/seats/select", { scheduleId: page.id, seatIds });
  }

  /** Shows the best seats on the map; the fan holds them, or chooses others. */
  async function best(count) {
    panel.problem.show("");
    try {
      await proposals.ask(count);
    } catch (error) {
      if (error.name !== "AbortError") refused(error);
    }
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
    if (error.code === "ENTRY_REQUIRED" || error.code === "ENTRY_EXPIRED") {
      keep("bounced", page.id, true);
      return leaveSale(page);
    }
    if (error.status === 401) return page.fail(error);
    if (error.code === "SEAT_LIMIT") return refreshOwn();
    panel.problem.show(error.message ?? t("troubleUnknown"));
    if (error.code !== "SEAT_TAKEN") return;
    const indexes = new Map(plan.seats.map((seat, i) => [seat.id, i]));
    const known = (ids) => ids.map((id) => indexes.get(id)).filter((i) => i !== undefined);
    panel.problem.show("");
    lose(known(error.body.taken ?? []), (error.body.alternatives ?? []).map(known).filter((it) => it.length));
  }

  /** Another tab took seats: the limit leaves fewer than this page knew. */
  async function refreshOwn() {
    own.clear();
    ownIndexes(await ownReservations(page), plan).forEach((i) => own.add(i));
    own.forEach((i) => picked.delete(i));
    for (const i of [...picked].slice(room())) picked.delete(i);
    for (let i = 0; i < plan.n; i += 1) set(i);
    showPick();
    panel.problem.show(limitWords());
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
      holdNotice(page, reservations),
      el("div", { class: "map-box" }, map, tools.elements, minimap(sale), grid.element)),
    panel.element);
  map.show(plan, new Uint8Array(plan.n));
  [...picked, ...own].forEach(set);
  showPick();
  if (recall("bounced", page.id)) panel.problem.show(t("entryAgain"));
  keep("bounced", page.id, null);
  followSeats(page, plan, take, tools, calledOff).catch(page.fail);
}

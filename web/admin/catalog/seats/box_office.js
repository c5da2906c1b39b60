// The box office of a date: sells or gives away seats, and prints their tickets.

import { act, answered, get } from "../../../shared/app/api.js";
import { announce, el, problemBox, whileBusy } from "../../../shared/ui/dom.js";
import { count, moment, won } from "../../../shared/ui/format.js";
import { t } from "../../../shared/ui/i18n.js";
import { csvButton, save } from "../../../shared/ui/table.js";
import { may } from "../../../shared/app/session.js";
import { badge, card, choice, field, heading } from "../../form.js";
import { scheduleOf } from "../phases/phases.js";
import { numbersField, openPlan } from "./seat_choice.js";

const TENDERS = ["CASH", "TERMINAL", "TRANSFER"];

/** Most seats of one order. */
const SEATS_MAX = 10;

export async function boxOffice(page) {
  const path = `/api/admin/schedules/${page.id}`;
  const of = (what) => get(`${path}/${what}`, { signal: page.signal });
  const [schedule, layout, { status }, options] = await Promise.all([
    scheduleOf(page), of("layout"), of("allocations"), of("price-options"),
  ]);
  const lines = el("div", { class: "stack tight" });
  const total = el("p", { class: "num", role: "status" }, t("deskNone"));
  const desk = { page, path, schedule, options, lines, total, orders: el("div", { class: "stack" }) };
  desk.plan = openPlan({
    layout, prices: schedule.prices, status, label: t("deskMap"),
    isChoosable: (letter) => "AK".includes(letter),
    onChange: () => showLines(desk),
  });
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(t("boxOffice"), `${schedule.eventTitle} · ${moment(schedule.startsAt)}`,
      el("a", { class: "btn", href: `#/events/${schedule.eventId}` }, t("phasesBack"))),
    el("div", { class: "desk" },
      el("div", { class: "stack slim" }, card(t("deskOrder"), null, orderForm(desk))),
      card(t("seatPlan"), null, desk.plan.element)),
    desk.orders);
  await showOrders(desk);
}

/** What the desk issued, and the sums to compare with the till. */
async function showOrders(desk) {
  if (!may("VIEW_ORDERS")) return;
  const { items } = await get(`${desk.path}/issued-orders`, { signal: desk.page.signal });
  const path = `${desk.path}/issued-orders`;
  desk.orders.replaceChildren(
    await cashUp(desk),
    card(t("deskOrders"), count(items.length),
      items.length ? el("div", { class: "pad row" }, csvButton({ path, name: "issued-orders" })) : null, orderTable(items)));
}

async function cashUp(desk) {
  const table = el("div", {});
  const period = choice({
    label: t("deskCashPeriod"), name: "period", options: [["today", t("deskCashEvening")], ["all", t("deskCashWhole")]],
  });
  const select = period.querySelector("select");
  const show = async () => {
    const from = select.value === "today" ? `?${new URLSearchParams({ from: midnight().toISOString() })}` : "";
    const { items } = await get(`${desk.path}/cash-up${from}`, { signal: desk.page.signal });
    table.replaceChildren(cashTable(items));
  };
  select.addEventListener("change", show);
  await show();
  return card(t("deskCash"), null, el("div", { class: "pad stack tight" }, period, el("p", { class: "quiet" }, t("deskCashWords"))), table);
}

function midnight() {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  return day;
}

function cashTable(items) {
  const sum = (key) => items.reduce((sum, it) => sum + it[key], 0);
  const row = (name, it) => el("tr", {},
    el("th", { scope: "row" }, name),
    [count(it.orders), won(it.taken), won(it.refunded), won(it.taken - it.refunded)].map((text) => el("td", { class: "right num" }, text)));
  const heads = ["deskTender", "deskCashOrders", "deskCashTaken", "deskCashGiven", "deskCashLeft"];
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("deskCash") }, el("table", {},
    el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { scope: "col", ...(i ? { class: "right" } : {}) }, t(head))))),
    el("tbody", {},
      items.map((it) => row(t(`tender${it.tender}`), it)),
      row(t("deskCashSum"), { orders: sum("orders"), taken: sum("taken"), refunded: sum("refunded") }))));
}

/** A line for each chosen seat, which keeps its type when another seat is added. */
function showLines(desk) {
  const known = new Map([...desk.lines.children].map((line) => [line.dataset.id, line]));
  const seats = desk.plan.seats();
  desk.lines.replaceChildren(...seats.map((seat) => known.get(seat.id) ?? seatLine(desk, seat)));
  const sum = seats.reduce((sum, { grade }) => sum + desk.schedule.prices[grade], 0);
  desk.total.replaceChildren(seats.length ? t("deskTotal", count(seats.length), won(sum)) : t("deskNone"));
}

function seatLine(desk, { id, number, grade }) {
  const types = desk.options.ticketTypes.filter((it) => !it.grades || it.grades.includes(grade));
  const label = `${number} · ${grade} ${won(desk.schedule.prices[grade])}`;
  const options = [["", t("deskFull")], ...types.map((it) => [String(it.id), it.name])];
  return el("div", { "data-id": id }, choice({ label, name: "type", options }));
}

function orderForm(desk) {
  const problem = problemBox();
  const made = el("div", { class: "stack tight", role: "status" });
  const sell = el("button", { class: "btn brand" }, t("deskSell"));
  const give = may("ISSUE_COMPLIMENTARY") ? el("button", { class: "btn", type: "button" }, t("deskGive")) : null;
  const form = el("form", { class: "pad stack", "aria-label": t("deskOrder") },
    numbersField(desk.plan, problem),
    desk.lines,
    desk.total,
    choice({ label: t("deskTender"), name: "tender", options: TENDERS.map((it) => [it, t(`tender${it}`)]) }),
    field({ label: t("deskName"), name: "name", required: true, maxlength: 100, autocomplete: "off" }),
    field({ label: t("deskPhone"), name: "phone", type: "tel", autocomplete: "off" }),
    field({ label: t("allocNote"), name: "note", maxlength: 200 }),
    problem.element,
    el("div", { class: "row" }, sell, give),
    made);
  const send = (button, what, read) => whileBusy(button, async () => {
    problem.show(desk.plan.seats().length > SEATS_MAX ? t("deskMost", SEATS_MAX) : "");
    if (desk.plan.seats().length > SEATS_MAX || !form.reportValidity()) return;
    try {
      const order = await act(`${desk.path}/${what}`, read());
      announce(t("deskDone", order.bookingNumber));
      made.replaceChildren(el("p", { class: "note ok" }, t("deskDone", order.bookingNumber)), printButton(order.reservationId));
      form.reset();
      await renew(desk);
      await showOrders(desk);
    } catch (error) {
      const seats = (error.body?.taken ?? []).map((id) => desk.plan.numberOf(id));
      problem.show([error.message, seats.join(", ")].filter(Boolean).join(" "));
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(sell, "box-office", () => ({ ...person(form), tender: form.querySelector('[name="tender"]').value, seats: seatsOf(desk) }));
  });
  give?.addEventListener("click", () => send(give, "complimentary", () => ({ ...person(form), seatIds: desk.plan.ids() })));
  return form;
}

/** The sold seats can't be chosen any more. */
async function renew(desk) {
  const { status } = await get(`${desk.path}/allocations`, { signal: desk.page.signal });
  desk.plan.renew(status);
  showLines(desk);
}

function person(form) {
  const value = (name) => form.querySelector(`[name="${name}"]`).value.trim();
  return Object.fromEntries(["name", "phone", "note"].map((name) => [name, value(name)]).filter(([, text]) => text));
}

function seatsOf(desk) {
  return [...desk.lines.children].map((line) => {
    const type = line.querySelector("select").value;
    return { seatId: line.dataset.id, ...(type ? { ticketTypeId: Number(type) } : {}) };
  });
}

function printButton(reservation) {
  const button = el("button", { class: "btn small", type: "button" }, t("deskPrint"));
  button.addEventListener("click", () => whileBusy(button, async () => {
    const response = await answered("GET", `/api/admin/reservations/${reservation}/tickets.pdf`).catch(() => null);
    if (response?.ok) save(await response.blob(), `${reservation}.pdf`);
    else announce(t("deskPrintFailed"));
  }));
  return button;
}

function orderTable(items) {
  if (!items.length) return el("p", { class: "quiet pad" }, t("deskOrdersNone"));
  const heads = ["deskBooking", "deskName", "deskTender", "deskSeats", "deskAmount", "deskPrint"];
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("deskOrders") }, el("table", {},
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, t(head))))),
    el("tbody", {}, items.map((it) => el("tr", {},
      el("th", { scope: "row" }, el("code", {}, it.bookingNumber), el("div", {}, badge(it.status))),
      el("td", {}, it.name, it.note ? el("div", { class: "quiet" }, it.note) : null),
      el("td", {}, it.tender ? t(`tender${it.tender}`) : t("deskGive")),
      el("td", { class: "num" }, count(it.seats)),
      el("td", { class: "num" }, won(it.amount)),
      el("td", {}, it.status === "CONFIRMED" && may("SELL_AT_BOX_OFFICE") ? printButton(it.reservationId) : null))))));
}

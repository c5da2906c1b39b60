// Prices, ticket types, fees and promotion codes of a date.

import { call, get } from "../../shared/app/api.js";
import { announce, el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { count, majorOf, minorOf, moment, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { card, choice, field, heading, tick } from "../form.js";
import { fromLocal, priceRange } from "./dates.js";
import { scheduleOf } from "./phases/phases.js";

const DISCOUNTS = ["percent", "won", "price"];
const RULES = ["ALWAYS", "BOOKING_DAY", "NEVER"];

export async function pricing(page) {
  const path = `/api/admin/schedules/${page.id}`;
  const [schedule, history, options, { items }] = await Promise.all([
    scheduleOf(page),
    get(`${path}/prices`, { signal: page.signal }),
    get(`${path}/price-options`, { signal: page.signal }),
    get(`${path}/promotions`, { signal: page.signal }),
  ]);
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(t("pricing"), `${schedule.eventTitle} · ${moment(schedule.startsAt)}`,
      el("a", { class: "btn", href: `#/events/${schedule.eventId}` }, t("phasesBack"))),
    card(t("prices"), null, priceTable(page, path, history), priceForm(page, path, schedule)),
    card(t("pricingOptions"), null, optionsForm(page, { path, schedule, options })),
    card(t("promotions"), count(items.length), promotionTable(page, path, items), promotionForm(page, { path, schedule })));
}

/** Saves a form, and names the wrong fields below it. */
function onSubmit(form, { button, problem, save, done }) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(button, async () => {
      problem.show("");
      try {
        await save();
        announce(t("saved"));
        done();
      } catch (error) {
        problem.show([error.message, ...(error.body?.errors ?? []).map((it) => it.field)].join(" "));
      }
    });
  });
}

/** The prices at first, and what changed them or will. A planned change can be withdrawn. */
function priceTable(page, path, { prices, changes }) {
  const grades = Object.keys(prices);
  const row = (from, list, action) => el("tr", {},
    el("th", { scope: "row", class: "num" }, from ? moment(from) : t("pricesFirst")),
    grades.map((grade) => el("td", { class: "num" }, won(list[grade]))),
    el("td", {}, action));
  const withdraw = (from) => {
    if (Date.parse(from) <= Date.now()) return null;
    const button = el("button", { class: "btn small", type: "button" }, t("pricesWithdraw"));
    const query = new URLSearchParams({ from });
    button.addEventListener("click", () => whileBusy(button, async () => {
      await call("DELETE", `${path}/prices?${query}`).then(page.again, page.fail);
    }));
    return button;
  };
  return el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {},
      el("th", { scope: "col" }, t("pricesFrom")),
      grades.map((grade) => el("th", { scope: "col" }, grade)),
      el("th", { scope: "col" }, t("promoActions")))),
    el("tbody", {}, row(null, prices, null), changes.map((it) => row(it.from, it.prices, withdraw(it.from))))));
}

function priceForm(page, path, schedule) {
  const problem = problemBox();
  const button = el("button", { class: "btn brand" }, t("pricesChange"));
  const grades = Object.entries(schedule.prices);
  const form = el("form", { class: "pad stack", "aria-label": t("pricesChange") },
    el("p", { class: "quiet" }, t("pricesWords")),
    el("div", { class: "row" },
      field({ label: t("pricesFrom"), name: "from", type: "datetime-local", hint: t("pricesFromHint") }),
      grades.map(([grade, price]) => field({
        label: t("pricesOf", grade), name: `price ${grade}`, type: "number", ...priceRange(), value: majorOf(price), required: true,
      }))),
    problem.element,
    el("div", { class: "row" }, button));
  const save = () => {
    const given = new FormData(form);
    const prices = Object.fromEntries(grades.map(([grade]) => [grade, minorOf(given.get(`price ${grade}`))]));
    return call("POST", `${path}/prices`, { body: filled({ from: given.get("from") ? fromLocal(given.get("from")) : null, prices }) });
  };
  onSubmit(form, { button, problem, save, done: page.again });
  return form;
}

export function optionsForm(page, { path, schedule, options }) {
  const problem = problemBox();
  const list = el("div", { class: "stack" });
  const add = (it) => list.append(typeFields(schedule, it));
  options.ticketTypes.forEach(add);
  const button = el("button", { class: "btn brand" }, t("saveIt"));
  const fees = { booking: feeFields("booking", options.fees.booking), order: feeFields("order", options.fees.order) };
  const form = el("form", { class: "pad stack" },
    el("p", { class: "quiet" }, t("pricingWords")),
    list,
    el("div", { class: "row" },
      el("button", { class: "btn", type: "button", onclick: () => add({ name: "", nameEn: "", percent: 10 }) }, icon("plus"), t("typeAdd"))),
    fees.booking,
    fees.order,
    problem.element,
    el("div", { class: "row" }, button));
  const save = () => {
    const read = ([name, box]) => [name, readFee(box)];
    const body = {
      ticketTypes: [...list.children].map(readType),
      fees: Object.fromEntries(Object.entries(fees).map(read).filter(([, fee]) => fee)),
    };
    return call("PUT", `${path}/price-options`, { body });
  };
  onSubmit(form, { button, problem, save, done: page.again });
  return form;
}

function typeFields(schedule, it) {
  const kind = DISCOUNTS.find((name) => it[name] !== undefined) ?? "percent";
  const box = el("fieldset", { class: "stack tight", "data-id": it.id },
    el("legend", {}, it.name || t("typeNew")),
    el("div", { class: "row" },
      field({ label: t("phasename"), name: "name", value: it.name, required: true, maxlength: 60 }),
      field({ label: t("phasenameEn"), name: "nameEn", value: it.nameEn, required: true, maxlength: 60 }),
      choice({ label: t("discount"), name: "kind", value: kind, options: DISCOUNTS.map((name) => [name, t(`discount_${name}`)]) }),
      field({ label: t("discountValue"), name: "value", type: "number", min: 0, step: "any", value: it[kind] === undefined ? undefined : kind === "percent" ? it[kind] : majorOf(it[kind]), required: true }),
      field({ label: t("perOrder"), name: "perOrder", type: "number", min: 1, max: 10, value: it.perOrder })),
    el("div", { class: "row" },
      field({ label: t("proof"), name: "proof", value: it.proof, maxlength: 80, hint: t("proofHint") }),
      field({ label: t("proofEn"), name: "proofEn", value: it.proofEn, maxlength: 80 })),
    el("div", { class: "row" },
      gradeTicks(schedule, it.grades),
      el("span", { class: "grow" }),
      el("button", { class: "btn small", type: "button", onclick: () => box.remove() }, t("delete"))));
  return box;
}

function gradeTicks(schedule, grades) {
  return [el("span", {}, t("typeGrades")), ...Object.keys(schedule.prices).map((grade) =>
    tick({ label: grade, name: "grade", value: grade, checked: !grades || grades.includes(grade) }))];
}

/** Only the fields that were filled in. */
function filled(entries) {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== "" && value !== null && value !== undefined));
}

function readGrades(box) {
  const ticks = [...box.querySelectorAll('[name="grade"]')];
  const chosen = ticks.filter((it) => it.checked).map((it) => it.value);
  return chosen.length === ticks.length ? null : chosen;
}

function readType(box) {
  const value = (name) => box.querySelector(`[name="${name}"]`).value.trim();
  return filled({
    id: box.dataset.id ? Number(box.dataset.id) : null,
    name: value("name"),
    nameEn: value("nameEn"),
    [value("kind")]: value("kind") === "percent" ? Number(value("value")) : minorOf(value("value")),
    perOrder: value("perOrder") ? Number(value("perOrder")) : null,
    proof: value("proof"),
    proofEn: value("proofEn"),
    grades: readGrades(box),
  });
}

function feeFields(name, fee) {
  return el("fieldset", { class: "stack tight" },
    el("legend", {}, t(`fee_${name}`)),
    el("div", { class: "row" },
      field({ label: t("feeAmount"), name: "amount", type: "number", ...priceRange(), value: fee ? majorOf(fee.amount) : undefined, hint: t("feeHint") }),
      choice({ label: t("feeRefund"), name: "refund", value: fee?.refund ?? "BOOKING_DAY", options: RULES.map((rule) => [rule, t(`feeRefund${rule}`)]) })));
}

function readFee(box) {
  const amount = box.querySelector('[name="amount"]').value;
  return amount ? { amount: minorOf(amount), refund: box.querySelector('[name="refund"]').value } : null;
}

export function promotionTable(page, path, items) {
  if (!items.length) return el("p", { class: "quiet pad" }, t("promotionsNone"));
  const heads = ["code", "discount", "promoWindow", "promoUses", "actions"];
  return el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, t(head === "actions" ? "promoActions" : head === "code" ? "promoCode" : head))))),
    el("tbody", {}, items.map((it) => promotionRow(page, path, it)))));
}

function promotionRow(page, path, it) {
  const discount = it.percent ? `${it.percent}%` : won(it.won);
  const window = [it.startsAt ? moment(it.startsAt) : "", it.endsAt ? moment(it.endsAt) : ""].join(" – ");
  const button = el("button", { class: "btn small", type: "button", disabled: 0 < it.used }, t("delete"));
  button.addEventListener("click", () => whileBusy(button, async () => {
    await call("DELETE", `${path}/promotions/${it.id}`).then(page.again, page.fail);
  }));
  return el("tr", {},
    el("th", { scope: "row" }, el("code", {}, it.code)),
    el("td", { class: "num" }, `${discount} · ${t(`per${it.per}`)}`, it.grades ? el("div", { class: "quiet" }, it.grades.join(", ")) : null),
    el("td", { class: "num" }, it.startsAt || it.endsAt ? window : "–"),
    el("td", { class: "num" }, t("promoUsed", count(it.used), count(it.usesMax))),
    el("td", {}, button));
}

export function promotionForm(page, { path, schedule }) {
  const problem = problemBox();
  const button = el("button", { class: "btn brand" }, t("promoAdd"));
  const form = el("form", { class: "pad stack", "aria-label": t("promoAdd") },
    el("div", { class: "row" },
      field({ label: t("promoCode"), name: "code", required: true, maxlength: 40 }),
      choice({ label: t("discount"), name: "kind", value: "percent", options: ["percent", "won"].map((name) => [name, t(`discount_${name}`)]) }),
      field({ label: t("discountValue"), name: "value", type: "number", min: 0, step: "any", value: 10, required: true }),
      choice({ label: t("promoPer"), name: "per", value: "ORDER", options: ["ORDER", "TICKET"].map((per) => [per, t(`per${per}`)]) }),
      field({ label: t("promoUsesMax"), name: "usesMax", type: "number", min: 1, max: 1_000_000, value: 100, required: true }),
      field({ label: t("promoUsesPerson"), name: "usesPerPerson", type: "number", min: 1 })),
    el("div", { class: "row" },
      field({ label: t("promoMin"), name: "amountMin", type: "number", ...priceRange(), min: 0 }),
      field({ label: t("promoFrom"), name: "startsAt", type: "datetime-local" }),
      field({ label: t("promoTo"), name: "endsAt", type: "datetime-local" }),
      gradeTicks(schedule, null)),
    problem.element,
    el("div", { class: "row" }, button));
  const save = () => {
    const value = (name) => form.querySelector(`[name="${name}"]`).value.trim();
    const number = (name) => (value(name) ? Number(value(name)) : null);
    const time = (name) => (value(name) ? fromLocal(value(name)) : null);
    const body = filled({
      code: value("code"), [value("kind")]: value("kind") === "percent" ? number("value") : minorOf(value("value")), per: value("per"), usesMax: number("usesMax"),
      usesPerPerson: number("usesPerPerson"), amountMin: value("amountMin") ? minorOf(value("amountMin")) : null,
      startsAt: time("startsAt"), endsAt: time("endsAt"), grades: readGrades(form),
    });
    return call("POST", `${path}/promotions`, { body });
  };
  onSubmit(form, { button, problem, save, done: page.again });
  return form;
}

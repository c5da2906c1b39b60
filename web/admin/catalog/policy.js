// The refund policy: fees by days before the show, free cancellation after the booking, and a last
// moment.

import { call, get } from "../../shared/app/api.js";
import { announce, el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { majorOf, minorOf } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { periodsOf, refundTerms } from "../../fan/payments/refunds.js";
import { card, choice, field, tick } from "../form.js";
import { priceRange } from "./dates.js";

const step = (daysBefore, feePercent, feeAmount) => ({ daysBefore, feePercent, ...(feeAmount ? { feeAmount } : {}) });

/** The steps of the Korean standard for consumer disputes about performances. */
const STANDARD = [step(9, 10), step(6, 20), step(2, 30), step(0, 90)];

const PRESETS = {
  STANDARD: { steps: STANDARD, grace: { unit: "HOURS", length: 24, daysBefore: 3, refundsFees: true } },
  LARGE: {
    steps: [step(730, 10, 4000), ...STANDARD],
    grace: { unit: "DAYS", length: 7, daysBefore: 10, refundsFees: false },
  },
  NONE: { steps: [] },
};

export async function policyCard(page) {
  const path = `/api/admin/events/${page.id}/refund-policy`;
  const problem = problemBox();
  const fields = el("div", { class: "stack" });
  const fill = (policy) => fields.replaceChildren(...policyFields(policy));
  fill(await get(path, { signal: page.signal }));
  const preview = el("div", { class: "stack tight" });
  await showDates(page, preview);
  const preset = choice({
    label: t("policyPreset"), name: "preset", value: "OWN",
    options: ["OWN", ...Object.keys(PRESETS)].map((key) => [key, t(`policyPreset${key}`)]),
  });
  preset.addEventListener("change", ({ target }) => PRESETS[target.value] && fill(PRESETS[target.value]));
  const save = el("button", { class: "btn brand" }, t("saveIt"));
  const form = el("form", { class: "pad stack", "aria-label": t("policy") },
    el("p", { class: "quiet" }, t("policyWords")), preset, fields, problem.element, el("div", { class: "row" }, save), preview);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(save, async () => {
      problem.show("");
      try {
        await call("PUT", path, { body: read(form) });
        await showDates(page, preview);
        announce(t("saved"));
      } catch (error) {
        problem.show(error.message);
      }
    });
  });
  return card(t("policy"), null, form);
}

/** What fans see for the first date. */
async function showDates(page, preview) {
  const event = await get(`/api/admin/events/${page.id}`, { signal: page.signal });
  const [first] = event.schedules;
  preview.replaceChildren(...(first
    ? [el("h3", {}, t("policyDates")), refundTerms(event.refundRules, periodsOf(event, first.id))]
    : []));
}

function policyFields({ steps, grace, lastMoment }) {
  const list = el("div", { class: "stack tight", "data-steps": "" }, steps.map(stepRow));
  const warning = el("p", { class: "note warn" }, t("policyVoid"));
  const add = () => list.append(stepRow(step(0, 0)));
  const parts = [
    list,
    el("div", { class: "row" }, el("button", { class: "btn small", type: "button", onclick: add }, t("policyAdd"))),
    optional("grace", t("policyGrace"), grace, graceFields(grace ?? PRESETS.STANDARD.grace)),
    optional("lastMoment", t("policyLast"), lastMoment, lastFields(lastMoment ?? { daysBefore: 1, hour: 17 })),
    warning,
  ];
  const warn = () => {
    const days = [...list.querySelectorAll("[name=days]")].map((it) => Number(it.value));
    const isLimited = parts[3].querySelector("[name=lastMoment]").checked;
    warning.hidden = !isLimited && (!days.length || days.includes(0));
  };
  parts.slice(0, 4).forEach((part) => part.addEventListener("input", warn));
  new MutationObserver(warn).observe(list, { childList: true });
  warn();
  return parts;
}

/** Fields that count while their box is ticked. */
function optional(name, label, value, fields) {
  const box = tick({ label, name, checked: Boolean(value) });
  const group = el("fieldset", { class: "row", disabled: !value, hidden: !value }, el("legend", { class: "sr" }, label), fields);
  box.addEventListener("change", ({ target }) => {
    group.disabled = !target.checked;
    group.hidden = !target.checked;
  });
  return el("div", { class: "stack tight" }, box, group);
}

const number = (label, name, value, max) => field({ label, name, type: "number", min: 0, max, value, required: true, class: "num" });

function graceFields({ unit, length, daysBefore, refundsFees }) {
  return [
    number(t("policyGraceLength"), "graceLength", length, 720),
    choice({ label: t("policyGraceUnit"), name: "graceUnit", value: unit, options: ["HOURS", "DAYS"].map((it) => [it, t(`policyUnit${it}`)]) }),
    number(t("policyGraceDays"), "graceDays", daysBefore, 730),
    tick({ label: t("policyGraceFees"), name: "graceFees", checked: refundsFees }),
  ];
}

function lastFields({ daysBefore, hour }) {
  return [number(t("policyLastDays"), "lastDays", daysBefore, 730), number(t("policyHour"), "lastHour", hour, 23)];
}

function stepRow({ daysBefore, feePercent, feeAmount }) {
  const row = el("div", { class: "row bottom" },
    number(t("policyDays"), "days", daysBefore, 730),
    number(t("policyFee"), "percent", feePercent, 90),
    field({ label: t("policyAmount"), name: "amount", type: "number", ...priceRange(), value: feeAmount ? majorOf(feeAmount) : "", class: "num" }),
    el("button", { class: "btn small", type: "button", onclick: () => row.remove() }, t("delete")));
  return row;
}

function read(form) {
  const value = (scope, name) => Number(scope.querySelector(`[name=${name}]`).value);
  const steps = [...form.querySelector("[data-steps]").children]
    .map((row) => step(value(row, "days"), value(row, "percent"), minorOf(value(row, "amount"))))
    .sort((a, b) => b.daysBefore - a.daysBefore);
  const { elements } = form;
  const grace = elements.grace.checked
    ? { unit: elements.graceUnit.value, length: value(form, "graceLength"), daysBefore: value(form, "graceDays"), refundsFees: elements.graceFees.checked }
    : undefined;
  const lastMoment = elements.lastMoment.checked ? { daysBefore: value(form, "lastDays"), hour: value(form, "lastHour") } : undefined;
  return { steps, grace, lastMoment };
}

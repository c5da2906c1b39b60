// The refund policy: fees by days before the show.

import { call, get } from "../../shared/app/api.js";
import { announce, el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { card } from "../form.js";

export async function policyCard(page) {
  const path = `/api/admin/events/${page.id}/refund-policy`;
  const { steps } = await get(path, { signal: page.signal });
  const problem = problemBox();
  const list = el("div", { class: "stack tight" });
  const add = (step) => list.append(stepRow(step));
  steps.forEach(add);
  const save = el("button", { class: "btn brand" }, t("saveIt"));
  const form = el("form", { class: "pad stack" },
    el("p", { class: "quiet" }, t("policyWords")),
    list,
    problem.element,
    el("div", { class: "row" },
      el("button", { class: "btn", type: "button", onclick: () => add({ daysBefore: 0, feePercent: 0 }) }, t("policyAdd")),
      save));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(save, async () => {
      problem.show("");
      try {
        await call("PUT", path, { body: { steps: read(list) } });
        announce(t("saved"));
      } catch (error) {
        problem.show(error.message);
      }
    });
  });
  return card(t("policy"), null, form);
}

function read(list) {
  return [...list.children].map((row) => {
    const [days, fee] = row.querySelectorAll("input");
    return { daysBefore: Number(days.value), feePercent: Number(fee.value) };
  }).sort((a, b) => b.daysBefore - a.daysBefore);
}

function stepRow({ daysBefore, feePercent }) {
  const number = (label, value, max) => el("label", { class: "inline" }, label,
    el("input", { type: "number", min: 0, max, value, required: true, class: "num" }));
  const row = el("div", { class: "row" },
    number(t("policyDays"), daysBefore, 365),
    number(t("policyFee"), feePercent, 100),
    el("button", { class: "btn small", type: "button", onclick: () => row.remove() }, t("delete")));
  return row;
}

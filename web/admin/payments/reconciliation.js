// Compares the gateways' records, ours and the tickets of a day.

import { get } from "../../shared/app/api.js";
import { el, problemBox } from "../../shared/ui/dom.js";
import { count, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { save } from "../../shared/ui/table.js";
import { card, field, heading, shortId } from "../form.js";

const today = () => new Date(Date.now() + 9 * 3_600_000).toISOString().slice(0, 10);

export async function reconciliation(page) {
  const problem = problemBox();
  const box = el("div", { class: "stack" });
  const day = field({ label: t("day"), name: "day", type: "date", value: today(), max: today() });
  const input = day.querySelector("input");
  let report = null;
  const load = async () => {
    problem.show("");
    try {
      report = await get(`/api/admin/reconciliation?day=${input.value}`, { signal: page.signal });
      box.replaceChildren(...show(report));
    } catch (error) {
      if (error.name !== "AbortError") problem.show(error.message);
    }
  };
  input.addEventListener("change", load);
  const csv = el("button", { class: "btn", type: "button", onclick: () => report && save(asCsv(report), `reconciliation-${report.day}.csv`) }, t("csv"));
  page.main.replaceChildren(heading(t("navReconciliation"), t("reconciliationWords"), day, csv), problem.element, box);
  await load();
}

function show(report) {
  const figure = (name, value) => el("section", { class: "card kpi num" }, el("h2", {}, name), el("b", {}, value));
  return [
    el("div", { class: "kpis four" },
      figure(t("navPayments"), count(report.payments)),
      report.sums.flatMap((sum) => [
        figure(t("captured"), won(sum.captured, sum.currency)),
        figure(t("colrefunded"), won(sum.refunded, sum.currency)),
      ]),
      figure(t("tickets"), count(report.tickets))),
    report.nDifferences === 0
      ? el("p", { class: "note ok" }, t("booksAgree"))
      : card(t("differences"), t("found", count(report.nDifferences)), differences(report)),
  ];
}

function differences(report) {
  const heads = ["payment", "gateway", "difference", "ours", "theirs"];
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("differences") },
    el("table", { class: "num" },
      el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, t(`col${head}`))))),
      el("tbody", {}, report.differences.map((it) => el("tr", {},
        el("th", { scope: "row" }, el("a", { href: `#/payments?query=${it.paymentId}` }, shortId(it.paymentId))),
        el("td", {}, it.gateway || t("wallet")),
        el("td", {}, t("difference", it.kind)),
        el("td", { class: "right" }, count(it.ours)),
        el("td", { class: "right" }, count(it.theirs)))))));
}

function asCsv(report) {
  const rows = [["paymentId", "gateway", "kind", "ours", "theirs"],
    ...report.differences.map((it) => [it.paymentId, it.gateway, it.kind, it.ours, it.theirs])];
  return new Blob([rows.map((row) => row.join(",")).join("\r\n")], { type: "text/csv" });
}

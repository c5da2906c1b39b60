// The settlement of a concert: what each way of paying brought in a period, as a table, a file and on
// paper.

import { get } from "../../shared/app/api.js";
import { el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { count, localIn, usePlace, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { save } from "../../shared/ui/table.js";
import { card, field, heading } from "../form.js";

const COUNTS = ["orders", "tickets"];
const AMOUNTS = ["gross", "discounts", "fees", "unmatched", "charged", "refunded", "due", "retained", "gatewayFees", "net"];

/** The calendar day where the venue is; organisers choose others. */
const day = (ms) => localIn(ms).slice(0, 10);

export async function settlement(page) {
  const event = await get(`/api/admin/events/${page.id}`, { signal: page.signal });
  usePlace(event);
  const path = `/api/admin/events/${page.id}/settlement`;
  const begin = Math.min(Date.now(), ...event.schedules.map(({ saleStartsAt }) => Date.parse(saleStartsAt)));
  const from = field({ label: t("setlFrom"), name: "from", type: "date", value: day(begin), required: true });
  const to = field({ label: t("setlTo"), name: "to", type: "date", value: day(Date.now()), required: true });
  const query = () => `from=${from.querySelector("input").value}&to=${to.querySelector("input").value}`;
  const problem = problemBox();
  const box = el("div", { class: "stack", role: "status" });
  const load = async () => {
    problem.show("");
    try {
      box.replaceChildren(...show(await get(`${path}?${query()}`, { signal: page.signal })));
    } catch (error) {
      if (error.name !== "AbortError") problem.show(error.message);
    }
  };
  const file = el("button", { class: "btn", type: "button" }, icon("download"), t("csv"));
  file.addEventListener("click", () => whileBusy(file, async () => {
    try {
      const text = await get(`${path}.csv?${query()}`, { signal: page.signal });
      save(new Blob([text], { type: "text/csv" }), `settlement-${query().replaceAll(/[^\d-]+/g, "_")}.csv`);
    } catch (error) {
      problem.show(error.message);
    }
  }));
  const print = el("button", { class: "btn", type: "button", onclick: () => window.print() }, icon("print"), t("setlPrint"));
  for (const input of [from, to]) input.addEventListener("change", load);
  page.main.className = "wide";
  page.main.replaceChildren(heading(t("settlement"), event.title, from, to, file, print), problem.element, box);
  await load();
}

function show({ lines, total, timeZone }) {
  const figure = (key) => el("section", { class: "card kpi num" }, el("h2", {}, t(`setl_${key}`)), el("b", {}, won(total[key])));
  return [
    el("div", { class: "kpis four" }, ["charged", "refunded", "gatewayFees", "net"].map(figure)),
    lines.length ? card(t("settlement"), null, table(lines, total)) : el("p", { class: "note" }, t("setlNone")),
    el("p", { class: "quiet" }, t("setlWords", timeZone)),
  ];
}

/** One column for each way of paying: the figures stand below each other, as accountants add them. */
function table(lines, total) {
  const columns = [...lines, total];
  const name = ({ method, gateway }) => (method ? [t(`method${method}`), gateway].filter(Boolean).join(" · ") : t("all"));
  const row = (key, format) => el("tr", {}, el("th", { scope: "row" }, t(`setl_${key}`)),
    columns.map((it) => el("td", { class: "right" }, format(it[key]))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("settlement") },
    el("table", { class: "num figures" },
      el("thead", {}, el("tr", {}, el("td", {}), columns.map((it) => el("th", { scope: "col", class: "right" }, name(it))))),
      el("tbody", {}, COUNTS.map((key) => row(key, count)), AMOUNTS.map((key) => row(key, won)))));
}

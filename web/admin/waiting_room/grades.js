// Seats and revenue by grade.

import { el } from "../../shared/ui/dom.js";
import { count, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { COLOURS } from "../../shared/seatmap/plan.js";
import { card } from "../form.js";

export function gradeTable(prices) {
  const order = Object.entries(prices).sort((a, b) => b[1] - a[1]).map(([grade]) => grade);
  const body = el("tbody", {});
  const foot = el("tfoot", {});
  const line = (name, { sold, held, kept, available, revenue }) => el("tr", {},
    el("th", { scope: "row" }, name),
    [count(sold), count(held), count(kept), count(available), won(revenue)].map((text) => el("td", { class: "right" }, text)));
  const take = ({ grades, sold, held, kept, available, revenue }) => {
    const sorted = [...grades].sort((a, b) => order.indexOf(a.grade) - order.indexOf(b.grade));
    body.replaceChildren(...sorted.map((it) => {
      const tone = Math.min(COLOURS - 1, Math.max(0, order.indexOf(it.grade)));
      return line([el("i", { class: `dot g${tone}`, "aria-hidden": "true" }), it.grade], it);
    }));
    foot.replaceChildren(line(t("all"), { sold, held, kept, available, revenue }));
  };
  const heads = ["grade", "sold", "held", "kept", "left", "revenue"];
  const element = card(t("byGrade"), null,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("byGrade") },
      el("table", { class: "num" },
        el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { scope: "col", class: i ? "right" : null }, t(`col${head}`))))),
        body,
        foot)));
  return { element, take };
}

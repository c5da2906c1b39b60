// Accounts. Names and addresses are encrypted, so the search needs the whole address.

import { call } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el } from "../../shared/ui/dom.js";
import { minorDigits, minorOf, stamp, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { csvButton, pagedTable } from "../../shared/ui/table.js";
import { badge, choice, field, heading } from "../form.js";

const PATH = "/api/admin/users";

export function users({ main, query: asked, signal }) {
  const filters = el("form", { class: "filters" },
    field({ label: t("searchUser"), name: "query", type: "search", value: asked.get("query") }));
  const query = () => Object.fromEntries(new FormData(filters));
  const table = pagedTable({
    caption: t("navUsers"),
    path: PATH,
    query,
    signal,
    columns: [
      { head: t("email"), cell: (it) => it.email },
      { head: t("name"), cell: (it) => it.name },
      { head: t("role"), cell: (it) => t("roleOf", it.role) },
      { head: t("colstatus"), cell: (it) => badge(it.status) },
      { head: t("wallet"), isNumber: true, cell: (it) => won(it.balance, it.currency) },
      { head: t("coltime"), cell: (it) => el("span", { class: "num" }, stamp(it.createdAt)) },
      { head: t("colactions"), cell: (it) => el("div", { class: "row" },
        el("a", { class: "btn small", href: `#/reservations?user=${it.id}` }, t("navReservations")),
        el("a", { class: "btn small", href: `#/users/${it.id}/queue` }, t("queueTimeline")),
        el("button", { class: "btn small", type: "button", onclick: () => adjust(it, () => table.reload()) }, t("adjust")),
        el("button", { class: "btn small", type: "button", onclick: () => changeRole(it, () => table.reload()) }, t("role"))) },
    ],
  });
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("change", () => table.reload());
  main.className = "wide";
  main.replaceChildren(
    heading(t("navUsers"), t("usersWords"), csvButton({ path: PATH, query, name: "users" })),
    el("section", { class: "card" }, filters, table.element));
  return table.reload();
}

async function adjust(user, reload) {
  let answer = null;
  await ask({
    title: t("adjustOf", user.email),
    content: el("div", { class: "stack" },
      field({ label: t("adjustAmount"), name: "amount", type: "number", step: 1 / 10 ** minorDigits(user.currency), required: true, hint: t("adjustHint") }),
      field({ label: t("reason"), name: "reason", required: true, maxlength: 200 })),
    yes: t("adjust"),
    isDanger: true,
    act: async (form) => {
      answer = await call("POST", `/api/admin/users/${user.id}/wallet`, {
        body: { amount: minorOf(form.get("amount"), user.currency), reason: form.get("reason") },
        key: crypto.randomUUID?.() ?? String(Math.random()),
      });
    },
  });
  if (!answer) return;
  if (answer.status === "SECOND_ORGANISER_NEEDED") {
    await ask({ title: t("adjust"), content: el("p", { class: "note ok" }, t("secondNeeded")), yes: t("fine") });
  }
  reload();
}

async function changeRole(user, reload) {
  const done = await ask({
    title: t("roleChange", user.email),
    content: choice({ label: t("role"), name: "role", options: ["USER", "STAFF", "ADMIN"].map((it) => [it, t("roleOf", it)]), value: user.role }),
    yes: t("saveIt"),
    isDanger: true,
    act: (form) => call("PUT", `/api/admin/users/${user.id}/role`, { body: { role: form.get("role") } }),
  });
  if (done) reload();
}

// Accounts. Names and addresses are encrypted, so only their beginnings are searchable.

import { call, get } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el } from "../../shared/ui/dom.js";
import { minorDigits, minorOf, stamp, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { may } from "../../shared/app/session.js";
import { badge, choice, field } from "../form.js";
import { listPage, periodFields } from "../shell/list.js";
import { idFact, pairs, person } from "../shell/people.js";

const PATH = "/api/admin/users";

export function users(page) {
  return listPage(page, {
    title: t("navUsers"),
    words: t("usersWords"),
    address: "users",
    path: PATH,
    name: "users",
    hasCsv: true,
    // A name that is still being typed is too short.
    reloadOn: "change",
    fields: [field({ label: t("searchUser"), name: "query", type: "search" }), ...periodFields()],
    columns: [
      { head: t("colfan"), cell: (it) => person(it, it.id) },
      { head: t("role"), cell: (it) => t("roleOf", it.role) },
      { head: t("colstatus"), cell: (it) => badge(it.status) },
      { head: t("wallet"), isNumber: true, cell: (it) => won(it.balance, it.currency) },
      { head: t("joinedAt"), isOrder: true, cell: (it) => el("span", { class: "num" }, stamp(it.createdAt)) },
    ],
    detail: {
      id: (it) => it.id,
      find: async (id) => (await get(`${PATH}?${new URLSearchParams({ query: id })}`, { signal: page.signal })).items[0],
      title: (it) => it.name,
      draw: (it, again) => userPanel(it, again),
    },
  });
}

function userPanel(it, again) {
  const button = (words, onclick, kind = "btn") => el("button", { class: kind, type: "button", onclick }, words);
  return {
    content: [
      badge(it.status),
      pairs([
        [t("email"), it.email],
        [t("role"), t("roleOf", it.role)],
        [t("wallet"), won(it.balance, it.currency)],
        [t("joinedAt"), stamp(it.createdAt)],
        idFact(it.id),
      ]),
      el("p", { class: "row" },
        may("SUPPORT_FANS") ? el("a", { href: `#/support/people/${it.id}` }, t("personPage")) : null,
        el("a", { href: `#/reservations?user=${it.id}` }, t("navReservations")),
        el("a", { href: `#/users/${it.id}/queue` }, t("queueTimeline"))),
    ],
    actions: [button(t("role"), () => changeRole(it, again)), button(t("adjust"), () => adjust(it, again), "btn stop")],
  };
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

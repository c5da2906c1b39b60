// API keys: programs call the API with them.

import { call, get, remove } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el, icon } from "../../shared/ui/dom.js";
import { stamp } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { card, field, heading } from "../form.js";
import { eventChoices, grantFields, grantWords, readGrant } from "./grants.js";

const PATH = "/api/admin/keys";

export async function keys(page) {
  const [{ items }, events] = await Promise.all([get(PATH, { signal: page.signal }), eventChoices(page.signal)]);
  const add = el("button", { class: "btn brand", type: "button", onclick: () => create(page, events) }, icon("plus"), t("keyAdd"));
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(t("navKeys"), t("keysWords"), add),
    items.length ? card(t("navKeys"), null, el("ul", { class: "rows" }, items.map((it) => keyRow(page, events, it))))
      : el("section", { class: "card empty" }, icon("code"), el("p", {}, t("keysNone")), el("p", { class: "quiet" }, t("keysHow"))));
}

function stateOf(it) {
  if (it.revokedAt) return ["danger", t("keyRevoked")];
  if (Date.parse(it.expiresAt) <= Date.now()) return ["danger", t("keyExpired")];
  return ["ok", t("keyLive")];
}

function keyRow(page, events, it) {
  const [kind, words] = stateOf(it);
  return el("li", {},
    el("span", { class: "grow" }, el("b", {}, it.name), el("small", { class: "quiet" }, el("code", {}, `${it.prefix}…`))),
    grantWords(it, events),
    el("span", { class: `badge ${kind}` }, words),
    el("small", { class: "quiet num" }, t("until", stamp(it.expiresAt))),
    kind === "ok" ? el("button", { class: "btn stop small", type: "button", onclick: () => revoke(page, it) }, t("keyRevoke")) : null);
}

async function create(page, events) {
  let made = null;
  await ask({
    title: t("keyAdd"),
    content: el("div", { class: "stack" },
      field({ label: t("keyName"), name: "name", required: true, maxlength: 60, hint: t("keyNameHint") }),
      field({ label: t("keyDays"), name: "days", type: "number", required: true, min: 1, max: 366, value: 90 }),
      grantFields({ events })),
    yes: t("keyAdd"),
    act: async (form) => {
      const body = { name: form.get("name"), days: Number(form.get("days")), ...readGrant(form) };
      made = await call("POST", PATH, { body });
    },
  });
  if (!made) return;
  await ask({
    title: t("keyMade"),
    content: el("div", { class: "stack" }, el("p", { class: "note warn" }, t("keyMadeWords")), el("code", { class: "secret" }, made.key),
      el("p", { class: "quiet" }, t("keyUse"))),
    yes: t("fine"),
  });
  page.again();
}

async function revoke(page, it) {
  const done = await ask({
    title: t("keyRevoke"),
    content: el("p", {}, t("keyRevokeWords", it.name)),
    yes: t("keyRevoke"),
    isDanger: true,
    act: () => remove(`${PATH}/${it.id}`),
  });
  if (done) page.again();
}

// Webhook endpoints: adding and pausing them, their secrets, their deliveries.

import { call, get, remove } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { count, stamp } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { listButton, pagedTable } from "../../shared/ui/table.js";
import { badge, card, field, heading, shortId } from "../form.js";

const PATH = "/api/admin/webhooks";

/** The message types that most organisers need. */
const USUAL = ["ReservationConfirmed", "ReservationCanceled", "PaymentRefunded"];

export async function webhooks(page) {
  const { items, types } = await get(PATH, { signal: page.signal });
  const add = el("button", { class: "btn brand", type: "button", onclick: () => edit(page, types, null) }, icon("plus"), t("webhookAdd"));
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(t("navWebhooks"), t("webhooksWords"), add),
    items.length ? el("div", { class: "stack" }, items.map((it) => endpointCard(page, types, it))) : nothing());
}

function nothing() {
  return el("section", { class: "card empty" }, icon("send"), el("p", {}, t("webhooksNone")), el("p", { class: "quiet" }, t("webhooksHow")));
}

function endpointCard(page, types, it) {
  const problem = problemBox();
  const isActive = it.status === "ACTIVE";
  const change = (button, status) => whileBusy(button, async () => {
    try {
      await call("PATCH", `${PATH}/${it.id}`, { body: { status } });
      page.again();
    } catch (error) {
      problem.show(error.message);
    }
  });
  const pause = el("button", { class: "btn small", type: "button", onclick: () => change(pause, isActive ? "DISABLED" : "ACTIVE") },
    isActive ? t("webhookPause") : t("webhookResume"));
  return el("section", { class: "card", "aria-label": it.url },
    el("div", { class: "bar" }, el("h2", { class: "url" }, it.url), badge(it.status)),
    el("div", { class: "pad stack" },
      el("ul", { class: "kinds" }, it.types.map((kind) => el("li", { class: "badge" }, kind))),
      el("div", { class: "row" },
        el("a", { class: "btn small", href: `#/webhooks/${it.id}` }, icon("list"), t("deliveries")),
        pause,
        el("button", { class: "btn small", type: "button", onclick: () => rotate(page, it) }, t("webhookRotate")),
        el("button", { class: "btn small", type: "button", onclick: () => edit(page, types, it) }, t("edit")),
        el("button", { class: "btn stop small", type: "button", onclick: () => drop(page, it) }, t("delete"))),
      problem.element));
}

/** Adds or changes an endpoint. */
async function edit(page, types, known) {
  const chosen = known?.types ?? USUAL;
  const box = (kind) => el("label", { class: "choice" },
    el("input", { type: "checkbox", name: "types", value: kind, checked: chosen.includes(kind) }), el("span", {}, kind));
  let made = null;
  await ask({
    title: known ? t("edit") : t("webhookAdd"),
    content: el("div", { class: "stack" },
      field({ label: t("webhookUrl"), name: "url", type: "url", value: known?.url, required: true, maxlength: 500, hint: t("webhookUrlHint") }),
      el("fieldset", {}, el("legend", {}, t("webhookTypes")), el("div", { class: "kinds-choice" }, types.map(box)))),
    yes: t("saveIt"),
    act: async (form) => {
      const body = { url: form.get("url"), types: form.getAll("types"), ...(known ? { status: known.status } : {}) };
      made = await call(known ? "PATCH" : "POST", known ? `${PATH}/${known.id}` : PATH, { body });
    },
  });
  if (made?.secret) await showSecret(made.secret);
  if (made) page.again();
}

async function rotate(page, it) {
  let made = null;
  await ask({
    title: t("webhookRotate"),
    content: el("p", {}, t("webhookRotateWords")),
    yes: t("webhookRotate"),
    isDanger: true,
    act: async () => (made = await call("POST", `${PATH}/${it.id}/secret`, { body: {} })),
  });
  if (made) await showSecret(made.secret);
}

/** The secret cannot be shown again. */
export function showSecret(secret) {
  return ask({
    title: t("webhookSecret"),
    content: el("div", { class: "stack" }, el("p", { class: "note warn" }, t("webhookSecretWords")), el("code", { class: "secret" }, secret)),
    yes: t("fine"),
  });
}

async function drop(page, it) {
  const done = await ask({
    title: t("deleteSure"),
    content: el("p", {}, t("webhookDropWords")),
    yes: t("delete"),
    isDanger: true,
    act: () => remove(`${PATH}/${it.id}`),
  });
  if (done) page.again();
}

/** The deliveries to an endpoint, with their responses. */
export function deliveries(page) {
  const path = `${PATH}/${page.id}/deliveries`;
  const again = (it) => {
    const button = el("button", { class: "btn small", type: "button", onclick: () => whileBusy(button, async () => {
      await call("POST", `${path}/${it.id}/replay`, { body: {} });
      await table.reload();
    }) }, t("again"));
    return button;
  };
  const table = pagedTable({
    caption: t("deliveries"),
    path,
    signal: page.signal,
    empty: t("deliveriesNone"),
    columns: [
      { head: t("colkind"), cell: (it) => it.type },
      { head: t("colstatus"), cell: (it) => badge(it.status) },
      { head: t("colanswer"), cell: (it) => (it.lastStatus ? String(it.lastStatus) : it.error ?? "–") },
      { head: t("coltries"), isNumber: true, cell: (it) => count(it.attempts) },
      { head: t("coltime"), cell: (it) => el("span", { class: "num" }, stamp(it.updatedAt)) },
      { head: t("colmessage"), cell: (it) => shortId(it.messageId) },
      { head: t("colactions"), cell: again },
    ],
  });
  const reload = el("button", { class: "btn", type: "button", onclick: () => whileBusy(reload, table.reload) }, t("lookAgain"));
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(t("deliveries"), t("deliveriesWords"), reload, listButton({ path, name: "deliveries" }), el("a", { class: "btn", href: "#/webhooks" }, icon("back"), t("navWebhooks"))),
    card(t("deliveries"), null, table.element));
  return table.reload();
}

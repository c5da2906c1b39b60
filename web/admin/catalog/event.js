// One concert: its dates, life cycle, refund policy, and copies of it.

import { call, get, remove } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el, icon } from "../../shared/ui/dom.js";
import { count, CURRENCIES, currencyName, moment, usePlace, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { may } from "../../shared/app/session.js";
import { GENRES } from "../../fan/words/event.js";
import { METHODS } from "../../fan/words/methods.js";
import { area, badge, card, choice, field, heading, tick } from "../form.js";
import { addDateButton, editTimes } from "./dates.js";
import { imagesCard } from "./images.js";
import { policyCard } from "./policy.js";

/** The actions in each state, and the style of their buttons. */
const VERBS = {
  PREPARING: [["open", "brand"]],
  OPEN: [["end", ""], ["cancel", "stop"]],
  ENDED: [],
  CANCELLED: [],
};

export async function eventDetail(page) {
  const event = await get(`/api/admin/events/${page.id}`, { signal: page.signal });
  usePlace(event);
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(event.title, `${event.artist} · ${event.venueName} · ${event.hallName}`,
      badge(event.status),
      VERBS[event.status].map(([verb, kind]) => verbButton(page, verb, kind)),
      el("button", { class: "btn", type: "button", onclick: () => edit(page, event) }, t("edit")),
      may("VIEW_SALES") ? el("a", { class: "btn", href: `#/events/${event.id}/settlement` }, t("settlement")) : null,
      el("a", { class: "btn", href: `#/events/new?from=${event.id}` }, t("clone")),
      event.status === "PREPARING" ? deleteButton(page, `/api/admin/events/${page.id}`, "#/events") : null),
    card(t("dates"), addDateButton(page, event), scheduleTable(page, event)),
    imagesCard(page, event),
    await policyCard(page));
}

function verbButton(page, verb, kind) {
  const act = async () => {
    const done = await ask({
      title: t(`event${verb}`),
      content: el("p", {}, t(`eventWords${verb}`)),
      yes: t(`event${verb}`),
      isDanger: kind === "stop",
      act: () => call("POST", `/api/admin/events/${page.id}/${verb}`, { body: {} }),
    });
    if (done) page.again();
  };
  return el("button", { class: `btn ${kind}`, type: "button", onclick: act }, t(`event${verb}`));
}

function deleteButton(page, path, back) {
  const act = async () => {
    const done = await ask({ title: t("deleteSure"), yes: t("delete"), isDanger: true, act: () => remove(path) });
    if (done && back) page.go(back);
    else if (done) page.again();
  };
  return el("button", { class: "btn stop small", type: "button", onclick: act }, t("delete"));
}

/** What organisers say about a concert, in the wizard and later. `readEvent` reads the same fields. */
export function eventFields(event) {
  return [
    field({ label: t("coltitle"), name: "title", value: event.title, required: true, maxlength: 200 }),
    field({ label: t("colartist"), name: "artist", value: event.artist, required: true, maxlength: 200 }),
    choice({ label: t("genre"), name: "genre", options: GENRES.map((genre) => [genre, t(`genre${genre}`)]), value: event.genre }),
    field({ label: t("minimumAge"), hint: t("minimumAgeHint"), name: "minimumAge", type: "number", min: 0, max: 21, value: event.minimumAge, required: true }),
    area({ label: t("description"), name: "description", value: event.description, maxlength: 5000 }),
    tick({ label: t("transferable"), name: "transferable", checked: event.transferable }),
    choice({ label: t("currency"), hint: t("currencyHint"), name: "currency", options: CURRENCIES.map((code) => [code, currencyName(code)]), value: event.currency }),
    tick({ label: t("vatExempt"), name: "vatExempt", checked: event.vatExempt }),
    el("fieldset", { class: "stack tight" }, el("legend", {}, t("payMethods")),
      METHODS.map((method) => tick({ label: t(`method${method}`), name: `pay${method}`, checked: event.paymentMethods.includes(method) })),
      el("small", { class: "quiet" }, t("payMethodsHint"))),
    field({ label: t("depositCount"), hint: t("depositCountHint"), name: "depositCount", type: "number", min: 1, max: 168, value: Object.values(event.depositDeadline)[0], required: true }),
    choice({ label: t("depositUnit"), name: "depositUnit", options: ["days", "hours"].map((unit) => [unit, t(`deposit${unit}`)]), value: Object.keys(event.depositDeadline)[0] }),
  ];
}

export function readEvent(form) {
  const { title, artist, genre, minimumAge, description, currency, depositCount, depositUnit } = Object.fromEntries(form);
  return { title, artist, genre, currency, minimumAge: Number(minimumAge), description, transferable: form.has("transferable"), vatExempt: form.has("vatExempt"), paymentMethods: METHODS.filter((method) => form.has(`pay${method}`)), depositDeadline: { [depositUnit]: Number(depositCount) } };
}

async function edit(page, event) {
  const done = await ask({
    title: t("edit"),
    content: el("div", { class: "stack" }, eventFields(event)),
    yes: t("saveIt"),
    act: (form) => call("PATCH", `/api/admin/events/${page.id}`, { body: readEvent(form) }),
  });
  if (done) page.again();
}

function scheduleTable(page, event) {
  if (!event.schedules.length) return el("p", { class: "quiet pad" }, t("noDatesYet"));
  const heads = ["starts", "saleWindow", "prices", "seats", "status", "actions"];
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("dates") },
    el("table", { class: "num" },
      el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col", class: head === "seats" ? "right" : null }, t(`col${head}`))))),
      el("tbody", {}, event.schedules.map((it) => scheduleRow(page, event, it)))));
}

function scheduleRow(page, event, it) {
  const prices = Object.entries(it.prices).sort((a, b) => b[1] - a[1]).map(([grade, price]) => `${grade} ${won(price)}`);
  return el("tr", {},
    el("th", { scope: "row" }, moment(it.startsAt)),
    el("td", {}, moment(it.saleStartsAt), " –", el("br"), moment(it.saleEndsAt)),
    el("td", { class: "num" }, prices.map((it) => el("div", {}, it))),
    el("td", { class: "right num" }, count(it.seats)),
    el("td", {}, badge(it.status)),
    el("td", {},
      el("div", { class: "row" },
        el("a", { class: "btn small", href: `#/live/${it.id}` }, icon("chart"), t("monitor")),
        el("a", { class: "btn small", href: `#/schedules/${it.id}/phases?event=${event.id}` }, t("phases")),
        el("a", { class: "btn small", href: `#/schedules/${it.id}/pricing?event=${event.id}` }, t("pricing")),
        el("a", { class: "btn small", href: `#/schedules/${it.id}/allocations?event=${event.id}` }, t("allocations")),
        el("a", { class: "btn small", href: `#/schedules/${it.id}/boxoffice?event=${event.id}` }, t("boxOffice")),
        el("button", { class: "btn small", type: "button", onclick: () => editTimes(page, it) }, t("edit")),
        event.status === "PREPARING" ? deleteButton(page, `/api/admin/schedules/${it.id}`) : null,
        it.status === "CANCELLED" ? null : cancelButton(page, it))));
}

function cancelButton(page, schedule) {
  const act = async () => {
    const live = await get(`/api/admin/schedules/${schedule.id}/live`).catch(() => null);
    const done = await ask({
      title: t("cancelDate"),
      content: el("div", { class: "stack" },
        el("p", {}, t("cancelDateWords")),
        live ? el("p", { class: "note warn num" }, t("cancelDateDry", count(live.sold), won(live.revenue), count(live.held))) : null),
      yes: t("cancelDate"),
      isDanger: true,
      act: () => call("POST", `/api/admin/schedules/${schedule.id}/cancel`, { body: {} }),
    });
    if (done) page.go(`#/refunds?schedule=${schedule.id}`);
  };
  return el("button", { class: "btn stop small", type: "button", onclick: act }, t("cancelDate"));
}

// Fields, headings and badges of the control room's pages.

import { el } from "../shared/ui/dom.js";
import { t } from "../shared/ui/i18n.js";

export function field({ label, hint, ...attributes }) {
  const input = el("input", { type: "text", ...attributes });
  return el("label", { class: "field" }, label, input, hint ? el("small", {}, hint) : null);
}

export function area({ label, hint, value, ...attributes }) {
  const input = el("textarea", attributes);
  input.value = value ?? "";
  return el("label", { class: "field" }, label, input, hint ? el("small", {}, hint) : null);
}

/** `options` are pairs of a value and its label. */
export function choice({ label, options, value, ...attributes }) {
  return el("label", { class: "field" }, label,
    el("select", attributes, options.map(([key, words]) =>
      el("option", { value: key, selected: key === value }, words))));
}

export function heading(title, words, ...actions) {
  return el("div", { class: "hd" },
    el("div", {}, el("h1", {}, title), words ? el("p", { class: "quiet" }, words) : null),
    el("span", { class: "grow" }),
    actions);
}

const KINDS = {
  ok: ["OPEN", "ONGOING", "CONFIRMED", "CAPTURED", "REFUNDED", "VALID", "ACTIVE", "AUTO", "PUBLISHED", "SENT", "OK"],
  warn: ["PREPARING", "UPCOMING", "HELD", "PAYING", "READY", "REQUESTED", "UNKNOWN", "AWAITING_DEPOSIT", "PARTIALLY_REFUNDED", "REFUND_DUE",
    "DUE", "PAUSED", "DRAINING", "DORMANT", "PENDING", "RUNNING"],
  danger: ["CANCELLED", "CANCELED", "FAILED", "CLOSED", "DEAD", "DELETED", "VOID", "LOCKED"],
};

/** A state with its colour; the label alone is sufficient too. */
export function badge(state) {
  const kind = Object.keys(KINDS).find((it) => KINDS[it].includes(state));
  return el("span", { class: `badge ${kind ?? ""}` }, t("state", state));
}

/** Shows the first part of an id; the whole id is in the title and in the file. */
export function shortId(id) {
  return el("code", { title: id }, id ? id.slice(-8) : "");
}

export function card(title, aside, ...content) {
  return el("section", { class: "card" },
    el("h2", { class: "bar" }, title, aside ? el("small", {}, aside) : null),
    content);
}

/** A checkbox. */
export function tick({ label, ...attributes }) {
  return el("label", { class: "choice" }, el("input", { type: "checkbox", ...attributes }), label);
}

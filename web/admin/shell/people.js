// People, seats and methods in lists: what a person would say, with the id small and grey.

import { el } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { may, user } from "../../shared/app/session.js";
import { shortId } from "../form.js";

/** A person in a row; `id` is what is left of a deleted account. */
export function person(found, id) {
  if (!found) return el("span", { class: "person" }, el("span", { class: "quiet" }, id ? t("personGone") : "–"), id ? el("small", {}, shortId(id)) : null);
  return el("span", { class: "person" },
    el("span", { class: "face", "aria-hidden": "true" }, [...found.name][0] ?? "·"),
    el("span", { class: "who" }, el("b", {}, found.name), el("small", { class: "quiet" }, found.email)));
}

/** The same in a panel, with the way to their page for roles that reach it. */
export function personLink(found, id) {
  if (!id || !may("SUPPORT_FANS") || user()?.team?.events) return person(found, id);
  return el("span", { class: "row" }, person(found, id), el("a", { href: `#/support/people/${id}` }, t("personPage")));
}

/** `107구역 5열 7번, 8번 …`: seats as people say them. */
export function seatWords(numbers) {
  return [numbers].flat().map((number) => t("seatName", number)).join(", ");
}

/** What was paid with, and the company that moved the money. */
export function methodWords({ method, paidWith, gateway }) {
  return [t(`method${paidWith ?? method}`), gateway ? t("gatewayName", gateway) : null].filter(Boolean).join(" · ");
}

/** Facts of a panel; those without a value are left out. */
export function pairs(all) {
  const shown = all.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el("dl", { class: "side-panel-facts" }, shown.map(([label, value]) => el("div", {}, el("dt", {}, label), el("dd", {}, value))));
}

/** The id for support, whole. */
export const idFact = (id) => [t("colid"), el("code", { class: "quiet" }, String(id))];

// The choice of a role, its permissions and its events; shared by the team and the API keys.

import { get } from "../../shared/app/api.js";
import { el } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { may } from "../../shared/app/session.js";
import { choice, tick } from "../form.js";

export const ROLES = ["OWNER", "MANAGER", "FINANCE", "BOX_OFFICE", "SUPPORT", "GATE", "VIEWER", "CUSTOM"];

/** All permissions, in the order of the form. */
const PERMISSIONS = ["VIEW_EVENTS", "MANAGE_EVENTS", "MANAGE_VENUES", "MANAGE_ALLOCATIONS",
  "SELL_AT_BOX_OFFICE", "ISSUE_COMPLIMENTARY", "RESEAT_BOOKINGS",
  "RUN_WAITING_ROOM", "VIEW_SALES", "VIEW_ORDERS",
  "REFUND_PAYMENTS", "CORRECT_WALLETS", "VIEW_PEOPLE", "SUPPORT_FANS", "CHECK_IN_TICKETS", "VIEW_ATTENDANCE", "MANAGE_PAGES",
  "READ_MAILBOX", "MANAGE_TEAM", "MANAGE_KEYS", "MANAGE_INTEGRATIONS", "VIEW_OPERATIONS", "OPERATE", "VIEW_AUDIT"];

/** The events that a role can be limited to. */
export async function eventChoices(signal) {
  if (!may("VIEW_EVENTS")) return [];
  const { items } = await get("/api/admin/events?limit=100", { signal });
  return items;
}

/** What a role permits, in words. */
export function grantWords(it, events) {
  const title = (id) => events.find((event) => event.id === id)?.title ?? id;
  const scope = it.events ? it.events.map(title).join(", ") : t("eventsAll");
  return el("span", {}, t("teamRole", it.role), el("small", { class: "quiet" }, scope));
}

/** The fields of a role; `read` makes the body of a call from the form. */
export function grantFields({ events, known }) {
  const role = choice({ label: t("role"), name: "role", value: known?.role ?? "VIEWER",
    options: ROLES.map((it) => [it, t("teamRole", it)]) });
  const hint = el("p", { class: "quiet" });
  const permissions = el("fieldset", { class: "kinds-box" }, el("legend", {}, t("permissions")),
    el("div", { class: "kinds-choice" }, PERMISSIONS.map((it) =>
      tick({ label: t("permission", it), name: "permissions", value: it, checked: known?.permissions?.includes(it) }))));
  const limit = tick({ label: t("eventsSome"), name: "isLimited", checked: Boolean(known?.events) });
  const chosen = el("fieldset", { class: "kinds-box" }, el("legend", {}, t("navEvents")),
    el("div", { class: "kinds-choice" }, events.map((it) =>
      tick({ label: it.title, name: "events", value: it.id, checked: known?.events?.includes(it.id) }))));
  const isLimited = limit.querySelector("input");
  const show = () => {
    const value = role.querySelector("select").value;
    hint.textContent = t("teamRoleWords", value);
    permissions.hidden = value !== "CUSTOM";
    limit.hidden = value === "OWNER" || !events.length;
    chosen.hidden = limit.hidden || !isLimited.checked;
  };
  role.addEventListener("change", show);
  limit.addEventListener("change", show);
  show();
  return el("div", { class: "stack" }, role, hint, permissions, limit, chosen);
}

export function readGrant(form) {
  const role = form.get("role");
  return {
    role,
    ...(role === "CUSTOM" ? { permissions: form.getAll("permissions") } : {}),
    ...(form.get("isLimited") && role !== "OWNER" ? { events: form.getAll("events") } : {}),
  };
}

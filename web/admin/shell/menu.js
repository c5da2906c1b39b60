// The menu of the control room: pages in groups, each with the permission that it needs.

import { el, icon } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { may, user } from "../../shared/app/session.js";

/** Each page: address, icon, label, permission. The last group is folded until it is used. */
const GROUPS = [
  ["groupSales", [
    ["", "chart", "navLive", "VIEW_SALES"],
    ["events", "music", "navEvents", "VIEW_EVENTS"],
    ["reservations", "ticket", "navReservations", "VIEW_ORDERS"],
    ["payments", "money", "navPayments", "VIEW_ORDERS"],
    ["refunds", "undo", "navRefunds", "REFUND_PAYMENTS"],
  ]],
  ["groupFans", [
    ["support", "search", "navSupport", "SUPPORT_FANS"],
    ["users", "users", "navUsers", "VIEW_PEOPLE"],
    ["checkin", "scan", "navCheckIn", "CHECK_IN_TICKETS"],
  ]],
  ["groupOrganisation", [
    ["venues", "building", "navVenues", "VIEW_EVENTS"],
    ["templates", "mail", "navMailTemplates", "MANAGE_PAGES"],
    ["pages", "list", "navPages", "MANAGE_PAGES"],
    ["team", "users", "navTeam", "MANAGE_TEAM"],
    ["keys", "code", "navKeys", "MANAGE_KEYS"],
    ["audit", "shield", "navAudit", "VIEW_AUDIT"],
  ]],
  ["groupOperations", [
    ["reconciliation", "scales", "navReconciliation", "VIEW_SALES"],
    ["simulation", "bolt", "navSimulation", "VIEW_OPERATIONS"],
    ["mailbox", "mail", "navMailbox", "READ_MAILBOX"],
    ["messages", "send", "navMessages", "VIEW_OPERATIONS"],
    ["webhooks", "link", "navWebhooks", "VIEW_OPERATIONS"],
    ["jobs", "clock", "navJobs", "VIEW_OPERATIONS"],
    ["invariants", "check", "navInvariants", "VIEW_OPERATIONS"],
    ["signals", "warn", "navSignals", "VIEW_PEOPLE"],
  ]],
];

const FOLDED = "groupOperations";

/** Pages that belong to no event: a role that is limited to events doesn't reach them. */
const EVERYWHERE = ["venues", "reconciliation", "users", "simulation", "mailbox", "messages", "webhooks", "jobs", "invariants",
  "signals", "audit", "pages", "team", "keys"];

/** Addresses whose menu entry has another name. */
const SECTIONS = { live: "", halls: "venues", schedules: "events", promises: "invariants" };

const maySee = ([address, , , permission]) =>
  may(permission) && !(user()?.team?.events && EVERYWHERE.includes(address));

/** The pages that the role reaches, in the order of the menu. */
export const pages = () => GROUPS.flatMap(([, group]) => group).filter(maySee);

/** The first page that the role reaches. */
export const firstPage = () => pages()[0]?.[0] ?? "checkin";

export function menu(path) {
  const first = path.split("/")[0];
  const section = SECTIONS[first] ?? first;
  return GROUPS.map(([name, group]) => groupOf(name, group.filter(maySee), section));
}

function groupOf(name, group, section) {
  if (!group.length) return null;
  const links = group.map(([address, picture, words]) =>
    el("a", { href: `#/${address}`, "aria-current": address === section ? "page" : null }, icon(picture), t(words)));
  if (name !== FOLDED) {
    return el("div", { class: "nav-group", role: "group", "aria-labelledby": name }, el("p", { id: name }, t(name)), links);
  }
  return el("details", { class: "nav-group", open: group.some(([address]) => address === section) },
    el("summary", {}, t(name)), links);
}

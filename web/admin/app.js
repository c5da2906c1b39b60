// The control room: selects the view for the address, draws the menu, and requires a login.

import { call, logInWith, proveWith } from "../shared/app/api.js";
import { el, icon } from "../shared/ui/dom.js";
import { language, t } from "../shared/ui/i18n.js";
import { lazily, openPages } from "../shared/app/router.js";
import { end, may, user } from "../shared/app/session.js";
import { startApp } from "../shared/app/start.js";
import { logInHere } from "./identity/login.js";
import { reauth } from "./identity/reauth.js";

const ROUTES = [
  [/^$/, lazily(() => import("./waiting_room/live.js"), "live")],
  [/^live\/([\w-]+)$/, lazily(() => import("./waiting_room/live.js"), "live")],
  [/^live\/([\w-]+)\/admissions$/, lazily(() => import("./waiting_room/history.js"), "admissions")],
  [/^login$/, lazily(() => import("./identity/login.js"), "login")],
  [/^events$/, lazily(() => import("./catalog/events.js"), "eventList")],
  [/^events\/new$/, lazily(() => import("./catalog/wizard.js"), "eventWizard")],
  [/^events\/([\w-]+)$/, lazily(() => import("./catalog/event.js"), "eventDetail")],
  [/^schedules\/([\w-]+)\/phases$/, lazily(() => import("./catalog/phases.js"), "phases")],
  [/^schedules\/([\w-]+)\/pricing$/, lazily(() => import("./catalog/pricing.js"), "pricing")],
  [/^venues$/, lazily(() => import("./catalog/venues.js"), "venueList")],
  [/^halls\/([\w-]+)$/, lazily(() => import("./catalog/plan.js"), "hallPlan")],
  [/^reservations$/, lazily(() => import("./payments/reservations.js"), "reservations")],
  [/^payments$/, lazily(() => import("./payments/payments.js"), "payments")],
  [/^refunds$/, lazily(() => import("./payments/refunds.js"), "refunds")],
  [/^reconciliation$/, lazily(() => import("./payments/reconciliation.js"), "reconciliation")],
  [/^users\/([0-9a-f-]{36})\/queue$/, lazily(() => import("./waiting_room/timeline.js"), "timeline")],
  [/^team$/, lazily(() => import("./identity/team.js"), "team")],
  [/^pages$/, lazily(() => import("./identity/pages.js"), "pages")],
  [/^keys$/, lazily(() => import("./identity/keys.js"), "keys")],
  [/^invitation\/([\w-]+)$/, lazily(() => import("./identity/invitation.js"), "invitation")],
  [/^support$/, lazily(() => import("./support/search.js"), "search")],
  [/^support\/people\/([0-9a-f-]{36})$/, lazily(() => import("./support/person.js"), "person")],
  [/^support\/bookings\/([0-9a-f-]{36})$/, lazily(() => import("./support/booking.js"), "booking")],
  [/^users$/, lazily(() => import("./identity/users.js"), "users")],
  [/^checkin$/, () => location.assign("/gate/")],
  [/^simulation$/, lazily(() => import("./operations/simulation.js"), "simulation")],
  [/^mailbox$/, lazily(() => import("./operations/system.js"), "mailbox")],
  [/^templates$/, lazily(() => import("./operations/mail_templates.js"), "mailTemplates")],
  [/^messages$/, lazily(() => import("./operations/system.js"), "messages")],
  [/^webhooks$/, lazily(() => import("./operations/webhooks.js"), "webhooks")],
  [/^webhooks\/([\w-]+)$/, lazily(() => import("./operations/webhooks.js"), "deliveries")],
  [/^jobs$/, lazily(() => import("./operations/system.js"), "jobs")],
  // Its address until 0.1, for bookmarks.
  [/^(?:invariants|promises)$/, lazily(() => import("./operations/invariants.js"), "invariants")],
  [/^signals$/, lazily(() => import("./operations/system.js"), "signals")],
  [/^audit$/, lazily(() => import("./operations/system.js"), "audit")],
];

const words = async (language) => (await (language === "ko" ? import("./words/ko.js") : import("./words/en.js"))).default;

/** The menu: address, icon, label, and the permission that its page needs. */
const MENU = [
  ["", "chart", "navLive", "VIEW_SALES"],
  ["events", "music", "navEvents", "VIEW_EVENTS"],
  ["venues", "building", "navVenues", "VIEW_EVENTS"],
  ["reservations", "ticket", "navReservations", "VIEW_ORDERS"],
  ["payments", "money", "navPayments", "VIEW_ORDERS"],
  ["refunds", "undo", "navRefunds", "REFUND_PAYMENTS"],
  ["reconciliation", "scales", "navReconciliation", "VIEW_SALES"],
  ["users", "users", "navUsers", "VIEW_PEOPLE"],
  ["support", "search", "navSupport", "SUPPORT_FANS"],
  ["checkin", "scan", "navCheckIn", "CHECK_IN_TICKETS"],
  ["simulation", "bolt", "navSimulation", "VIEW_OPERATIONS"],
  ["mailbox", "mail", "navMailbox", "READ_MAILBOX"],
  ["templates", "mail", "navMailTemplates", "MANAGE_PAGES"],
  ["messages", "send", "navMessages", "VIEW_OPERATIONS"],
  ["webhooks", "link", "navWebhooks", "VIEW_OPERATIONS"],
  ["jobs", "clock", "navJobs", "VIEW_OPERATIONS"],
  ["invariants", "scales", "navInvariants", "VIEW_OPERATIONS"],
  ["signals", "warn", "navSignals", "VIEW_PEOPLE"],
  ["audit", "shield", "navAudit", "VIEW_AUDIT"],
  ["pages", "list", "navPages", "MANAGE_PAGES"],
  ["team", "users", "navTeam", "MANAGE_TEAM"],
  ["keys", "code", "navKeys", "MANAGE_KEYS"],
];

/** Pages that belong to no event: a role that is limited to events doesn't reach them. */
const EVERYWHERE = ["venues", "reconciliation", "users", "simulation", "mailbox", "messages", "webhooks", "jobs", "invariants",
  "signals", "audit", "pages", "team", "keys"];

const isInside = () => ["ADMIN", "STAFF"].includes(user()?.role);

const maySee = ([address, , , permission]) =>
  may(permission) && !(user()?.team?.events && EVERYWHERE.includes(address));

/** The first page that the role reaches. */
const firstPage = () => MENU.find(maySee)?.[0] ?? "checkin";

const isOpen = (path) => path === "login" || path.startsWith("invitation/");

/** Only organisers see these views; the server enforces it too. */
const guarded = ROUTES.map(([pattern, view]) => [pattern, (page) => {
  if (!isInside() && !isOpen(page.path)) return page.login();
  if (page.path === "" && !may("VIEW_SALES")) return location.replace(`#/${firstPage()}`);
  return view(page);
}]);

const show = openPages({
  routes: guarded,
  home: "#/",
  login: "#/login",
  title: () => t("controlRoom"),
  onShow: showMenu,
});

function showMenu({ path }) {
  document.getElementById("skip").textContent = t("skip");
  document.body.classList.toggle("alone", !isInside());
  const section = path.split("/")[0].replace("live", "").replace("halls", "venues").replace("schedules", "events").replace("promises", "invariants");
  const link = ([address, picture, words]) =>
    el("a", { href: `#/${address}`, "aria-current": address === section ? "page" : null }, icon(picture), t(words));
  const others = [
    el("a", { href: "/docs" }, icon("code"), t("navDocs")),
    el("a", { href: "/" }, icon("back"), t("navFanPages")),
    el("button", { class: "link", type: "button", onclick: logout }, icon("door"), t("logout")),
  ];
  document.getElementById("nav").replaceChildren(...(isInside() ? [...MENU.filter(maySee).map(link), ...others] : [others[1]]));
  document.querySelector("#nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  const theme = document.getElementById("theme");
  theme.replaceChildren(icon("moon"), el("span", { class: "sr" }, t("theme")));
  for (const button of document.querySelectorAll("[data-language]")) {
    button.setAttribute("aria-pressed", String(button.dataset.language === language()));
  }
}

async function logout() {
  // Even if the request fails, this tab drops its session.
  await call("POST", "/api/auth/logout", { body: {} }).catch(() => null);
  end();
  location.hash = "#/login";
}

proveWith(reauth);
logInWith(logInHere);
startApp(words, show);

// The control room: selects the view for the address, draws the menu, and requires a login.

import { call, proveWith } from "../shared/app/api.js";
import { el, icon } from "../shared/ui/dom.js";
import { language, t } from "../shared/ui/i18n.js";
import { lazily, openPages } from "../shared/app/router.js";
import { end, user } from "../shared/app/session.js";
import { startApp } from "../shared/app/start.js";
import { reauth } from "./identity/reauth.js";

const ROUTES = [
  [/^$/, lazily(() => import("./waiting_room/live.js"), "live")],
  [/^live\/([\w-]+)$/, lazily(() => import("./waiting_room/live.js"), "live")],
  [/^live\/([\w-]+)\/admissions$/, lazily(() => import("./waiting_room/history.js"), "admissions")],
  [/^login$/, lazily(() => import("./identity/login.js"), "login")],
  [/^events$/, lazily(() => import("./catalog/events.js"), "eventList")],
  [/^events\/new$/, lazily(() => import("./catalog/wizard.js"), "eventWizard")],
  [/^events\/([\w-]+)$/, lazily(() => import("./catalog/event.js"), "eventDetail")],
  [/^venues$/, lazily(() => import("./catalog/venues.js"), "venueList")],
  [/^halls\/([\w-]+)$/, lazily(() => import("./catalog/plan.js"), "hallPlan")],
  [/^reservations$/, lazily(() => import("./payments/reservations.js"), "reservations")],
  [/^payments$/, lazily(() => import("./payments/payments.js"), "payments")],
  [/^refunds$/, lazily(() => import("./payments/refunds.js"), "refunds")],
  [/^reconciliation$/, lazily(() => import("./payments/reconciliation.js"), "reconciliation")],
  [/^users\/([0-9a-f-]{36})\/queue$/, lazily(() => import("./waiting_room/timeline.js"), "timeline")],
  [/^users$/, lazily(() => import("./identity/users.js"), "users")],
  [/^checkin$/, lazily(() => import("./tickets/checkin.js"), "checkIn")],
  [/^simulation$/, lazily(() => import("./operations/simulation.js"), "simulation")],
  [/^mailbox$/, lazily(() => import("./operations/system.js"), "mailbox")],
  [/^messages$/, lazily(() => import("./operations/system.js"), "messages")],
  [/^webhooks$/, lazily(() => import("./operations/webhooks.js"), "webhooks")],
  [/^webhooks\/([\w-]+)$/, lazily(() => import("./operations/webhooks.js"), "deliveries")],
  [/^jobs$/, lazily(() => import("./operations/system.js"), "jobs")],
  [/^promises$/, lazily(() => import("./operations/invariants.js"), "promises")],
  [/^signals$/, lazily(() => import("./operations/system.js"), "signals")],
  [/^audit$/, lazily(() => import("./operations/system.js"), "audit")],
];

const words = async (language) => (await (language === "ko" ? import("./words/ko.js") : import("./words/en.js"))).default;

/** The menu: address, icon, label. */
const MENU = [
  ["", "chart", "navLive"],
  ["events", "music", "navEvents"],
  ["venues", "building", "navVenues"],
  ["reservations", "ticket", "navReservations"],
  ["payments", "money", "navPayments"],
  ["refunds", "undo", "navRefunds"],
  ["reconciliation", "scales", "navReconciliation"],
  ["users", "users", "navUsers"],
  ["checkin", "scan", "navCheckIn"],
  ["simulation", "bolt", "navSimulation"],
  ["mailbox", "letter", "navMailbox"],
  ["messages", "send", "navMessages"],
  ["webhooks", "link", "navWebhooks"],
  ["jobs", "clock", "navJobs"],
  ["promises", "scales", "navPromises"],
  ["signals", "warn", "navSignals"],
  ["audit", "shield", "navAudit"],
];

/** STAFF can read everything except notifications, which contain codes; only ADMIN can write. */
const isInside = () => ["ADMIN", "STAFF"].includes(user()?.role);

const maySee = ([address]) => address !== "mailbox" || user()?.role === "ADMIN";

/** Only organisers see these views; the server enforces it too. */
const guarded = ROUTES.map(([pattern, view]) =>
  [pattern, (page) => (isInside() || page.path === "login" ? view(page) : page.login())]);

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
  const section = path.split("/")[0].replace("live", "").replace("halls", "venues");
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
startApp(words, show);

// The control room: picks the view for the address, draws the menu, asks who is there.

import { call, proveWith } from "../shared/api.js";
import { el, icon } from "../shared/dom.js";
import { language, t } from "../shared/i18n.js";
import { lazily, openPages } from "../shared/router.js";
import { end, user } from "../shared/session.js";
import { startApp } from "../shared/start.js";
import { reauth } from "./reauth.js";

const ROUTES = [
  [/^$/, lazily(() => import("./live.js"), "live")],
  [/^live\/([\w-]+)$/, lazily(() => import("./live.js"), "live")],
  [/^live\/([\w-]+)\/admissions$/, lazily(() => import("./history.js"), "admissions")],
  [/^login$/, lazily(() => import("./login.js"), "login")],
  [/^events$/, lazily(() => import("./events.js"), "eventList")],
  [/^events\/new$/, lazily(() => import("./events/wizard.js"), "eventWizard")],
  [/^events\/([\w-]+)$/, lazily(() => import("./events/detail.js"), "eventDetail")],
  [/^venues$/, lazily(() => import("./venues.js"), "venueList")],
  [/^halls\/([\w-]+)$/, lazily(() => import("./venues/plan.js"), "hallPlan")],
  [/^reservations$/, lazily(() => import("./reservations.js"), "reservations")],
  [/^payments$/, lazily(() => import("./payments.js"), "payments")],
  [/^refunds$/, lazily(() => import("./refunds.js"), "refunds")],
  [/^reconciliation$/, lazily(() => import("./reconciliation.js"), "reconciliation")],
  [/^users\/([0-9a-f-]{36})\/queue$/, lazily(() => import("./timeline.js"), "timeline")],
  [/^users$/, lazily(() => import("./users.js"), "users")],
  [/^checkin$/, lazily(() => import("./checkin.js"), "checkIn")],
  [/^simulation$/, lazily(() => import("./simulation.js"), "simulation")],
  [/^mailbox$/, lazily(() => import("./system.js"), "mailbox")],
  [/^messages$/, lazily(() => import("./system.js"), "messages")],
  [/^webhooks$/, lazily(() => import("./webhooks.js"), "webhooks")],
  [/^webhooks\/([\w-]+)$/, lazily(() => import("./webhooks.js"), "deliveries")],
  [/^jobs$/, lazily(() => import("./system.js"), "jobs")],
  [/^promises$/, lazily(() => import("./promises.js"), "promises")],
  [/^signals$/, lazily(() => import("./system.js"), "signals")],
  [/^audit$/, lazily(() => import("./system.js"), "audit")],
];

const words = async (language) => (await (language === "ko" ? import("./words/ko.js") : import("./words/en.js"))).default;

/** The menu: address, icon, words. */
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

/** Staff may look at everything but letters, which carry codes; only organisers change anything. */
const isInside = () => ["ADMIN", "STAFF"].includes(user()?.role);

const maySee = ([address]) => address !== "mailbox" || user()?.role === "ADMIN";

/** Nobody but organisers sees anything here; the server refuses them too. */
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
  // Whether or not the server hears it, this tab forgets.
  await call("POST", "/api/auth/logout", { body: {} }).catch(() => null);
  end();
  location.hash = "#/login";
}

proveWith(reauth);
startApp(words, show);

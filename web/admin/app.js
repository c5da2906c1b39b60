// The control room: picks the view for the address, draws the menu, asks who is there.

import { call } from "../shared/api.js";
import { el, icon } from "../shared/dom.js";
import { language, t } from "../shared/i18n.js";
import { openPages } from "../shared/router.js";
import { end, user } from "../shared/session.js";
import { startApp } from "../shared/start.js";
import { checkIn } from "./checkin.js";
import { eventList } from "./events.js";
import { eventDetail } from "./events/detail.js";
import { eventWizard } from "./events/wizard.js";
import { live } from "./live.js";
import { login } from "./login.js";
import { payments } from "./payments.js";
import { promises } from "./promises.js";
import { reconciliation } from "./reconciliation.js";
import { refunds } from "./refunds.js";
import { reservations } from "./reservations.js";
import { simulation } from "./simulation.js";
import { audit, jobs, mailbox, messages, signals } from "./system.js";
import { users } from "./users.js";
import { venueList } from "./venues.js";
import { hallPlan } from "./venues/plan.js";
import en from "./words/en.js";
import ko from "./words/ko.js";

const ROUTES = [
  [/^$/, live],
  [/^live\/([\w-]+)$/, live],
  [/^login$/, login],
  [/^events$/, eventList],
  [/^events\/new$/, eventWizard],
  [/^events\/([\w-]+)$/, eventDetail],
  [/^venues$/, venueList],
  [/^halls\/([\w-]+)$/, hallPlan],
  [/^reservations$/, reservations],
  [/^payments$/, payments],
  [/^refunds$/, refunds],
  [/^reconciliation$/, reconciliation],
  [/^users$/, users],
  [/^checkin$/, checkIn],
  [/^simulation$/, simulation],
  [/^mailbox$/, mailbox],
  [/^messages$/, messages],
  [/^jobs$/, jobs],
  [/^promises$/, promises],
  [/^signals$/, signals],
  [/^audit$/, audit],
];

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
  ["jobs", "clock", "navJobs"],
  ["promises", "scales", "navPromises"],
  ["signals", "warn", "navSignals"],
  ["audit", "shield", "navAudit"],
];

/** Staff may look at everything; the server lets only organisers change it. */
const isInside = () => ["ADMIN", "STAFF"].includes(user()?.role);

/** Nobody but organisers sees anything here; the server refuses them too. */
const guarded = ROUTES.map(([pattern, view]) =>
  [pattern, (page) => (view === login || isInside() ? view(page) : page.login())]);

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
    el("button", { class: "link", type: "button", onclick: logout }, t("logout")),
  ];
  document.getElementById("nav").replaceChildren(...(isInside() ? [...MENU.map(link), ...others] : [others[1]]));
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

startApp({ ko, en }, show);

// The control room: selects the view for the address, draws the menu, and requires a login.

import { call, logInWith, proveWith } from "../shared/app/api.js";
import { el, icon } from "../shared/ui/dom.js";
import { language, t } from "../shared/ui/i18n.js";
import { lazily, openPages } from "../shared/app/router.js";
import { end, may, user } from "../shared/app/session.js";
import { startApp } from "../shared/app/start.js";
import { logInHere } from "./identity/login.js";
import { reauth } from "./identity/reauth.js";
import { forgetLists } from "../gate/offline/store.js";
import { firstPage, menu } from "./shell/menu.js";
import { listenForShortcut, paletteButton } from "./shell/palette.js";

const ROUTES = [
  [/^$/, lazily(() => import("./waiting_room/live.js"), "live")],
  [/^live\/([\w-]+)$/, lazily(() => import("./waiting_room/live.js"), "live")],
  [/^live\/([\w-]+)\/admissions(?:\/(\d+))?$/, lazily(() => import("./waiting_room/history.js"), "admissions")],
  [/^live\/([\w-]+)\/report$/, lazily(() => import("./waiting_room/report.js"), "report")],
  [/^login$/, lazily(() => import("./identity/login.js"), "login")],
  [/^events$/, lazily(() => import("./catalog/events.js"), "eventList")],
  [/^events\/new$/, lazily(() => import("./catalog/wizard.js"), "eventWizard")],
  [/^events\/([\w-]+)$/, lazily(() => import("./catalog/event.js"), "eventDetail")],
  [/^schedules\/([\w-]+)\/phases$/, lazily(() => import("./catalog/phases/phases.js"), "phases")],
  [/^schedules\/([\w-]+)\/setup$/, lazily(() => import("./catalog/phases/setup.js"), "setup")],
  [/^schedules\/([\w-]+)\/pricing$/, lazily(() => import("./catalog/pricing.js"), "pricing")],
  [/^schedules\/([\w-]+)\/allocations$/, lazily(() => import("./catalog/seats/allocations.js"), "allocations")],
  [/^schedules\/([\w-]+)\/boxoffice$/, lazily(() => import("./catalog/seats/box_office.js"), "boxOffice")],
  [/^schedules\/([\w-]+)\/reseat$/, lazily(() => import("./catalog/seats/reseat.js"), "reseat")],
  [/^venues$/, lazily(() => import("./catalog/venues.js"), "venueList")],
  [/^halls\/([\w-]+)\/gates$/, lazily(() => import("./catalog/hall/gates.js"), "hallGates")],
  [/^halls\/([\w-]+)$/, lazily(() => import("./catalog/hall/plan.js"), "hallPlan")],
  [/^reservations(?:\/([\w-]+))?$/, lazily(() => import("./payments/reservations.js"), "reservations")],
  [/^payments(?:\/([\w-]+))?$/, lazily(() => import("./payments/payments.js"), "payments")],
  [/^refunds$/, lazily(() => import("./payments/refunds.js"), "refunds")],
  [/^events\/([\w-]+)\/settlement$/, lazily(() => import("./payments/settlement.js"), "settlement")],
  [/^reconciliation$/, lazily(() => import("./payments/reconciliation.js"), "reconciliation")],
  [/^users\/([0-9a-f-]{36})\/queue$/, lazily(() => import("./waiting_room/timeline.js"), "timeline")],
  [/^team$/, lazily(() => import("./identity/team.js"), "team")],
  [/^pages$/, lazily(() => import("./identity/pages.js"), "pages")],
  [/^keys$/, lazily(() => import("./identity/keys.js"), "keys")],
  [/^invitation\/([\w-]+)$/, lazily(() => import("./identity/invitation.js"), "invitation")],
  [/^support$/, lazily(() => import("./support/search.js"), "search")],
  [/^support\/people\/([0-9a-f-]{36})$/, lazily(() => import("./support/person.js"), "person")],
  [/^support\/bookings\/([0-9a-f-]{36})$/, lazily(() => import("./support/booking.js"), "booking")],
  [/^users(?:\/([\w-]+))?$/, lazily(() => import("./identity/users.js"), "users")],
  [/^checkin$/, () => location.assign("/gate/")],
  [/^simulation$/, lazily(() => import("./operations/simulation.js"), "simulation")],
  [/^mailbox(?:\/([\w-]+))?$/, lazily(() => import("./operations/system.js"), "mailbox")],
  [/^templates$/, lazily(() => import("./operations/mail_templates.js"), "mailTemplates")],
  [/^messages(?:\/([\w-]+))?$/, lazily(() => import("./operations/system.js"), "messages")],
  [/^webhooks$/, lazily(() => import("./operations/webhooks.js"), "webhooks")],
  [/^webhooks\/([\w-]+)$/, lazily(() => import("./operations/webhooks.js"), "deliveries")],
  [/^jobs$/, lazily(() => import("./operations/jobs.js"), "jobs")],
  // Its address until 0.1, for bookmarks.
  [/^(?:invariants|promises)$/, lazily(() => import("./operations/invariants.js"), "invariants")],
  [/^signals(?:\/([\w-]+))?$/, lazily(() => import("./operations/system.js"), "signals")],
  [/^audit(?:\/([\w-]+))?$/, lazily(() => import("./operations/system.js"), "audit")],
];

const words = async (language) => (await (language === "ko" ? import("./words/ko.js") : import("./words/en.js"))).default;

const isInside = () => ["ADMIN", "STAFF"].includes(user()?.role);

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
  const others = [
    el("a", { href: "/docs" }, icon("code"), t("navDocs")),
    el("a", { href: "/" }, icon("back"), t("navFanPages")),
    el("button", { class: "link", type: "button", onclick: logout }, icon("door"), t("logout")),
  ];
  const entries = isInside() ? [paletteButton(), ...menu(path), el("div", { class: "nav-group" }, others)] : [others[1]];
  document.getElementById("nav").replaceChildren(...entries.filter(Boolean));
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
  // The same person may have opened a gate in this browser.
  await forgetLists().catch(() => null);
  location.hash = "#/login";
}

listenForShortcut(isInside);
proveWith(reauth);
logInWith(logInHere);
startApp(words, show);

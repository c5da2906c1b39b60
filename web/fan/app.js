// The fan's page: selects the view for the address, and draws the language and the login in the
// header.

import { call } from "../shared/app/api.js";
import { el, icon } from "../shared/ui/dom.js";
import { language, t } from "../shared/ui/i18n.js";
import { lazily, openPages } from "../shared/app/router.js";
import { end, user } from "../shared/app/session.js";
import { startApp } from "../shared/app/start.js";
import { forgetTickets } from "./tickets/offline.js";
import { showFooter } from "./identity/legal.js";

const ROUTES = [
  [/^$/, lazily(() => import("./catalog/events.js"), "eventList")],
  [/^events\/([\w-]+)$/, lazily(() => import("./catalog/event.js"), "eventDetail")],
  [/^(terms|privacy|business)$/, lazily(() => import("./identity/legal.js"), "legalPage")],
  [/^reset(?:\/([\w-]+))?$/, lazily(() => import("./identity/reset.js"), "reset")],
  [/^login$/, lazily(() => import("./identity/login.js"), "login")],
  [/^queue\/([\w-]+)$/, lazily(() => import("./waiting_room/queue.js"), "waitingRoom")],
  [/^seats\/([\w-]+)$/, lazily(() => import("./booking/seats.js"), "seatMap")],
  [/^checkout\/([\w-]+)$/, lazily(() => import("./payments/checkout.js"), "checkout")],
  [/^paid\/([\w-]+)$/, lazily(() => import("./payments/paid.js"), "paid")],
  [/^receipt\/([\w-]+)$/, lazily(() => import("./payments/receipt.js"), "receipt")],
  [/^refund-account\/([\w-]+)$/, lazily(() => import("./payments/deposit.js"), "refundAccount")],
  [/^claim\/([\w-]+)$/, lazily(() => import("./tickets/claim.js"), "claim")],
  [/^tickets$/, lazily(() => import("./tickets/tickets.js"), "tickets")],
  [/^tickets\/([\w-]+)\/full$/, lazily(() => import("./tickets/full.js"), "fullTicket")],
  [/^tickets\/([\w-]+)$/, lazily(() => import("./tickets/print.js"), "printTicket")],
  [/^identity$/, lazily(() => import("./identity/verification.js"), "identity")],
  [/^identity\/([\w.%-]+)$/, lazily(() => import("./identity/verification.js"), "identityReturn")],
  [/^unsubscribe\/([\w-]+)$/, lazily(() => import("./identity/unsubscribe.js"), "unsubscribe")],
  [/^me$/, lazily(() => import("./identity/me.js"), "me")],
];

const WORDS = {
  ko: () => import("./words/ko.js"),
  en: () => import("./words/en.js"),
  ja: () => import("./words/ja.js"),
  zh: () => import("./words/zh.js"),
};

/** Maps the addresses of the no-JavaScript pages to views. */
function adoptPlainAddress() {
  const plain = location.pathname.match(/^\/(events|queue)\/([\w-]+)$/) ?? location.pathname.match(/^\/(tickets|terms|privacy|business)$/);
  if (plain && !location.hash) history.replaceState(null, "", `/#/${plain.slice(1).join("/")}`);
}

/** A failed social login returns to the home page; the login page shows why. */
function adoptReturn() {
  if (new URLSearchParams(location.search).has("problem") && !location.hash) history.replaceState(null, "", `${location.search}#/login`);
}

adoptPlainAddress();
adoptReturn();
const show = openPages({ routes: ROUTES, home: "#/", login: "#/login", title: () => "podo", onShow: showHeader });

function showHeader({ path }) {
  document.getElementById("skip").textContent = t("skip");
  document.body.dataset.page = path.split("/")[0];
  const link = (address, words) =>
    el("a", { href: `#/${address}`, "aria-current": path === address ? "page" : null }, t(words));
  const who = user()
    ? [link("me", "me"), el("button", { class: "link", type: "button", onclick: logout }, t("logout"))]
    : [link("login", "login")];
  document.getElementById("nav").replaceChildren(link("", "events"), link("tickets", "myTickets"), ...who);
  document.getElementById("theme").replaceChildren(icon("moon"), el("span", { class: "sr" }, t("theme")));
  document.getElementById("languages").value = language();
  showFooter();
}

async function logout() {
  // Even if the request fails, this tab drops its session.
  await call("POST", "/api/auth/logout", { body: {} }).catch(() => null);
  end();
  forgetTickets();
  location.hash = "#/";
  show();
}

startApp(async (language) => (await WORDS[language]()).default, show, Object.keys(WORDS));

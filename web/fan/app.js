// The fan's page: picks the view for the address, the language and the login in the header.

import { call } from "../shared/api.js";
import { el, icon } from "../shared/dom.js";
import { language, t } from "../shared/i18n.js";
import { lazily, openPages } from "../shared/router.js";
import { end, user } from "../shared/session.js";
import { startApp } from "../shared/start.js";

const ROUTES = [
  [/^$/, lazily(() => import("./events.js"), "eventList")],
  [/^events\/([\w-]+)$/, lazily(() => import("./event.js"), "eventDetail")],
  [/^login$/, lazily(() => import("./login.js"), "login")],
  [/^queue\/([\w-]+)$/, lazily(() => import("./queue.js"), "waitingRoom")],
  [/^seats\/([\w-]+)$/, lazily(() => import("./seats.js"), "seatMap")],
  [/^checkout\/([\w-]+)$/, lazily(() => import("./checkout.js"), "checkout")],
  [/^paid\/([\w-]+)$/, lazily(() => import("./paid.js"), "paid")],
  [/^tickets$/, lazily(() => import("./tickets.js"), "tickets")],
  [/^tickets\/([\w-]+)$/, lazily(() => import("./tickets/print.js"), "printTicket")],
  [/^identity$/, lazily(() => import("./identity.js"), "identity")],
  [/^identity\/([\w.%-]+)$/, lazily(() => import("./identity.js"), "identityReturn")],
  [/^me$/, lazily(() => import("./me.js"), "me")],
];

const words = async (language) => (await (language === "ko" ? import("./words/ko.js") : import("./words/en.js"))).default;

/** Addresses of the pages that need no scripts lead to the same places here. */
function adoptPlainAddress() {
  const plain = location.pathname.match(/^\/(events|queue)\/([\w-]+)$/) ?? location.pathname.match(/^\/(tickets)$/);
  if (plain && !location.hash) history.replaceState(null, "", `/#/${plain.slice(1).join("/")}`);
}

/** Another service's log-in that failed comes back to the first page: the log-in page says why. */
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
  for (const button of document.querySelectorAll("[data-language]")) {
    button.setAttribute("aria-pressed", String(button.dataset.language === language()));
  }
}

async function logout() {
  // Whether or not the server hears it, this tab forgets.
  await call("POST", "/api/auth/logout", { body: {} }).catch(() => null);
  end();
  location.hash = "#/";
  show();
}

startApp(words, show);

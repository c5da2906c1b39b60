// The fan's page: picks the view for the address, the language and the login in the header.

import { call } from "../shared/api.js";
import { el, icon } from "../shared/dom.js";
import { language, t } from "../shared/i18n.js";
import { openPages } from "../shared/router.js";
import { end, user } from "../shared/session.js";
import { startApp } from "../shared/start.js";
import { checkout } from "./checkout.js";
import { eventDetail } from "./event.js";
import { eventList } from "./events.js";
import { login } from "./login.js";
import { me } from "./me.js";
import { paid } from "./paid.js";
import { waitingRoom } from "./queue.js";
import { seatMap } from "./seats.js";
import { tickets } from "./tickets.js";
import { printTicket } from "./tickets/print.js";
import en from "./words/en.js";
import ko from "./words/ko.js";

const ROUTES = [
  [/^$/, eventList],
  [/^events\/([\w-]+)$/, eventDetail],
  [/^login$/, login],
  [/^queue\/([\w-]+)$/, waitingRoom],
  [/^seats\/([\w-]+)$/, seatMap],
  [/^checkout\/([\w-]+)$/, checkout],
  [/^paid\/([\w-]+)$/, paid],
  [/^tickets$/, tickets],
  [/^tickets\/([\w-]+)$/, printTicket],
  [/^me$/, me],
];

const show = openPages({ routes: ROUTES, home: "#/", login: "#/login", title: () => "podo", onShow: showHeader });

function showHeader({ path }) {
  document.getElementById("skip").textContent = t("skip");
  document.body.dataset.page = path.split("/")[0];
  const link = (address, words) =>
    el("a", { href: `#/${address}`, "aria-current": path === address ? "page" : null }, t(words));
  const who = user()
    ? [link("me", "me"), el("button", { class: "link", type: "button", onclick: logout }, t("logout"))]
    : [link("login", "login")];
  document.getElementById("nav").replaceChildren(link("tickets", "myTickets"), ...who);
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
startApp({ ko, en }, show);

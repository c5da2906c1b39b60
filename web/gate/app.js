// The gate: a steward picks the show and the gate, then scans. Works without a network.

import { el, icon } from "../shared/ui/dom.js";
import { language, t } from "../shared/ui/i18n.js";
import { lazily, openPages } from "../shared/app/router.js";
import { isLoggedIn, user } from "../shared/app/session.js";
import { startApp } from "../shared/app/start.js";

// The service worker controls only addresses below /gate/.
if (location.pathname === "/gate") location.replace(`/gate/${location.hash}`);
else if ("serviceWorker" in navigator) navigator.serviceWorker.register("/gate/worker.js").catch(() => null);

const ROUTES = [
  [/^$/, lazily(() => import("./shows.js"), "shows")],
  [/^login$/, lazily(() => import("./login.js"), "login")],
  [/^scan\/([\w-]+)$/, lazily(() => import("./scan.js"), "scan")],
];

const words = async (language) => (await (language === "ko" ? import("./words/ko.js") : import("./words/en.js"))).default;

/** A device without a network keeps scanning with the list that it has. */
const mayEnter = () => (isLoggedIn() ? user().role !== "USER" : !navigator.onLine);

const guarded = ROUTES.map(([pattern, view]) =>
  [pattern, (page) => (mayEnter() || page.path === "login" ? view(page) : page.login())]);

const show = openPages({ routes: guarded, home: "#/", login: "#/login", title: () => t("gate"), onShow: showBar });

function showBar() {
  document.getElementById("skip").textContent = t("skip");
  document.getElementById("where").replaceChildren();
  document.getElementById("theme").replaceChildren(icon("moon"), el("span", { class: "sr" }, t("theme")));
  for (const button of document.querySelectorAll("[data-language]")) {
    button.setAttribute("aria-pressed", String(button.dataset.language === language()));
  }
}

startApp(words, show);

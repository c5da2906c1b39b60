// The gate: a steward picks the show and the gate, then scans. Works without a network.

import { call } from "../shared/app/api.js";
import { every } from "../shared/app/clock.js";
import { ask } from "../shared/ui/dialog.js";
import { el, icon } from "../shared/ui/dom.js";
import { language, t } from "../shared/ui/i18n.js";
import { lazily, openPages } from "../shared/app/router.js";
import { end, isLoggedIn, mayComeBack, user } from "../shared/app/session.js";
import { startApp } from "../shared/app/start.js";
import { gateNow } from "./offline/clock.js";
import { forgetLists, forgetOver, scansOf } from "./offline/store.js";

const FORGET_EVERY_MS = 60_000;

const ROUTES = [
  [/^$/, lazily(() => import("./shows.js"), "shows")],
  [/^login$/, lazily(() => import("./login.js"), "login")],
  [/^scan\/([\w-]+)$/, lazily(() => import("./scan.js"), "scan")],
];

const words = async (language) => (await (language === "ko" ? import("./words/ko.js") : import("./words/en.js"))).default;

/**
 * A device without a network keeps scanning with the list that it has, and so does one whose server
 * can't be reached to restore the login.
 */
const mayEnter = () => (isLoggedIn() ? user().role !== "USER" : mayComeBack() || !navigator.onLine);

const guarded = ROUTES.map(([pattern, view]) =>
  [pattern, (page) => (mayEnter() || page.path === "login" ? view(page) : page.login())]);

const show = openPages({ routes: guarded, home: "#/", login: "#/login", title: () => t("gate"), onShow: showBar });

function showBar() {
  document.getElementById("skip").textContent = t("skip");
  document.getElementById("where").replaceChildren();
  document.getElementById("theme").replaceChildren(icon("moon"), el("span", { class: "sr" }, t("theme")));
  const leave = document.getElementById("leave");
  leave.textContent = t("logout");
  leave.hidden = !isLoggedIn();
  for (const button of document.querySelectorAll("[data-language]")) {
    button.setAttribute("aria-pressed", String(button.dataset.language === language()));
  }
}

/** Logging out deletes the lists. Scans that aren't sent yet stay for the next login on this device. */
async function logOut() {
  const unsent = (await scansOf()).length;
  const isSure = !unsent || await ask({ title: t("logout"), content: el("p", {}, t("logoutUnsent", unsent)), yes: t("logout"), isDanger: true });
  if (!isSure) return;
  await call("POST", "/api/auth/logout", { body: {}, isQuiet: true }).catch(() => null);
  end();
  await forgetLists();
  location.hash = "#/login";
}

/** The server refused to restore the login: the list isn't this person's any more, as far as it knows. */
async function forgetForeign() {
  if (!isLoggedIn() && !mayComeBack() && navigator.onLine) await forgetLists();
}

/**
 * The worker keeps what pages fetch, but this page was loaded before it existed. Everything that a
 * gate needs is fetched once more, so that a reload works without a network.
 */
async function keepPage() {
  if (!("serviceWorker" in navigator) || !window.caches) return;
  await navigator.serviceWorker.register("/gate/worker.js");
  await navigator.serviceWorker.ready;
  await Promise.all([...ROUTES.map(([, view]) => view.load()), import("../vendor/qr/decode.js"), import("./words/ko.js"), import("./words/en.js")]);
  const loaded = performance.getEntriesByType("resource").map(({ name }) => new URL(name));
  const files = loaded.filter(({ origin, pathname }) => origin === location.origin && !pathname.startsWith("/api/"));
  const cache = await caches.open("podo-gate-1");
  await cache.addAll(["/gate/", ...new Set(files.map(({ pathname }) => pathname))]);
}

// The service worker controls only addresses below /gate/.
if (location.pathname === "/gate") location.replace(`/gate/${location.hash}`);
else {
  document.getElementById("leave").addEventListener("click", logOut);
  every(FORGET_EVERY_MS, new AbortController().signal, () => forgetOver(gateNow()).catch(() => null));
  startApp(words, show).then(forgetForeign).then(keepPage).catch(() => null);
}

// The fan's page: picks the view for the address, the language and the login in the header.

import { call, Problem, refresh } from "../shared/api.js";
import { el } from "../shared/dom.js";
import { language, setLanguage, t, useWords } from "../shared/i18n.js";
import { end, mayComeBack, user } from "../shared/session.js";
import { checkout } from "./checkout.js";
import { eventDetail, eventList } from "./events.js";
import { login } from "./login.js";
import { paid } from "./paid.js";
import { waitingRoom } from "./queue.js";
import { seatMap } from "./seats.js";
import { tickets } from "./tickets.js";
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
];

const main = document.getElementById("main");
let leave = new AbortController();

async function show({ isFirst = false } = {}) {
  leave.abort(new DOMException("the page was left", "AbortError"));
  leave = new AbortController();
  const page = openPage(leave.signal);
  main.className = "";
  main.replaceChildren(el("p", { class: "quiet", role: "status" }, t("loading")));
  showHeader();
  try {
    await page.view(page);
    const heading = main.querySelector("h1");
    if (heading) document.title = `${heading.textContent} — podo`;
    // A screen reader hears where it is now; on the first page it does so by itself.
    if (heading && !isFirst) {
      heading.tabIndex = -1;
      heading.focus();
    }
  } catch (error) {
    page.fail(error);
  }
}

/** What a view gets: where to draw, what was asked for, when to stop, where to go next. */
function openPage(signal) {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const found = ROUTES.map(([pattern, view]) => [path.match(pattern), view]).find(([match]) => match);
  return {
    main,
    signal,
    view: found?.[1] ?? notFound,
    id: found?.[0][1],
    query: new URLSearchParams(query),
    go: (hash) => (signal.aborted ? null : location.assign(hash)),
    again: () => (signal.aborted ? null : show()),
    login: toLogin,
    fail: (error) => (signal.aborted ? null : showFailure(error)),
  };
}

function notFound({ main }) {
  main.replaceChildren(el("h1", {}, t("notFound")), el("p", {}, el("a", { href: "#/" }, t("toEvents"))));
}

function showFailure(error) {
  if (error.name === "AbortError") return;
  if (error instanceof Problem && error.status === 401) {
    toLogin();
    return;
  }
  if (!(error instanceof Problem)) console.error(error);
  const text = error instanceof Problem ? error.message : t("troubleUnknown");
  main.className = "narrow";
  main.replaceChildren(
    el("div", { class: "card pad stack" },
      el("h1", {}, t("troubleTitle")),
      el("p", { class: "note danger", role: "alert" }, text),
      el("div", { class: "row" },
        el("button", { class: "btn", type: "button", onclick: () => show() }, t("tryAgain")),
        el("a", { class: "btn", href: "#/" }, t("toEvents")))));
}

/** Back to where they were, as soon as we know who they are. */
function toLogin() {
  location.replace(`#/login?next=${encodeURIComponent(location.hash)}`);
}

function showHeader() {
  const skip = document.getElementById("skip");
  skip.textContent = t("skip");
  const who = user()
    ? el("button", { class: "link", type: "button", onclick: logout }, t("logout"))
    : el("a", { href: "#/login" }, t("login"));
  document.getElementById("nav").replaceChildren(el("a", { href: "#/tickets" }, t("myTickets")), who);
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

async function start() {
  useWords({ ko, en });
  for (const button of document.querySelectorAll("[data-language]")) {
    button.addEventListener("click", () => {
      setLanguage(button.dataset.language);
      show();
    });
  }
  document.getElementById("skip").addEventListener("click", (event) => {
    // The address belongs to the router.
    event.preventDefault();
    main.focus();
  });
  if (mayComeBack()) await refresh().catch(() => null);
  window.addEventListener("hashchange", () => show());
  await show({ isFirst: true });
}

start();

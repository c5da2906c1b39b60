// One page at a time: selects the view for the address after `#`, shows errors, moves the focus.

import { Problem } from "./api.js";
import { el } from "../ui/dom.js";
import { usePlace } from "../ui/format.js";
import { t } from "../ui/i18n.js";

let leave = new AbortController();

/**
 * The last address that the user navigated to, by a link or through a view. Any other change of the
 * address may come from another site's page.
 */
let asked = null;

/** A view that is loaded on its first visit. */
export function lazily(load, name) {
  return Object.assign(async (page) => (await load())[name](page), { load });
}

/**
 * `routes` are pairs of a pattern and a view; `onShow` draws the frame of the page; `home` is the
 * address of the way back, `login` that of the login page.
 */
export function openPages({ routes, onShow, home, login, title }) {
  const main = document.getElementById("main");
  let hasBegun = false;

  async function show({ isFirst = false, isAsked = asked === location.hash } = {}) {
    hasBegun = true;
    asked = null;
    leave.abort(new DOMException("the page was left", "AbortError"));
    leave = new AbortController();
    const page = openPage(leave.signal, isAsked);
    usePlace();
    main.className = "";
    main.replaceChildren(el("p", { class: "quiet loading", role: "status" }, t("loading")));
    onShow(page);
    try {
      await page.view(page);
      afterShow(isFirst);
    } catch (error) {
      page.fail(error);
    }
  }

  function afterShow(isFirst) {
    const heading = main.querySelector("h1");
    if (!heading) return;
    document.title = `${heading.textContent} — ${title()}`;
    // Makes screen readers announce the new page; they announce the first one by themselves.
    if (isFirst) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  /**
   * What a view gets: its container, its parameters, an abort signal, and navigation. `isAsked` is
   * true if the user navigated here, and false if it may have been another site's link or script.
   */
  function openPage(signal, isAsked) {
    const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
    const found = routes.map(([pattern, view]) => [path.match(pattern), view]).find(([match]) => match);
    return {
      main,
      signal,
      isAsked,
      path,
      view: found?.[1] ?? notFound,
      id: found?.[0][1],
      /** A row of the list at `id`. */
      row: found?.[0][2],
      query: new URLSearchParams(query),
      go: (hash) => (signal.aborted ? null : goTo(hash)),
      again: () => (signal.aborted ? null : show({ isAsked: true })),
      login: toLogin,
      fail: (error) => (signal.aborted ? null : showFailure(error, isAsked)),
    };
  }

  function goTo(hash) {
    asked = hash;
    location.assign(hash);
  }

  function notFound() {
    main.className = "narrow";
    main.replaceChildren(
      el("div", { class: "card pad stack" },
        el("h1", {}, t("notFound")),
        el("p", {}, el("a", { class: "btn", href: home }, t("toStart")))));
  }

  function showFailure(error, isAsked) {
    if (error.name === "AbortError") return;
    if (error instanceof Problem && error.status === 401) return toLogin();
    if (error instanceof Problem && error.status === 404) return notFound();
    if (!(error instanceof Problem)) console.error(error);
    const text = error instanceof Problem ? error.message : t("troubleUnknown");
    main.className = "narrow";
    main.replaceChildren(
      el("div", { class: "card pad stack" },
        el("h1", {}, t("troubleTitle")),
        el("p", { class: "note danger", role: "alert" }, text),
        el("div", { class: "row" },
          el("button", { class: "btn", type: "button", onclick: () => show({ isAsked }) }, t("tryAgain")),
          el("a", { class: "btn", href: home }, t("toStart")))));
  }

  /** Returns to the current page after the login. */
  function toLogin() {
    location.replace(`${login}?next=${encodeURIComponent(location.hash)}`);
  }

  // The first view is still loading its texts, and reads the address itself.
  window.addEventListener("hashchange", () => (hasBegun ? show() : null));
  window.addEventListener("click", ({ isTrusted, target }) => {
    const link = target.closest?.('a[href^="#"]');
    if (isTrusted && link) asked = link.getAttribute("href");
  }, { capture: true });
  // Loads the first view in parallel with texts and login.
  openPage(leave.signal, false).view.load?.();
  return show;
}

/** Only addresses within this page, because the link may come from anywhere. */
export function safeHash(next) {
  return next?.startsWith("#/") ? next : "#/";
}

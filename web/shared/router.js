// One page at a time: picks the view for the address behind `#`, shows trouble, moves the focus.

import { Problem } from "./api.js";
import { el } from "./dom.js";
import { t } from "./i18n.js";

let leave = new AbortController();

/** The address that the person on this page asked for last: by pressing a link, or by what a view did
 * for them. Any other change of the address may come from a page of another site. */
let asked = null;

/** A view whose parts are loaded when somebody goes there. */
export function lazily(load, name) {
  return Object.assign(async (page) => (await load())[name](page), { load });
}

/**
 * `routes` are pairs of a pattern and a view; `onShow` draws what is around the page; `home` is
 * where the way back leads, `login` where people say who they are.
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
    main.className = "";
    main.replaceChildren(el("p", { class: "quiet", role: "status" }, t("loading")));
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
    // A screen reader hears where it is now; on the first page it does so by itself.
    if (isFirst) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  /** What a view gets: where to draw, what was asked for, when to stop, where to go next. `isAsked` says
   * whether the person on this page asked for it, or only a link or a script of another site did. */
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

  /** Back to where they were, as soon as we know who they are. */
  function toLogin() {
    location.replace(`${login}?next=${encodeURIComponent(location.hash)}`);
  }

  // Until the words are there, the first view is on its way: it reads the address when it comes.
  window.addEventListener("hashchange", () => (hasBegun ? show() : null));
  window.addEventListener("click", ({ isTrusted, target }) => {
    const link = target.closest?.('a[href^="#"]');
    if (isTrusted && link) asked = link.getAttribute("href");
  }, { capture: true });
  // The first view is asked for while words and login are on their way.
  openPage(leave.signal, false).view.load?.();
  return show;
}

/** Only addresses within this page: the link may have come from anywhere. */
export function safeHash(next) {
  return next?.startsWith("#/") ? next : "#/";
}

// The API reference, rendered from this server's OpenAPI document without any external request.

import { get } from "../shared/app/api.js";
import { announce, el, icon } from "../shared/ui/dom.js";
import { language, t } from "../shared/ui/i18n.js";
import { startApp } from "../shared/app/start.js";
import { nameOf, operationCard } from "./operation.js";

/** In the order of use. */
const TAGS = ["accounts", "catalog", "queue", "booking", "payment", "wallet", "tickets", "admin"];
const METHODS = ["get", "post", "put", "patch", "delete"];

let spec = null;
let asked = "";

async function show() {
  const main = document.getElementById("main");
  drawHeader();
  try {
    spec ??= await get("/api/openapi.json", { isPublic: true, cache: "default" });
    draw(main);
  } catch (error) {
    main.replaceChildren(el("h1", {}, t("title")), el("p", { class: "note danger", role: "alert" }, error.message));
  }
}

function drawHeader() {
  document.getElementById("skip").textContent = t("skip");
  document.title = t("title");
  document.getElementById("theme").replaceChildren(icon("moon"), el("span", { class: "sr" }, t("theme")));
  document.getElementById("links").replaceChildren(
    el("a", { href: "/api/openapi.json" }, "OpenAPI"),
    el("a", { href: "/problems" }, t("problems")),
    el("a", { href: "/admin" }, t("controlRoom")));
  for (const button of document.querySelectorAll("[data-language]")) {
    button.setAttribute("aria-pressed", String(button.dataset.language === language()));
  }
}

/** Every call with its search terms. */
function operations() {
  return Object.entries(spec.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => {
      const operation = item[method];
      const text = `${method} ${path} ${operation.summary ?? ""} ${operation.description ?? ""} ${t("call", nameOf(method, path))}`;
      return { path, method, operation, id: `${method}${path.replace(/[^\w]+/g, "-")}`, tag: operation.tags?.[0] ?? "other", text: text.toLowerCase() };
    }));
}

function draw(main) {
  const all = operations();
  const tags = [...TAGS, ...new Set(all.map(({ tag }) => tag).filter((tag) => !TAGS.includes(tag)))];
  const groups = tags.map((tag) => group(tag, all.filter((it) => it.tag === tag)));
  const nothing = el("p", { class: "card pad quiet", hidden: true }, t("nothing"));
  const box = el("input", { type: "search", class: "search", placeholder: t("search"), "aria-label": t("search"), value: asked, autocomplete: "off" });
  const filter = () => {
    asked = box.value;
    const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
    const n = groups.reduce((sum, it) => sum + it.filter(words), 0);
    nothing.hidden = 0 < n;
    if (words.length) announce(t("found", n));
  };
  box.addEventListener("input", filter);
  document.getElementById("contents").replaceChildren(...groups.map(({ link }) => link));
  main.replaceChildren(
    el("div", { class: "intro stack" },
      el("h1", {}, t("title"), " ", el("small", { class: "badge num" }, `v${spec.info.version}`)),
      el("p", { class: "quiet" }, t("about", all.length)),
      basics(),
      box),
    nothing,
    ...groups.map(({ element }) => element));
  filter();
  openNamed();
}

function basics() {
  const line = (title, ...words) => el("li", {}, el("b", {}, title), el("span", {}, ...words));
  return el("ul", { class: "basics card pad" },
    line(t("auth"), t("authWords"), " ", el("code", {}, "Authorization: Bearer …")),
    line(t("keys"), t("keysWords"), " ", el("code", {}, "Idempotency-Key")),
    line(t("errors"), t("errorsWords"), " ", el("a", { href: "/problems" }, "/problems")),
    line(t("values"), t("valuesWords")));
}

function group(tag, items) {
  const cards = items.map((it) => ({ ...it, card: operationCard(spec, it) }));
  const n = el("small", { class: "num" }, String(items.length));
  const link = el("a", { href: `#${tag}` }, t("tag", tag), n);
  const element = el("section", { class: "stack", "aria-labelledby": tag },
    el("h2", { id: tag }, t("tag", tag)),
    el("p", { class: "quiet" }, t("tagWords", tag)),
    el("div", { class: "stack tight" }, cards.map(({ card }) => card)));
  return {
    element,
    link,
    filter(words) {
      const found = cards.filter(({ card, text }) => {
        card.hidden = !words.every((word) => text.includes(word));
        return !card.hidden;
      });
      n.textContent = String(found.length);
      element.hidden = link.hidden = found.length === 0;
      return found.length;
    },
  };
}

/** If the address names a call, opens it and scrolls to it. */
function openNamed() {
  const named = location.hash.length < 2 ? null : document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!named) return;
  if (named.localName === "details") named.open = true;
  named.scrollIntoView();
}

window.addEventListener("hashchange", openNamed);
startApp(async (language) => (await (language === "ko" ? import("./words/ko.js") : import("./words/en.js"))).default, show);

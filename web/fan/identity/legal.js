// The organiser's legal pages: links in the footer, and the boxes of the sign-up form.

import { answered, get } from "../../shared/app/api.js";
import { el } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";

const ORDER = ["TERMS", "PRIVACY", "BUSINESS"];

let published = null;

/** The published pages; read once per visit. */
export function legalPages() {
  published ??= get("/api/auth/pages", { isPublic: true }).then(inOrder).catch(() => {
    published = null;
    return [];
  });
  return published;
}

const inOrder = ({ items }) => items.toSorted((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind));

/** Draws the footer, if the organiser has published a page. */
export async function showFooter() {
  const footer = document.getElementById("footer");
  const pages = await legalPages();
  const note = t("machineMade");
  footer.hidden = pages.length === 0 && !note;
  footer.replaceChildren(...pages.map(({ kind, path }) => el("a", { href: `/#${path}` }, t(`page${kind}`))), ...(note ? [el("small", {}, note)] : []));
  footer.setAttribute("aria-label", t("footer"));
}

/** One box for all the others; it follows them. */
function allBox(inputs) {
  const all = el("input", { type: "checkbox", name: "all" });
  all.addEventListener("change", () => inputs.forEach((input) => (input.checked = all.checked)));
  for (const input of inputs) {
    input.addEventListener("change", () => {
      const n = inputs.filter((it) => it.checked).length;
      all.checked = n === inputs.length;
      all.indeterminate = 0 < n && n < inputs.length;
    });
  }
  return el("label", { class: "choice all" }, all, el("b", {}, t("consentAll")));
}

/** The boxes, if there is something to agree to; `read` returns null while a required one is empty. */
export function consentBoxes() {
  const element = el("div", { class: "stack tight", hidden: true });
  const boxes = [];
  const add = (name, isRequired, ...label) => {
    const input = el("input", { type: "checkbox", name, required: isRequired });
    boxes.push({ name, isRequired, input });
    element.append(el("label", { class: "choice" }, input, el("span", {}, label)));
  };
  legalPages().then((pages) => {
    const asked = pages.filter(({ kind }) => kind !== "BUSINESS");
    if (!asked.length) return;
    for (const { kind, path } of asked) {
      add(kind.toLowerCase(), true, t("consentTo", t(`page${kind}`)), " ", el("a", { href: path, target: "_blank", rel: "noopener" }, "↗", el("span", { class: "sr" }, t(`page${kind}`))));
    }
    add("age", true, t("consentAge"));
    add("marketing", false, t("consentMarketing"));
    element.prepend(allBox(boxes.map(({ input }) => input)));
    element.hidden = false;
  });
  return {
    element,
    read() {
      if (boxes.some(({ isRequired, input }) => isRequired && !input.checked)) return null;
      return Object.fromEntries(boxes.map(({ name, input }) => [name, input.checked]));
    },
  };
}

/** A legal page. The server renders its Markdown and removes what could harm. */
export async function legalPage(page) {
  const response = await answered("GET", `/${page.id}`, { isPublic: true, signal: page.signal });
  const article = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("main article");
  page.main.className = "narrow";
  page.main.replaceChildren(response.ok && article ? document.adoptNode(article)
    : el("div", { class: "card pad" }, el("h1", {}, t("notFound"))));
}

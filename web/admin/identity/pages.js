// The organiser's legal pages: terms, privacy policy, business information; in Markdown.

import { call, get } from "../../shared/app/api.js";
import { el, announce, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { area, card, heading } from "../form.js";

const KINDS = ["terms", "privacy", "business"];

export async function pages(page) {
  const texts = await Promise.all(KINDS.map((kind) =>
    get(`/api/auth/pages/${kind}`, { signal: page.signal }).catch((error) => {
      if (error.status !== 404) throw error;
      return null;
    })));
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(t("navPages"), t("pagesWords")),
    el("div", { class: "stack" }, KINDS.map((kind, index) => editor(page, kind, texts[index]))));
}

function editor(page, kind, known) {
  const problem = problemBox();
  const save = el("button", { class: "btn brand" }, t("pagePublish"));
  const form = el("form", { class: "pad stack" },
    area({ label: t("pageKo"), name: "ko", rows: 10, required: true, value: known?.ko, lang: "ko" }),
    area({ label: t("pageEn"), name: "en", rows: 10, required: true, value: known?.en, lang: "en" }),
    problem.element,
    el("div", { class: "row" }, save, known ? el("a", { class: "btn", href: `/${kind}` }, t("pageLook")) : null));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(save, async () => {
      problem.show("");
      try {
        await call("PUT", `/api/admin/pages/${kind}`, { body: Object.fromEntries(new FormData(form)) });
        announce(t("saved"));
        page.again();
      } catch (error) {
        problem.show(error.message);
      }
    });
  });
  return card(t("pageOf", kind), known ? t("pageVersion", known.version) : t("pageNone"), form);
}

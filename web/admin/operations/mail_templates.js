// Previews of every notification in the organiser's look, and a test mail.

import { call, get } from "../../shared/app/api.js";
import { announce, el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { language, t } from "../../shared/ui/i18n.js";
import { heading } from "../form.js";

const PATH = "/api/admin/mail-templates";

export async function mailTemplates({ main, signal }) {
  const { items, canSend } = await get(PATH, { signal });
  const kind = el("select", { name: "kind" }, items.map((name) => el("option", { value: name }, t("mailName", name))));
  const tongue = el("select", { name: "language" },
    ["ko", "en"].map((it) => el("option", { value: it, selected: it === language() }, t(`language${it}`))));
  const subject = el("p", { class: "big" });
  const short = el("p", { class: "quiet" });
  const frame = el("div", { class: "mail-frame", role: "group", "aria-label": t("mailPreview"), tabindex: 0 });
  const shadow = frame.attachShadow({ mode: "open" });
  const plain = el("pre", { class: "mail-text", tabindex: 0, "aria-label": t("mailText") });
  const problem = problemBox();
  const show = async () => {
    try {
      const mail = await get(`${PATH}/${kind.value}?language=${tongue.value}`, { signal });
      subject.textContent = mail.subject;
      short.textContent = mail.short;
      plain.textContent = mail.text;
      shadow.replaceChildren(drawn(mail.html));
      problem.show("");
    } catch (error) {
      if (error.name !== "AbortError") problem.show(error.message);
    }
  };
  kind.addEventListener("change", show);
  tongue.addEventListener("change", show);
  main.className = "wide";
  main.replaceChildren(
    heading(t("navMailTemplates"), t("mailTemplatesWords"), testButton({ kind, tongue, problem, canSend })),
    el("section", { class: "card pad stack" },
      el("div", { class: "filters" }, el("label", { class: "field" }, t("mailKind"), kind), el("label", { class: "field" }, t("mailLanguage"), tongue)),
      problem.element, subject, short, frame,
      el("details", { class: "more" }, el("summary", {}, t("mailText")), plain)));
  await show();
}

function testButton({ kind, tongue, problem, canSend }) {
  const button = el("button", { class: "btn", type: "button", disabled: !canSend }, t(canSend ? "mailTest" : "mailOff"));
  button.addEventListener("click", () => whileBusy(button, async () => {
    try {
      const { sent, error } = await call("POST", `${PATH}/${kind.value}/test`, { body: { language: tongue.value } });
      problem.show(sent ? "" : t("mailTestFailed", error));
      if (sent) announce(t("mailTestSent"));
    } catch (error) {
      problem.show(error.message);
    }
  }));
  return button;
}

/**
 * Mails style each element, which our content policy forbids in markup but permits by script. The
 * attributes are renamed before parsing, because the policy applies to a parsed document too. A
 * quote in a fact is escaped, so no fact can contain such an attribute.
 */
function drawn(html) {
  const { body } = new DOMParser().parseFromString(html.replaceAll(/\sstyle=(?=")/g, " data-style="), "text/html");
  const root = el("div");
  for (const node of [body, ...body.querySelectorAll("*")]) {
    const target = node === body ? root : node;
    target.style.cssText = node.dataset.style ?? "";
    node.removeAttribute("data-style");
    if (node.localName === "a") {
      node.target = "_blank";
      node.rel = "noopener";
    }
    // A mail is a document of its own, with its main part; here it is a part of our page.
    if (node.getAttribute("role") === "main") node.removeAttribute("role");
  }
  root.append(...body.childNodes);
  return root;
}

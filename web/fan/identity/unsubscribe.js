// Ends reminders for the recipient of a mail, without a login.

import { call } from "../../shared/app/api.js";
import { el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";

export function unsubscribe(page) {
  const problem = problemBox();
  const button = el("button", { class: "btn primary", type: "button" }, t("unsubscribe"));
  const words = el("p", { role: "status" }, t("unsubscribeWords"));
  button.addEventListener("click", () => whileBusy(button, async () => {
    try {
      await call("POST", `/api/users/unsubscribe?token=${encodeURIComponent(page.id)}`, { body: {}, isPublic: true });
      words.textContent = t("unsubscribed");
      button.remove();
    } catch (error) {
      problem.show(error.message);
    }
  }));
  page.main.className = "narrow";
  page.main.replaceChildren(
    el("section", { class: "card pad stack" }, el("h1", {}, t("unsubscribeTitle")), words, problem.element, el("div", { class: "row" }, button)));
}

// Asking before doing. The browser's own dialog element keeps the focus inside and gives it back.

import { el, problemBox, whileBusy } from "./dom.js";
import { t } from "./i18n.js";

/**
 * Shows `content` with two buttons. `act` runs on yes and may throw: its message is shown and the
 * dialog stays. Resolves to what `act` gave, or to null when the answer was no.
 */
export function ask({ title, content, yes, isDanger, act }) {
  const problem = problemBox();
  const heading = el("h2", { id: "dialog-title" }, title);
  const no = el("button", { class: "btn", type: "button" }, t("dialogNo"));
  const ok = el("button", { class: isDanger ? "btn stop" : "btn brand" }, yes);
  const form = el("form", { class: "stack" }, heading, content ?? null, problem.element,
    el("div", { class: "row end" }, no, ok));
  const dialog = el("dialog", { "aria-labelledby": "dialog-title" }, form);
  document.body.append(dialog);
  return new Promise((resolve) => {
    let outcome = null;
    no.addEventListener("click", () => dialog.close());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      whileBusy(ok, async () => {
        problem.show("");
        try {
          outcome = (await act?.(new FormData(form))) ?? true;
          dialog.close();
        } catch (error) {
          problem.show(error.message || t("troubleUnknown"));
        }
      });
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(outcome);
    });
    dialog.showModal();
  });
}

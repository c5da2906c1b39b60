// Confirmation dialogs. The browser's dialog element traps the focus and restores it.

import { el, problemBox, whileBusy } from "./dom.js";
import { t } from "./i18n.js";

/**
 * Shows `content` with two buttons. On yes, `act` runs and may throw: the dialog stays and shows
 * the message. Resolves to the result of `act`, or to null on no. A notice has nothing to refuse, so
 * it has one button.
 */
export function ask({ title, content, yes, isDanger, isNotice, act }) {
  const problem = problemBox();
  const heading = el("h2", { id: "dialog-title" }, title);
  const no = el("button", { class: "btn", type: "button" }, t("dialogNo"));
  const ok = el("button", { class: isDanger ? "btn stop" : "btn brand" }, yes);
  const form = el("form", { class: "stack" }, heading, content ?? null, problem.element,
    el("div", { class: "row end" }, isNotice ? null : no, ok));
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

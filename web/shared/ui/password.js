// A password field with a button that shows what was typed.

import { el } from "./dom.js";
import { t } from "./i18n.js";

/** The button beside a password input. */
export function showPasswordButton(input) {
  const button = el("button", { class: "btn small reveal", type: "button", "aria-pressed": "false" }, t("passwordShow"));
  button.addEventListener("click", () => {
    const isShown = input.type === "text";
    input.type = isShown ? "password" : "text";
    button.textContent = isShown ? t("passwordShow") : t("passwordHide");
    button.setAttribute("aria-pressed", String(!isShown));
  });
  return button;
}

/** A labelled field; the button stands outside the label, so that it doesn't become its text. */
export function passwordField({ label, hint, name, autocomplete, ...attributes }) {
  const id = `field-${name}`;
  const input = el("input", { id, name, type: "password", autocomplete, required: true, "aria-describedby": hint ? `${id}-hint` : null, ...attributes });
  return el("div", { class: "field" },
    el("label", { for: id }, label),
    el("div", { class: "with-button" }, input, showPasswordButton(input)),
    hint ? el("small", { id: `${id}-hint` }, hint) : null);
}

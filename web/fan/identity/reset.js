// A new password for a forgotten one. The token of the link is in the fragment, so no server log and
// no other site sees it.

import { call } from "../../shared/app/api.js";
import { el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { passwordField } from "../../shared/ui/password.js";
import { t } from "../../shared/ui/i18n.js";
import { end } from "../../shared/app/session.js";

export function reset(page) {
  page.main.className = "narrow";
  const box = el("div", { class: "card pad stack" }, el("h1", {}, t("resetTitle")));
  page.main.replaceChildren(box);
  box.append(page.id ? newPassword(page, page.id) : askLink(page, box));
}

function formOf(fields, words, send) {
  const problem = problemBox();
  const submit = el("button", { class: "btn primary wide" }, words);
  const form = el("form", { class: "stack" }, fields, problem.element, submit);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(submit, async () => {
      problem.show("");
      await send(Object.fromEntries(new FormData(form))).catch((error) => problem.show(error.message));
    });
  });
  return form;
}

/** The answer is the same for every address. */
function askLink(page, box) {
  const email = el("label", { class: "field" }, t("email"), el("input", { name: "email", type: "email", autocomplete: "email", required: true }));
  return formOf([el("p", { class: "quiet" }, t("resetWords")), email], t("resetSend"), async (given) => {
    await call("POST", "/api/auth/password/forgotten", { body: { email: given.email }, isPublic: true });
    const token = el("label", { class: "field" }, t("resetToken"), el("input", { name: "token", autocomplete: "off", required: true }));
    box.replaceChildren(
      el("h1", {}, t("resetTitle")),
      el("p", { class: "note ok", role: "status" }, t("resetSent", given.email)),
      formOf([token], t("next"), async (typed) => page.go(`#/reset/${typed.token.trim()}`)));
  });
}

function newPassword(page, token) {
  const password = passwordField({ name: "password", label: t("newPassword"), autocomplete: "new-password", hint: t("passwordHint") });
  return formOf([el("p", { class: "quiet" }, t("resetNewWords")), password], t("saveIt"), async (given) => {
    await call("POST", "/api/auth/password/reset", { body: { token, password: given.password }, isPublic: true });
    end();
    page.go("#/login");
  });
}

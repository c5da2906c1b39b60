// Proves the ownership of the account's e-mail address with a mailed code, or changes the address.

import { call } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el } from "../../shared/ui/dom.js";
import { passwordField } from "../../shared/ui/password.js";
import { t } from "../../shared/ui/i18n.js";

/** A button, if the address is not confirmed yet and codes can be mailed. */
export function emailProofButton(page, profile, { confirmEmail: canMail }) {
  if (profile.emailVerified || !profile.email || !canMail) return null;
  return el("button", { class: "btn", type: "button", onclick: () => prove(page) }, t("emailProve"));
}

async function prove(page) {
  let asked = null;
  await ask({
    title: t("emailProve"),
    content: el("p", {}, t("emailProveWords")),
    yes: t("next"),
    act: async () => (asked = await call("POST", "/api/users/me/email/proof", { body: {} })),
  });
  if (!asked) return;
  const done = await ask({
    title: t("emailProve"),
    content: el("div", { class: "stack" },
      el("p", {}, t("mailCodeWords")),
      el("label", { class: "field" }, t("mailCode"), el("input", { name: "code", inputmode: "numeric", autocomplete: "one-time-code", maxlength: 6, required: true }))),
    yes: t("emailProve"),
    act: (form) => call("POST", "/api/users/me/email/proof/confirm", { body: { proofId: asked.proofId, code: form.get("code") } }),
  });
  if (done) page.again();
}

/** A button that changes the address, if codes can be mailed. */
export function emailChangeButton(page, profile, { confirmEmail: canMail }) {
  if (!canMail) return null;
  return el("button", { class: "btn", type: "button", onclick: () => change(page, profile) }, t("emailChange"));
}

/** The password proves the owner, the code proves the new address. */
async function change(page, profile) {
  let asked = null;
  await ask({
    title: t("emailChange"),
    content: el("div", { class: "stack" },
      el("p", { class: "quiet" }, t("emailChangeWords")),
      el("label", { class: "field" }, t("emailNew"), el("input", { name: "email", type: "email", autocomplete: "email", required: true })),
      profile.hasPassword ? passwordField({ name: "password", label: t("currentPassword"), autocomplete: "current-password" }) : null),
    yes: t("next"),
    act: async (form) => {
      const body = { email: form.get("email"), password: form.get("password") ?? "" };
      asked = await call("POST", "/api/users/me/email", { body });
    },
  });
  if (!asked) return;
  const done = await ask({
    title: t("emailChange"),
    content: el("div", { class: "stack" },
      el("p", {}, t("emailChangeCode")),
      el("label", { class: "field" }, t("mailCode"), el("input", { name: "code", inputmode: "numeric", autocomplete: "one-time-code", maxlength: 6, required: true }))),
    yes: t("emailChange"),
    act: (form) => call("POST", "/api/users/me/email/confirm", { body: { changeId: asked.changeId, code: form.get("code") } }),
  });
  if (done) page.again();
}

// Login and sign-up, on one page.

import { call, get } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { isLanguageChosen, t } from "../../shared/ui/i18n.js";
import { showPasswordButton } from "../../shared/ui/password.js";
import { safeHash } from "../../shared/app/router.js";
import { begin } from "../../shared/app/session.js";
import { storeLanguage } from "../../shared/app/start.js";
import { consentBoxes } from "./legal.js";
import { problemOfReturn } from "./links.js";

export function login(page) {
  page.main.className = "narrow";
  const box = el("div", { class: "card pad stack" });
  page.main.replaceChildren(box);
  showForm(page, box, page.query.get("new") === "yes");
}

function showForm(page, box, isNew) {
  const problem = problemBox();
  const fields = [
    field({ name: "email", type: "email", autocomplete: "email", label: t("email") }),
    field({
      name: "password",
      type: "password",
      autocomplete: isNew ? "new-password" : "current-password",
      label: t("password"),
      hint: isNew ? t("passwordHint") : null,
    }),
    isNew ? field({ name: "name", type: "text", autocomplete: "name", label: t("name") }) : null,
  ].filter(Boolean);
  const submit = el("button", { class: "btn primary wide" }, isNew ? t("signUp") : t("login"));
  const consents = isNew ? consentBoxes() : null;
  const form = el("form", { class: "stack", novalidate: true }, fields.map((it) => it.element), consents?.element ?? null, problem.element, submit);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(submit, () => send(page, { fields, problem, consents, askCode }));
  });
  /** Shows the code field only for accounts with a second factor. */
  const askCode = () => {
    if (fields.some((it) => it.input.name === "code")) return;
    const code = field({ name: "code", type: "text", autocomplete: "one-time-code", label: t("secondCode") });
    fields.push(code);
    problem.element.before(code.element);
    code.input.focus();
  };
  const other = () => showForm(page, box, !isNew);
  box.replaceChildren(...[
    el("h1", {}, isNew ? t("signUp") : t("login")),
    page.query.get("next")?.startsWith("#/queue/") ? el("p", { class: "quiet" }, t("loginForPlace")) : null,
    form,
    isNew ? null : el("a", { class: "link", href: "#/reset" }, t("forgotPassword")),
    el("button", { class: "link", type: "button", onclick: other }, isNew ? t("haveAccount") : t("noAccount")),
    socialButtons(),
  ].filter(Boolean));
  const returned = problemOfReturn();
  if (returned) problem.show(returned);
  fields[0].input.focus();
}

async function send(page, { fields, problem, consents, askCode }) {
  problem.show("");
  fields.forEach((it) => it.complain(it.input.value ? null : t("fillIn")));
  const empty = fields.find((it) => !it.input.value);
  if (empty) return empty.input.focus();
  const agreed = consents?.read();
  if (agreed === null) return problem.show(t("consentMissing"));
  const values = Object.fromEntries(fields.map((it) => [it.input.name, it.input.value]));
  const { email, password, code } = values;
  try {
    if (consents) await signUp({ ...values, consents: agreed });
    begin(await call("POST", "/api/auth/login", { body: { email, password, ...(code ? { code } : {}) }, isPublic: true }));
    if (isLanguageChosen()) storeLanguage();
    page.go(safeHash(page.query.get("next")));
  } catch (error) {
    if (error.code === "CODE_REQUIRED") askCode();
    problem.show(error.message);
    complainPerField(fields, error.body?.errors);
  }
}

/** If addresses are confirmed first, the mailed code creates the account. */
async function signUp(values) {
  const asked = await call("POST", "/api/auth/signup", { body: values, isPublic: true });
  if (!asked.signUpId) return;
  const done = await ask({
    title: t("signUp"),
    content: el("div", { class: "stack" },
      el("p", {}, t("mailCodeWords")),
      el("label", { class: "field" }, t("mailCode"), el("input", { name: "code", inputmode: "numeric", autocomplete: "one-time-code", maxlength: 6, required: true }))),
    yes: t("signUp"),
    act: (form) => call("POST", "/api/auth/signup/confirm", { body: { signUpId: asked.signUpId, code: form.get("code") }, isPublic: true }),
  });
  if (!done) throw new Error(t("mailCodeWords"));
}

/** The configured login providers. */
function socialButtons() {
  const box = el("div", { class: "stack tight", hidden: true });
  get("/api/auth/options", { isPublic: true }).then(({ social }) => {
    box.hidden = social.length === 0;
    box.append(...social.map((service) => el("a", { class: `btn wide ${service}`, href: `/api/auth/${service}/start` }, t(`login${service}`))));
  }).catch(() => null);
  return box;
}

/** `errors` may be a list of {field, detail} or an object by field. */
function complainPerField(fields, errors = {}) {
  const list = Array.isArray(errors) ? errors : Object.entries(errors).map(([field, detail]) => ({ field, detail }));
  for (const { field, detail, message } of list) {
    fields.find((it) => it.input.name === field)?.complain(String(detail ?? message ?? t("checkField")));
  }
}

function field({ name, type, autocomplete, label, hint }) {
  const wrong = el("small", { class: "wrong", id: `${name}-wrong` });
  const input = el("input", { name, type, autocomplete, required: true, "aria-describedby": `${name}-hint ${name}-wrong` });
  const id = `field-${name}`;
  input.id = id;
  const shown = type === "password" ? el("div", { class: "with-button" }, input, showPasswordButton(input)) : input;
  return {
    input,
    element: el("div", { class: "field" }, el("label", { for: id }, label), shown, el("small", { id: `${name}-hint` }, hint ?? ""), wrong),
    complain(text) {
      wrong.textContent = text ?? "";
      input.setAttribute("aria-invalid", String(Boolean(text)));
    },
  };
}

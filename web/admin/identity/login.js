// Login: organisers use their own accounts.

import { call } from "../../shared/app/api.js";
import { el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { safeHash } from "../../shared/app/router.js";
import { begin, end } from "../../shared/app/session.js";
import { ask } from "../../shared/ui/dialog.js";
import { passwordField } from "../../shared/ui/password.js";
import { field } from "../form.js";

export function login(page) {
  page.main.className = "narrow";
  const problem = problemBox();
  const code = field({ name: "code", label: t("code2"), inputmode: "numeric", autocomplete: "one-time-code", maxlength: 6, hint: t("code2Hint") });
  code.hidden = true;
  const submit = el("button", { class: "btn primary wide" }, t("login"));
  const form = el("form", { class: "stack" },
    field({ name: "email", type: "email", label: t("email"), autocomplete: "email", required: true }),
    passwordField({ name: "password", label: t("password"), autocomplete: "current-password" }),
    code,
    problem.element,
    submit);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(submit, () => send(page, { form, code, problem }));
  });
  page.main.replaceChildren(
    el("div", { class: "card pad stack" },
      el("h1", {}, t("controlRoom")),
      el("p", { class: "quiet" }, t("loginWho")),
      form,
      el("a", { href: "/#/reset" }, t("forgotPassword"))));
  form.querySelector("input").focus();
}

async function send(page, { form, code, problem }) {
  problem.show("");
  try {
    const { email, password, code: digits } = Object.fromEntries(new FormData(form));
    const body = { email, password, ...(digits ? { code: digits } : {}) };
    const answer = await call("POST", "/api/auth/login", { body, isPublic: true });
    begin(answer);
    if (!["ADMIN", "STAFF"].includes(answer.user.role)) {
      end();
      return problem.show(t("adminsOnly"));
    }
    page.go(safeHash(page.query.get("next")));
  } catch (error) {
    if (error.code === "CODE_REQUIRED") {
      code.hidden = false;
      code.querySelector("input").focus();
    }
    problem.show(error.message);
  }
}

let asking = null;

/**
 * The session ended while the page was open: logs in without leaving it, so that nothing that was
 * typed is lost. All calls that wait share one dialog. Resolves to whether it succeeded.
 */
export function logInHere() {
  asking ??= askHere().finally(() => (asking = null));
  return asking;
}

async function askHere() {
  const code = field({ name: "code", label: t("code2"), inputmode: "numeric", autocomplete: "one-time-code", maxlength: 6, hint: t("code2Hint") });
  code.hidden = true;
  const done = await ask({
    title: t("loginAgain"),
    content: el("div", { class: "stack" },
      el("p", { class: "quiet" }, t("loginAgainWords")),
      field({ name: "email", type: "email", label: t("email"), autocomplete: "email", required: true }),
      passwordField({ name: "password", label: t("password"), autocomplete: "current-password" }),
      code),
    yes: t("login"),
    act: async (form) => {
      const { email, password, code: digits } = Object.fromEntries(form);
      try {
        const body = { email, password, ...(digits ? { code: digits } : {}) };
        begin(await call("POST", "/api/auth/login", { body, isPublic: true }));
      } catch (error) {
        if (error.code === "CODE_REQUIRED") code.hidden = false;
        throw error;
      }
    },
  });
  return done !== null;
}

// Login at the gate: on a page of its own, or in place while scanning.

import { call } from "../shared/app/api.js";
import { ask } from "../shared/ui/dialog.js";
import { el, problemBox, whileBusy } from "../shared/ui/dom.js";
import { t } from "../shared/ui/i18n.js";
import { passwordField } from "../shared/ui/password.js";
import { safeHash } from "../shared/app/router.js";
import { begin, end } from "../shared/app/session.js";
import { forgetLists } from "./offline/store.js";

/** The fields of a login; the code appears when the account needs one. */
function fields() {
  const input = (label, attributes) => el("label", { class: "field" }, label, el("input", attributes));
  const code = input(t("code2"), { name: "code", inputmode: "numeric", autocomplete: "one-time-code", maxlength: 6 });
  code.hidden = true;
  const elements = [
    input(t("email"), { name: "email", type: "email", autocomplete: "email", required: true }),
    passwordField({ name: "password", label: t("password"), autocomplete: "current-password" }),
    code,
    el("a", { href: "/#/reset" }, t("forgotPassword")),
  ];
  return { elements, code };
}

/** Throws a problem whose message is for the steward. */
async function logIn(form, code) {
  const { email, password, code: digits } = Object.fromEntries(form);
  try {
    const answer = await call("POST", "/api/auth/login", { body: { email, password, ...(digits ? { code: digits } : {}) }, isPublic: true });
    begin(answer);
    if (answer.user.role !== "USER") return;
  } catch (error) {
    if (error.code === "CODE_REQUIRED") {
      code.hidden = false;
      code.querySelector("input").focus();
    }
    throw error;
  }
  end();
  await forgetLists();
  throw new Error(t("staffOnly"));
}

export function login(page) {
  const problem = problemBox();
  const { elements, code } = fields();
  const submit = el("button", { class: "btn primary wide" }, t("login"));
  const form = el("form", { class: "stack" }, elements.slice(0, 3), problem.element, submit, elements[3]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(submit, async () => {
      problem.show("");
      await logIn(new FormData(form), code)
        .then(() => page.go(safeHash(page.query.get("next"))))
        .catch((error) => problem.show(error.message || t("troubleUnknown")));
    });
  });
  page.main.className = "narrow";
  page.main.replaceChildren(el("div", { class: "card pad stack" }, el("h1", {}, t("gate")), el("p", { class: "quiet" }, t("loginWho")), form));
  form.querySelector("input").focus();
}

let asking = null;

/**
 * The session ended while scanning: logs in without leaving the page. Scans go on meanwhile by the
 * device's list. Resolves to whether it succeeded.
 */
export function logInHere() {
  asking ??= askHere().finally(() => (asking = null));
  return asking;
}

async function askHere() {
  const { elements, code } = fields();
  const done = await ask({
    title: t("loginAgain"),
    content: el("div", { class: "stack" }, el("p", { class: "quiet" }, t("loginAgainWords")), elements),
    yes: t("login"),
    act: (form) => logIn(form, code),
  });
  return done !== null;
}

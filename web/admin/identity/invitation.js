// Accepting an invitation. The token is in the fragment, so no server log and no other site sees it.

import { call } from "../../shared/app/api.js";
import { el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { passwordField } from "../../shared/ui/password.js";
import { t } from "../../shared/ui/i18n.js";
import { begin, end, user } from "../../shared/app/session.js";
import { field } from "../form.js";

export async function invitation(page) {
  page.main.className = "narrow";
  const token = page.id;
  const offered = await call("POST", "/api/auth/invitation", { body: { token }, isPublic: true, signal: page.signal }).catch((error) => {
    if (error.status !== 404) throw error;
    return null;
  });
  if (!offered) return showInvalid(page);
  const box = el("div", { class: "card pad stack" },
    el("h1", {}, t("invitation")),
    el("p", {}, t("invitedAs", offered.email, t("teamRole", offered.role))),
    el("p", { class: "quiet" }, t("teamRoleWords", offered.role)));
  page.main.replaceChildren(box);
  box.append(offered.hasAccount ? existing(page, offered, token) : fresh(page, offered, token));
}

function showInvalid(page) {
  page.main.replaceChildren(el("div", { class: "card pad stack" },
    el("h1", {}, t("invitation")),
    el("p", { class: "note danger", role: "alert" }, t("invitationInvalid"))));
}

/** The link proves the address, so a new account needs only a name and a password. */
function fresh(page, offered, token) {
  const problem = problemBox();
  const submit = el("button", { class: "btn primary wide" }, t("invitationAccept"));
  const form = el("form", { class: "stack" },
    field({ name: "name", label: t("name"), autocomplete: "name", required: true, maxlength: 50 }),
    passwordField({ name: "password", label: t("password"), autocomplete: "new-password", hint: t("passwordHint") }),
    problem.element, submit);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(submit, async () => {
      const { name, password } = Object.fromEntries(new FormData(form));
      try {
        await call("POST", "/api/auth/invitation/accept", { body: { token, name, password }, isPublic: true });
        await enter(page, offered.email, password);
      } catch (error) {
        problem.show(error.message);
      }
    });
  });
  return form;
}

/** The owner of the address logs in, joins, and logs in again with the new role. */
function existing(page, offered, token) {
  const problem = problemBox();
  const submit = el("button", { class: "btn primary wide" }, t("invitationAccept"));
  const code = field({ name: "code", label: t("code2"), inputmode: "numeric", autocomplete: "one-time-code", maxlength: 6, hint: t("code2Hint") });
  code.hidden = true;
  const form = el("form", { class: "stack" },
    el("p", {}, t("invitationLogin")),
    passwordField({ name: "password", label: t("password"), autocomplete: "current-password" }),
    code, problem.element, submit);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(submit, async () => {
      const { password, code: digits } = Object.fromEntries(new FormData(form));
      try {
        const body = { email: offered.email, password, ...(digits ? { code: digits } : {}) };
        begin(await call("POST", "/api/auth/login", { body, isPublic: true }));
        await call("POST", "/api/users/me/invitation", { body: { token } });
        // Joining ends every session.
        end();
        page.go("#/login");
      } catch (error) {
        if (error.code === "CODE_REQUIRED") code.hidden = false;
        problem.show(error.message);
      }
    });
  });
  return form;
}

async function enter(page, email, password) {
  begin(await call("POST", "/api/auth/login", { body: { email, password }, isPublic: true }));
  page.go(user()?.team ? "#/" : "#/login");
}

// Claiming a ticket with the link of an e-mail: sign up or log in, then the ticket. The token is in
// the fragment, so no server log and no other site sees it.

import { act, call } from "../../shared/app/api.js";
import { el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { moment } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { passwordField } from "../../shared/ui/password.js";
import { begin, user } from "../../shared/app/session.js";
import { consentBoxes } from "../identity/legal.js";

export async function claim(page) {
  page.main.className = "narrow";
  const token = page.id;
  const ask = { body: { token }, isPublic: true, signal: page.signal };
  const offered = await call("POST", "/api/tickets/claim", ask).catch((error) => {
    if (error.code !== "LINK_INVALID") throw error;
    return null;
  });
  const box = el("div", { class: "card pad stack" }, el("h1", {}, t("claimTitle")));
  page.main.replaceChildren(box);
  if (!offered) return box.append(el("p", { class: "note danger", role: "alert" }, t("claimInvalid")));
  box.append(
    el("dl", { class: "stack tight" },
      fact(t("claimShow"), `${offered.eventTitle}, ${offered.venueName}`),
      fact(t("claimDate"), moment(offered.startsAt, offered.timeZone)),
      fact(t("claimSeat"), `${offered.seatNumber} (${offered.grade})`)),
    el("p", { class: "quiet" }, t("claimFor", offered.email, moment(offered.expiresAt, offered.timeZone))),
    formFor(page, offered, token));
}

function fact(label, words) {
  return el("div", {}, el("dt", { class: "quiet" }, label), el("dd", {}, el("b", {}, words)));
}

/** What is left to do: nothing but a press, a log-in, or a new account. */
function formFor(page, offered, token) {
  if (user()?.email === offered.email) {
    return form({ page, token, fields: [], words: t("claimTake"), prepare: async () => null });
  }
  return offered.hasAccount ? logInForm(page, offered, token) : signUpForm(page, offered, token);
}

function logInForm(page, offered, token) {
  const code = el("label", { class: "field", hidden: true }, t("secondCode"),
    el("input", { name: "code", inputmode: "numeric", autocomplete: "one-time-code", maxlength: 6 }));
  const fields = [
    el("p", {}, t("claimLogin")),
    passwordField({ name: "password", label: t("password"), autocomplete: "current-password" }),
    code,
    el("a", { class: "link", href: "#/reset" }, t("forgotPassword")),
  ];
  const prepare = async (given) => {
    try {
      await logIn(offered.email, given);
    } catch (error) {
      if (error.code === "CODE_REQUIRED") code.hidden = false;
      throw error;
    }
  };
  return form({ page, token, fields, words: t("claimLoginTake"), prepare });
}

/** The link proves the address, so a new account needs only a name and a password. */
function signUpForm(page, offered, token) {
  const consents = consentBoxes();
  const name = el("label", { class: "field" }, t("name"), el("input", { name: "name", autocomplete: "name", required: true, maxlength: 50 }));
  const fields = [
    el("p", {}, t("claimSignUp")),
    name,
    passwordField({ name: "password", label: t("password"), autocomplete: "new-password", hint: t("passwordHint") }),
    consents.element,
  ];
  let isMade = false;
  const prepare = async (given) => {
    const agreed = consents.read();
    if (agreed === null) throw new Error(t("consentMissing"));
    const body = { token, name: given.name, password: given.password, consents: agreed };
    if (!isMade) await call("POST", "/api/tickets/claim/signup", { body, isPublic: true });
    isMade = true;
    await logIn(offered.email, given);
  };
  return form({ page, token, fields, words: t("claimSignUpTake"), prepare });
}

async function logIn(email, { password, code }) {
  const body = { email, password, ...(code ? { code } : {}) };
  begin(await call("POST", "/api/auth/login", { body, isPublic: true }));
}

function form({ page, token, fields, words, prepare }) {
  const problem = problemBox();
  const identity = el("a", { class: "btn wide", href: "#/identity", hidden: true }, t("claimIdentity"));
  const submit = el("button", { class: "btn primary wide" }, words);
  const element = el("form", { class: "stack" }, fields, problem.element, identity, submit);
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(submit, async () => {
      problem.show("");
      try {
        await prepare(Object.fromEntries(new FormData(element)));
        await act("/api/tickets/claim/accept", { token });
        page.go("#/tickets");
      } catch (error) {
        identity.hidden = error.code !== "IDENTITY_REQUIRED";
        problem.show(error.message);
      }
    });
  });
  return element;
}

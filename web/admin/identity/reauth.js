// Step-up before money moves: the password, or a code if there is a second factor.

import { call } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { user } from "../../shared/app/session.js";
import { field } from "../form.js";

/** Resolves to whether the step-up succeeded. */
export async function reauth() {
  const password = field({ name: "password", type: "password", label: t("password"), autocomplete: "current-password" });
  const code = field({ name: "code", label: t("code2"), inputmode: "numeric", autocomplete: "one-time-code", maxlength: 6, hint: t("code2Hint") });
  /** Shows one of the two, depending on the account. */
  const show = (hasCode) => {
    password.hidden = hasCode;
    code.hidden = !hasCode;
  };
  show(Boolean(user()?.secondFactor));
  const done = await ask({
    title: t("reauth"),
    content: el("div", { class: "stack" }, el("p", { class: "quiet" }, t("reauthWords")), password, code),
    yes: t("reauthYes"),
    act: (form) => send(form, show),
  });
  return done !== null;
}

async function send(form, show) {
  const given = Object.fromEntries([...form].filter(([, value]) => value));
  try {
    return await call("POST", "/api/auth/reauth", { body: given });
  } catch (error) {
    // The second factor was added after this login.
    if (error.code === "CODE_REQUIRED") show(true);
    throw error;
  }
}

// Before money moves: the password once more, or a code where there is a second factor.

import { call } from "../shared/api.js";
import { ask } from "../shared/dialog.js";
import { el } from "../shared/dom.js";
import { t } from "../shared/i18n.js";
import { user } from "../shared/session.js";
import { field } from "./form.js";

/** Resolves to whether the organiser showed who they are. */
export async function reauth() {
  const password = field({ name: "password", type: "password", label: t("password"), autocomplete: "current-password" });
  const code = field({ name: "code", label: t("code2"), inputmode: "numeric", autocomplete: "one-time-code", maxlength: 6, hint: t("code2Hint") });
  /** One of the two is shown: what the account has. */
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
    // The second factor is newer than this log-in.
    if (error.code === "CODE_REQUIRED") show(true);
    throw error;
  }
}

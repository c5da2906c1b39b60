// Identity verification: the provider's own window, then the server's result.

import { call } from "../../shared/app/api.js";
import { el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { safeHash } from "../../shared/app/router.js";
import { keep, recall, user } from "../../shared/app/session.js";

export function identity(page) {
  if (!user()) return page.login();
  const problem = problemBox();
  const button = el("button", { class: "btn primary wide", type: "button" }, t("identityStart"));
  button.addEventListener("click", () => whileBusy(button, async () => {
    problem.show("");
    try {
      const { identityVerificationId: id, ...window } = await call("POST", "/api/users/me/identity/start", { body: {} });
      const back = `#/identity/${encodeURIComponent(id)}`;
      keep("next", id, safeHash(page.query.get("next")));
      keep("checkout", id, { gateway: "identity", back, data: { ...window, identityVerificationId: id } });
      location.assign(`/pay/gateway/identity?payment=${encodeURIComponent(id)}`);
    } catch (error) {
      problem.show(error.message);
    }
  }));
  page.main.className = "narrow";
  page.main.replaceChildren(
    el("div", { class: "card pad stack" },
      el("h1", {}, t("identity")),
      el("p", {}, t("identityWords")),
      problem.element,
      button));
}

/** After the window closes, the server confirms with the provider. */
export async function identityReturn(page) {
  if (!user()) return page.login();
  const id = decodeURIComponent(page.id);
  const next = recall("next", id) ?? "#/me";
  page.main.className = "narrow";
  const show = (kind, words, action) => page.main.replaceChildren(
    el("div", { class: "card pad stack" },
      el("h1", {}, t("identity")),
      el("p", { class: `note ${kind}`, role: kind === "ok" ? "status" : "alert" }, words),
      action));
  try {
    await call("POST", "/api/users/me/identity", { body: { identityVerificationId: id }, signal: page.signal });
    show("ok", t("identityDone"), el("a", { class: "btn primary", href: next === "#/" ? "#/me" : next }, t("goOn")));
  } catch (error) {
    if (error.name === "AbortError" || error.status === 401) throw error;
    show("danger", error.message, el("a", { class: "btn", href: `#/identity?next=${encodeURIComponent(next)}` }, t("tryAgain")));
  }
}

/** On my page: verified, or a link to verify if it is available. */
export function identityLine(profile, { identity: isOffered }) {
  if (profile.identityVerified) return el("p", { class: "badge ok" }, icon("shield"), t("identityProven"));
  return isOffered ? el("a", { class: "btn", href: "#/identity" }, t("identity")) : null;
}

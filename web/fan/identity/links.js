// Linked accounts at login providers: list, link, unlink.

import { call, get } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el } from "../../shared/ui/dom.js";
import { moment } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";

/** Nothing if no provider is configured. */
export async function linksCard(page) {
  const options = { signal: page.signal };
  const [{ social }, { items }] = await Promise.all([get("/api/auth/options", options), get("/api/users/me/social", options)]);
  const services = [...new Set([...items.map((it) => it.service), ...social])];
  if (!services.length) return null;
  const line = (service) => {
    const linked = items.find((it) => it.service === service);
    const press = linked ? () => unlink(page, service) : () => link(service);
    return el("li", {},
      el("span", {}, t(`service${service}`), linked ? el("small", { class: "quiet num" }, moment(linked.linkedAt)) : null),
      el("button", { class: "btn small", type: "button", onclick: press }, t(linked ? "unlink" : "link")));
  };
  return el("section", { class: "card pad stack" },
    el("h2", {}, t("links")),
    el("p", { class: "quiet" }, t("linksWords")),
    el("ul", { class: "lines" }, services.map(line)));
}

const password = () => el("label", { class: "field" }, t("password"),
  el("input", { name: "password", type: "password", autocomplete: "current-password" }),
  el("small", {}, t("passwordIfAny")));

const body = (form) => (form.get("password") ? { password: form.get("password") } : {});

async function link(service) {
  const begun = await ask({
    title: t("linkTo", t(`service${service}`)),
    content: password(),
    yes: t("link"),
    act: (form) => call("POST", `/api/users/me/social/${service}`, { body: body(form) }),
  });
  if (begun) location.assign(begun.url);
}

async function unlink(page, service) {
  const done = await ask({
    title: t("unlinkFrom", t(`service${service}`)),
    content: password(),
    yes: t("unlink"),
    isDanger: true,
    act: (form) => call("DELETE", `/api/users/me/social/${service}`, { body: body(form) }),
  });
  if (done) page.again();
}

/** The problem with which a login provider sent the browser back. */
export function problemOfReturn() {
  const code = new URLSearchParams(location.search).get("problem");
  if (!code) return null;
  return t(["SOCIAL_NOT_LINKED", "SOCIAL_TAKEN", "CODE_REQUIRED"].includes(code) ? `return${code}` : "returnFailed");
}

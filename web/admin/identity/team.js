// The team: organisers, their roles, and invitations.

import { call, get, remove } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el, icon } from "../../shared/ui/dom.js";
import { stamp } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { user } from "../../shared/app/session.js";
import { card, field, heading } from "../form.js";
import { eventChoices, grantFields, grantWords, readGrant } from "./grants.js";

const PATH = "/api/admin/team";

export async function team(page) {
  const [found, events] = await Promise.all([get(PATH, { signal: page.signal }), eventChoices(page.signal)]);
  const add = el("button", { class: "btn brand", type: "button", onclick: () => invite(page, events) }, icon("plus"), t("invite"));
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(t("navTeam"), t("teamWords"), add),
    card(t("members"), null, el("ul", { class: "rows" }, found.members.map((it) => memberRow(page, events, it)))),
    found.invitations.length ? card(t("invitations"), null,
      el("ul", { class: "rows" }, found.invitations.map((it) => invitationRow(page, events, it)))) : null);
}

function memberRow(page, events, it) {
  const isMe = it.id === user()?.id;
  return el("li", {},
    el("span", { class: "grow" }, el("b", {}, it.name), el("small", { class: "quiet" }, it.email)),
    grantWords(it, events),
    el("span", { class: it.secondFactor ? "badge ok" : "badge warn" }, it.secondFactor ? t("codeOn") : t("codeOff")),
    el("small", { class: "quiet num" }, t("lastLogin", stamp(it.lastLoginAt))),
    isMe ? el("span", { class: "badge" }, t("you")) : el("span", { class: "row" },
      el("button", { class: "btn small", type: "button", onclick: () => change(page, events, it) }, t("role")),
      el("button", { class: "btn stop small", type: "button", onclick: () => drop(page, it) }, t("removeMember"))));
}

function invitationRow(page, events, it) {
  return el("li", {},
    el("span", { class: "grow" }, el("b", {}, it.email), el("small", { class: "quiet num" }, t("until", stamp(it.expiresAt)))),
    grantWords(it, events),
    el("button", { class: "btn small", type: "button", onclick: () => withdraw(page, it) }, t("withdrawInvitation")));
}

async function invite(page, events) {
  const done = await ask({
    title: t("invite"),
    content: el("div", { class: "stack" },
      el("p", { class: "quiet" }, t("inviteWords")),
      field({ label: t("email"), name: "email", type: "email", required: true, autocomplete: "off" }),
      grantFields({ events })),
    yes: t("inviteSend"),
    act: (form) => call("POST", `${PATH}/invitations`, { body: { email: form.get("email"), ...readGrant(form) } }),
  });
  if (done) page.again();
}

async function change(page, events, it) {
  const done = await ask({
    title: t("roleChange", it.email),
    content: el("div", { class: "stack" }, el("p", { class: "quiet" }, t("roleChangeWords")), grantFields({ events, known: it })),
    yes: t("saveIt"),
    isDanger: true,
    act: (form) => call("PUT", `${PATH}/${it.id}`, { body: readGrant(form) }),
  });
  if (done) page.again();
}

async function drop(page, it) {
  const done = await ask({
    title: t("removeMember"),
    content: el("p", {}, t("removeMemberWords", it.email)),
    yes: t("removeMember"),
    isDanger: true,
    act: () => remove(`${PATH}/${it.id}`),
  });
  if (done) page.again();
}

async function withdraw(page, it) {
  const done = await ask({
    title: t("withdrawInvitation"),
    content: el("p", {}, t("withdrawInvitationWords", it.email)),
    yes: t("withdrawInvitation"),
    isDanger: true,
    act: () => remove(`${PATH}/invitations/${it.id}`),
  });
  if (done) page.again();
}

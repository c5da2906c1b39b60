// My page: the bookings, then the wallet and the notifications, then the account.

import { act, call, get, remove } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { announce, el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { moment, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { end, user } from "../../shared/app/session.js";
import { chargeAt } from "../payments/gateways.js";
import { identityLine } from "./verification.js";
import { bookingsCard, linesNote, nextShow, showsOf, sortBookings } from "../tickets/bookings.js";
import { passwordField } from "../../shared/ui/password.js";
import { emailChangeButton, emailProofButton } from "./email.js";
import { notificationsCard } from "./notifications.js";
import { linksCard } from "./links.js";
import { artistsCard, followedArtists } from "./follow.js";

const CHARGES = [50_000, 100_000, 300_000];

export async function me(page) {
  if (!user()) return page.login();
  const options = { signal: page.signal };
  const [profile, wallet, ledger, reservations, sessions, logins, signals, mailbox, settings, places, offered, links, artists] = await Promise.all([
    get("/api/users/me", options),
    get("/api/wallet", options),
    get("/api/wallet/ledger?limit=10", options),
    get("/api/booking/reservations?limit=50", options),
    get("/api/users/me/sessions", options),
    get("/api/users/me/logins?limit=10", options),
    get("/api/users/me/signals", options),
    get("/api/users/me/mailbox", options),
    get("/api/users/me/notifications", options),
    get("/api/queue/history?limit=10", options),
    get("/api/auth/options", { ...options, isPublic: true }),
    linksCard(page),
    followedArtists(page.signal),
  ]);
  const shows = await showsOf([...reservations.items, ...places.items], page.signal);
  const bookings = sortBookings(reservations.items, shows);
  const next = bookings.ahead.find((it) => it.status === "CONFIRMED");
  page.main.replaceChildren(
    el("div", { class: "stack loose" },
      el("h1", {}, next && profile.name ? t("nextShow", profile.name) : t("me")),
      linesNote(places.items, shows),
      el("div", { class: "mine" },
        el("div", { class: "stack" },
          next ? await nextShow(page, next, shows) : null,
          bookingsCard(bookings, shows),
          notificationsCard(mailbox.items, settings),
          artistsCard(artists)),
        el("div", { class: "stack" },
          signals.items.length ? signalsCard(page, signals.items) : null,
          walletCard(page, wallet, ledger.items),
          profileCard(page, profile, offered),
          links,
          sessionsCard(page, sessions.items, logins.items)))));
}

function profileCard(page, profile, offered) {
  const problem = problemBox();
  const input = (name, type, value) => el("label", { class: "field" }, t(name), el("input", { name, type, value: value ?? "", autocomplete: name === "phone" ? "tel" : name }));
  const save = el("button", { class: "btn brand" }, t("saveIt"));
  const form = el("form", { class: "stack" }, input("name", "text", profile.name), input("phone", "tel", profile.phone), problem.element, el("div", { class: "row" }, save));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(save, async () => {
      const { name, phone } = Object.fromEntries(new FormData(form));
      try {
        await call("PATCH", "/api/users/me", { body: { name, phone: phone || null } });
        problem.show("");
        announce(t("saved"));
      } catch (error) {
        problem.show(error.message);
      }
    });
  });
  return el("section", { class: "card pad stack" },
    el("h2", {}, t("profile")),
    el("p", { class: "quiet" }, profile.email),
    form,
    el("div", { class: "row" },
      el("button", { class: "btn", type: "button", onclick: () => changePassword(page, profile) }, profile.hasPassword ? t("changePassword") : t("setPassword")),
      el("button", { class: "btn", type: "button", onclick: () => (profile.secondFactor ? removeSecondFactor(page) : addSecondFactor(page)) },
        profile.secondFactor ? t("secondFactorOff") : t("secondFactor")),
      emailProofButton(page, profile, offered),
      emailChangeButton(page, profile, offered),
      identityLine(profile, offered),
      el("button", { class: "link", type: "button", onclick: () => withdraw(page) }, t("withdraw"))));
}

/** An account of another service may set its first password for ten minutes after a login. */
async function changePassword(page, profile) {
  const title = profile.hasPassword ? t("changePassword") : t("setPassword");
  const done = await ask({
    title,
    content: el("div", { class: "stack" },
      profile.hasPassword ? passwordField({ name: "currentPassword", label: t("currentPassword"), autocomplete: "current-password" })
        : el("p", { class: "quiet" }, t("setPasswordWords")),
      passwordField({ name: "newPassword", label: t("newPassword"), autocomplete: "new-password", hint: t("passwordHint") })),
    yes: t("saveIt"),
    act: (form) => call("POST", "/api/users/me/password", {
      body: { currentPassword: form.get("currentPassword") ?? "", newPassword: form.get("newPassword") },
    }),
  });
  if (done) page.again();
}

/** The password, then the secret for the app, then the first code as proof. */
async function addSecondFactor(page) {
  const field = (name, words, type) => el("label", { class: "field" }, words, el("input", { name, type, required: true, autocomplete: "off" }));
  let begun = null;
  await ask({
    title: t("secondFactor"),
    content: el("div", { class: "stack" }, el("p", { class: "quiet" }, t("secondFactorWords")), field("password", t("password"), "password")),
    yes: t("next"),
    act: async (form) => (begun = await call("POST", "/api/users/me/totp", { body: { password: form.get("password") } })),
  });
  if (!begun) return;
  await ask({
    title: t("secondFactor"),
    content: el("div", { class: "stack" }, el("p", {}, t("secondFactorSecret")), el("code", { class: "hash" }, begun.secret),
      el("a", { href: begun.uri }, t("secondFactorOpen")), field("code", t("secondCode"), "text")),
    yes: t("saveIt"),
    act: (form) => call("POST", "/api/users/me/totp/confirm", { body: { code: form.get("code") } }),
  }).then((done) => done && page.again());
}

async function removeSecondFactor(page) {
  const field = (name, words, type, autocomplete) => el("label", { class: "field" }, words, el("input", { name, type, autocomplete, required: true }));
  const done = await ask({
    title: t("secondFactorOff"),
    content: el("div", { class: "stack" }, field("password", t("password"), "password", "current-password"), field("code", t("secondCode"), "text", "one-time-code")),
    yes: t("secondFactorOff"),
    isDanger: true,
    act: (form) => call("DELETE", "/api/users/me/totp", { body: Object.fromEntries(form) }),
  });
  if (done) page.again();
}

async function withdraw(page) {
  const done = await ask({
    title: t("withdraw"),
    content: el("div", { class: "stack" },
      el("p", {}, t("withdrawWords")),
      el("label", { class: "field" }, t("password"), el("input", { name: "password", type: "password", autocomplete: "current-password", required: true }))),
    yes: t("withdraw"),
    isDanger: true,
    act: (form) => call("DELETE", "/api/users/me", { body: Object.fromEntries(form) }),
  });
  if (!done) return;
  end();
  page.go("#/");
}

function walletCard(page, wallet, movements) {
  const problem = problemBox();
  const charge = (amount) => {
    const button = el("button", { class: "btn small", type: "button" }, `+ ${won(amount, wallet.currency)}`);
    button.addEventListener("click", () => whileBusy(button, async () => {
      try {
        const answer = await act("/api/wallet/charge", { amount });
        if (answer.checkout) return chargeAt(answer, "#/me");
        page.again();
      } catch (error) {
        problem.show(error.message);
      }
    }));
    return button;
  };
  return el("section", { class: "card pad stack" },
    el("h2", {}, t("wallet")),
    el("p", { class: "amount num" }, won(wallet.balance, wallet.currency)),
    el("div", { class: "row" }, CHARGES.map(charge)),
    problem.element,
    movements.length ? el("ul", { class: "lines num" }, movements.map((it) =>
      el("li", {},
        el("span", {}, t(`ledger${it.kind}`), el("small", { class: "quiet" }, moment(it.createdAt))),
        el("b", { class: it.amount < 0 ? "minus" : "plus" }, `${it.amount < 0 ? "−" : "+"}${won(Math.abs(it.amount), wallet.currency)}`)))) : el("p", { class: "quiet" }, t("noMovements")));
}

/** Bot signals, shown openly, with a way to appeal. */
function signalsCard(page, signals) {
  const object = (it) => ask({
    title: t("appeal"),
    content: el("label", { class: "field" }, t("appealWords"), el("textarea", { name: "text", required: true, maxlength: 1000 })),
    yes: t("appealSend"),
    act: (form) => call("POST", `/api/users/me/signals/${it.id}/appeal`, { body: { text: form.get("text") } }),
  }).then((done) => done && page.again());
  return el("section", { class: "card pad stack" },
    el("h2", {}, t("signals")),
    el("p", { class: "quiet" }, t("signalsWords")),
    el("ul", { class: "lines" }, signals.map((it) => el("li", {},
      el("span", {}, it.reason, el("small", { class: "quiet num" }, moment(it.updatedAt))),
      it.verdict ? el("span", { class: "badge" }, t(`verdict${it.verdict}`))
        : it.appeal ? el("span", { class: "badge warn" }, t("appealed"))
          : el("button", { class: "btn small", type: "button", onclick: () => object(it) }, t("appeal"))))));
}

function sessionsCard(page, sessions, logins) {
  const endOne = (it) => {
    const button = el("button", { class: "btn small", type: "button" }, t("endSession"));
    button.addEventListener("click", () => whileBusy(button, async () => {
      await remove(`/api/users/me/sessions/${it.id}`);
      page.again();
    }));
    return button;
  };
  const agent = (text) => deviceOf(text ?? "");
  return el("section", { class: "card pad stack" },
    el("h2", {}, t("sessions")),
    el("ul", { class: "lines" }, sessions.map((it) => el("li", {},
      el("span", {}, agent(it.agent), el("small", { class: "quiet num" }, `${it.ip ?? ""} · ${moment(it.lastUsedAt)}`)),
      it.current ? el("span", { class: "badge ok" }, t("thisDevice")) : endOne(it)))),
    el("h3", {}, t("logins")),
    el("ul", { class: "lines" }, logins.map((it) => el("li", {},
      el("span", {}, agent(it.agent), el("small", { class: "quiet num" }, `${it.ip ?? ""} · ${moment(it.at)}`)),
      el("span", { class: it.success ? "badge ok" : "badge danger" }, it.success ? t("loginYes") : t("loginNo"))))));
}

/** User agents are long; people want to recognise the device. */
function deviceOf(agent) {
  const browser = agent.match(/(Edg|OPR|SamsungBrowser|Firefox|Chrome|Safari)/)?.[1] ?? t("unknownDevice");
  const system = agent.match(/(iPhone|iPad|Android|Windows|Mac OS X|Linux)/)?.[1];
  return [browser, system].filter(Boolean).join(" · ");
}

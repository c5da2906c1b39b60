// What the system did by itself: notifications, messages, signals and the audit log.

import { call, get } from "../../shared/app/api.js";
import { el, whileBusy } from "../../shared/ui/dom.js";
import { count, stamp } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { may } from "../../shared/app/session.js";
import { badge, field } from "../form.js";
import { listPage, periodFields } from "../shell/list.js";
import { idFact, pairs, person, personLink } from "../shell/people.js";

const DEAD = "/api/admin/dlq";
const VERDICTS = ["UPHELD", "LIFTED"];

const time = (at) => el("span", { class: "num" }, stamp(at));

export function mailbox(page) {
  return listPage(page, {
    title: t("navMailbox"),
    words: t("mailboxWords"),
    address: "mailbox",
    path: "/api/admin/mailbox",
    name: "mailbox",
    fields: periodFields(),
    columns: [
      { head: t("colfan"), cell: (it) => person(it.person, it.userId) },
      { head: t("colsubject"), cell: (it) => it.subject },
      { head: t("colbody"), cell: (it) => el("span", { class: "quiet clip" }, it.body) },
      { head: t("coltime"), isOrder: true, cell: (it) => time(it.createdAt) },
    ],
    detail: {
      id: (it) => it.id,
      find: async () => null,
      title: (it) => it.subject,
      draw: (it) => ({
        content: [
          pairs([[t("colfan"), personLink(it.person, it.userId)], [t("coltime"), stamp(it.createdAt)], idFact(it.id)]),
          el("p", { class: "note-text" }, it.body),
        ],
      }),
    },
  });
}

/** Dead letters: replay or drop. */
export function messages(page) {
  const act = (button, method, path) => whileBusy(button, async () => {
    await call(method, path, method === "POST" ? { body: {} } : {});
    page.again();
  });
  const buttons = (it) => {
    if (it.status !== "OPEN" || !may("MANAGE_INTEGRATIONS")) return [];
    const again = el("button", { class: "btn", type: "button", onclick: () => act(again, "POST", `${DEAD}/${it.id}/replay`) }, t("again"));
    const away = el("button", { class: "btn stop", type: "button", onclick: () => act(away, "DELETE", `${DEAD}/${it.id}`) }, t("putAway"));
    return [again, away];
  };
  const status = (it) => badge(it.status === "OPEN" ? "PENDING" : it.status);
  return listPage(page, {
    title: t("navMessages"),
    words: t("messagesWords"),
    address: "messages",
    path: DEAD,
    name: "messages",
    columns: [
      { head: t("colkind"), cell: (it) => it.type },
      { head: t("colabouts"), cell: (it) => (it.person ? person(it.person) : "–") },
      { head: t("colconsumer"), cell: (it) => it.consumer },
      { head: t("colstatus"), cell: status },
      { head: t("colerror"), cell: (it) => el("span", { class: "quiet clip" }, it.error) },
      { head: t("coltime"), cell: (it) => time(it.createdAt) },
    ],
    detail: {
      id: (it) => it.id,
      find: (id) => get(`${DEAD}/${id}`, { signal: page.signal }),
      title: (it) => it.type,
      draw: (it) => ({
        content: [
          status(it),
          pairs([
            [t("colabouts"), it.person ? personLink(it.person, it.person.id) : null],
            [t("colconsumer"), it.consumer],
            [t("coltries"), count(it.attempts)],
            [t("coltime"), stamp(it.createdAt)],
            idFact(it.id),
          ]),
          el("p", { class: "note warn" }, it.error),
          el("pre", { class: "code", tabindex: 0, "aria-label": t("colbody") }, it.body),
        ],
        actions: buttons(it),
      }),
    },
  });
}

/** Bot signals, the fans' appeals, and the organisers' verdicts. */
export function signals(page) {
  const decide = (button, it, verdict) => whileBusy(button, async () => {
    await call("POST", `/api/admin/signals/${it.id}/verdict`, { body: { verdict } });
    page.again();
  });
  const buttons = (it) => (it.verdict || !may("SUPPORT_FANS") ? [] : VERDICTS.map((verdict) => {
    const button = el("button", { class: "btn", type: "button", onclick: () => decide(button, it, verdict) }, t("state", verdict));
    return button;
  }));
  return listPage(page, {
    title: t("navSignals"),
    words: t("signalsWords"),
    address: "signals",
    path: "/api/admin/signals",
    name: "signals",
    columns: [
      { head: t("colfan"), cell: (it) => person(it.person, it.userId) },
      { head: t("colkind"), cell: (it) => it.kind },
      { head: t("colreason"), cell: (it) => `${it.reason} (×${count(it.seen)})` },
      { head: t("colappeal"), cell: (it) => el("span", { class: "clip" }, it.appeal ?? "–") },
      { head: t("colstatus"), cell: (it) => (it.verdict ? badge(it.verdict) : "–") },
      { head: t("coltime"), cell: (it) => time(it.updatedAt) },
    ],
    detail: {
      id: (it) => it.id,
      find: async () => null,
      title: (it) => it.person?.name ?? it.kind,
      draw: (it) => ({
        content: [
          it.verdict ? badge(it.verdict) : null,
          pairs([
            [t("colfan"), personLink(it.person, it.userId)],
            [t("colkind"), it.kind],
            [t("colreason"), `${it.reason} (×${count(it.seen)})`],
            [t("coltime"), stamp(it.updatedAt)],
            idFact(it.id),
          ]),
          it.appeal ? el("div", { class: "note" }, el("b", {}, t("colappeal")), el("p", { class: "note-text" }, it.appeal)) : null,
        ],
        actions: buttons(it),
      }),
    },
  });
}

/** Ids in an address are long and similar; their ends tell them apart. */
function shortened(text) {
  return text.replace(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, (id) => `…${id.slice(-8)}`);
}

const given = (details) => (typeof details === "string" ? JSON.parse(details || "{}") : details ?? {});
const value = (it) => (it !== null && typeof it === "object" ? JSON.stringify(it) : String(it));

/** `mode: PAUSED · maxActive: 1000`. */
function inWords(details) {
  const isSaid = ([, it]) => value(it) !== "{}";
  return Object.entries(given(details)).filter(isSaid).map(([name, it]) => `${name}: ${shortened(value(it))}`).join(" · ") || "–";
}

/** A person, an API key by its name, or the system itself. */
const actor = (it) => (it.actor || !it.actorKey ? person(it.actor, it.actorId) : el("span", { class: "person" }, el("b", {}, it.actorKey)));

export function audit(page) {
  return listPage(page, {
    title: t("navAudit"),
    words: t("auditWords"),
    address: "audit",
    path: "/api/admin/audit",
    name: "audit",
    hasCsv: true,
    fields: [
      field({ label: t("colaction"), name: "action", type: "search", maxlength: 60, placeholder: t("auditAction") }),
      field({ label: t("colabout"), name: "subject", type: "search", maxlength: 200 }),
      ...periodFields(),
    ],
    columns: [
      { head: t("colwho"), cell: actor },
      { head: t("colaction"), cell: (it) => el("code", { title: it.action }, it.action) },
      { head: t("colabouts"), cell: (it) => [it.about ? person(it.about) : null, el("small", { class: "quiet clip", title: it.subject }, shortened(it.subject))] },
      { head: t("coldetails"), cell: (it) => el("span", { class: "quiet clip" }, inWords(it.details)) },
      { head: t("coltime"), isOrder: true, cell: (it) => time(it.at) },
    ],
    detail: {
      id: (it) => it.seq,
      find: async (seq) => (await get(`/api/admin/audit?${new URLSearchParams({ cursor: Number(seq) + 1, limit: 1 })}`, { signal: page.signal })).items.find((it) => String(it.seq) === seq),
      title: (it) => it.action,
      draw: (it) => ({
        content: [
          pairs([
            [t("colwho"), it.actor ? personLink(it.actor, it.actorId) : actor(it)],
            [t("colabouts"), it.about ? personLink(it.about, it.about.id) : null],
            [t("colabout"), el("code", { class: "quiet" }, it.subject)],
            [t("coltime"), stamp(it.at)],
            [t("colseq"), count(it.seq)],
          ]),
          el("h3", {}, t("coldetails")),
          pairs(Object.entries(given(it.details)).map(([name, it]) => [name, value(it)])),
        ],
      }),
    },
  });
}

// What the system did by itself: notifications, messages, jobs, and the audit log.

import { call, get } from "../../shared/app/api.js";
import { every } from "../../shared/app/clock.js";
import { el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { count, moment, stamp } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { csvButton, csvOf, listButton, pagedTable, save } from "../../shared/ui/table.js";
import { badge, field, heading, shortId } from "../form.js";

const DEAD = "/api/admin/dlq";
const VERDICTS = ["UPHELD", "LIFTED"];

function listPage({ main, signal }, { title, words, path, columns, fields = [], hasCsv, name }) {
  const filters = el("form", { class: "filters" }, fields);
  const query = () => Object.fromEntries(new FormData(filters));
  const table = pagedTable({ caption: title, path, query, signal, columns });
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("input", () => table.reload());
  main.className = "wide";
  main.replaceChildren(
    heading(title, words, (hasCsv ? csvButton : listButton)({ path, query, name })),
    el("section", { class: "card" }, fields.length ? filters : null, table.element));
  return table.reload();
}

export function mailbox(page) {
  return listPage(page, {
    title: t("navMailbox"),
    words: t("mailboxWords"),
    path: "/api/admin/mailbox",
    name: "mailbox",
    columns: [
      { head: t("colsubject"), cell: (it) => it.subject },
      { head: t("colbody"), cell: (it) => el("span", { class: "quiet" }, it.body) },
      { head: t("colfan"), cell: (it) => el("a", { href: `#/users?query=${it.userId}` }, shortId(it.userId)) },
      { head: t("coltime"), cell: (it) => el("span", { class: "num" }, stamp(it.createdAt)) },
    ],
  });
}

/** Dead letters: replay or drop. */
export function messages(page) {
  const act = (button, method, path) => whileBusy(button, async () => {
    await call(method, path, method === "POST" ? { body: {} } : {});
    page.again();
  });
  const buttons = (it) => {
    const again = el("button", { class: "btn small", type: "button", onclick: () => act(again, "POST", `${DEAD}/${it.id}/replay`) }, t("again"));
    const away = el("button", { class: "btn small", type: "button", onclick: () => act(away, "DELETE", `${DEAD}/${it.id}`) }, t("putAway"));
    return el("div", { class: "row" }, again, away);
  };
  return listPage(page, {
    title: t("navMessages"),
    words: t("messagesWords"),
    path: DEAD,
    name: "messages",
    columns: [
      { head: t("colkind"), cell: (it) => it.type },
      { head: t("colconsumer"), cell: (it) => it.consumer },
      { head: t("colstatus"), cell: (it) => badge(it.status === "OPEN" ? "PENDING" : it.status) },
      { head: t("colerror"), cell: (it) => el("span", { class: "quiet" }, it.error) },
      { head: t("coltime"), cell: (it) => el("span", { class: "num" }, stamp(it.createdAt)) },
      { head: t("colactions"), cell: buttons },
    ],
  });
}

/** Bot signals, the fans' appeals, and the organisers' verdicts. */
export function signals(page) {
  const decide = (button, it, verdict) => whileBusy(button, async () => {
    await call("POST", `/api/admin/signals/${it.id}/verdict`, { body: { verdict } });
    page.again();
  });
  const buttons = (it) => (it.verdict ? badge(it.verdict) : el("div", { class: "row" }, VERDICTS.map((verdict) => {
    const button = el("button", { class: "btn small", type: "button", onclick: () => decide(button, it, verdict) }, t("state", verdict));
    return button;
  })));
  return listPage(page, {
    title: t("navSignals"),
    words: t("signalsWords"),
    path: "/api/admin/signals",
    name: "signals",
    columns: [
      { head: t("colkind"), cell: (it) => it.kind },
      { head: t("colreason"), cell: (it) => `${it.reason} (×${count(it.seen)})` },
      { head: t("colfan"), cell: (it) => el("a", { href: `#/users?query=${it.userId}` }, shortId(it.userId)) },
      { head: t("colappeal"), cell: (it) => it.appeal ?? "–" },
      { head: t("coltime"), cell: (it) => el("span", { class: "num" }, stamp(it.updatedAt)) },
      { head: t("colactions"), cell: buttons },
    ],
  });
}

/** Ids in an address are long and similar; their ends tell them apart. */
function shortened(text) {
  return text.replace(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, (id) => `…${id.slice(-8)}`);
}

/** `mode: PAUSED · maxActive: 1000`. */
function inWords(details) {
  const given = typeof details === "string" ? JSON.parse(details || "{}") : details ?? {};
  const value = (it) => (it !== null && typeof it === "object" ? JSON.stringify(it) : String(it));
  const isSaid = ([, it]) => value(it) !== "{}";
  return Object.entries(given).filter(isSaid).map(([name, it]) => `${name}: ${shortened(value(it))}`).join(" · ") || "–";
}

export function audit(page) {
  return listPage(page, {
    title: t("navAudit"),
    words: t("auditWords"),
    path: "/api/admin/audit",
    name: "audit",
    hasCsv: true,
    fields: [
      field({ label: t("colaction"), name: "action", type: "search", maxlength: 60, placeholder: t("auditAction") }),
      field({ label: t("colabout"), name: "subject", type: "search", maxlength: 200 }),
    ],
    columns: [
      { head: t("colseq"), cell: (it) => el("span", { class: "num" }, count(it.seq)) },
      { head: t("coltime"), cell: (it) => el("span", { class: "num" }, stamp(it.at)) },
      { head: t("colaction"), cell: (it) => el("code", { title: it.action }, it.action) },
      { head: t("colabout"), cell: (it) => el("span", { title: it.subject }, shortened(it.subject)) },
      { head: t("colactor"), cell: (it) => shortId(it.actorId) },
      { head: t("coldetails"), cell: (it) => el("span", { class: "quiet details" }, inWords(it.details)) },
    ],
  });
}

const JOBS_EVERY_MS = 2_000;

export async function jobs(page) {
  const problem = problemBox();
  const body = el("tbody", {});
  let shown = [];
  const csv = el("button", { class: "btn", type: "button", onclick: () => save(csvOf(shown.map(({ last, ...job }) => ({ ...job, ...last }))), "jobs.csv") }, icon("download"), t("csv"));
  const heads = ["job", "runs", "status", "lastRun", "done", "took", "error", "actions"];
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(t("navJobs"), t("jobsWords"), csv),
    problem.element,
    el("section", { class: "card" },
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("navJobs") },
        el("table", { class: "num" },
          el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, t(`col${head}`))))),
          body))));
  every(JOBS_EVERY_MS, page.signal, async () => {
    try {
      const { items } = await get("/api/admin/jobs", { signal: page.signal });
      shown = items;
      body.replaceChildren(...items.map((job) => jobRow(page, job)));
      problem.show("");
    } catch (error) {
      if (error.name !== "AbortError") problem.show(error.message);
    }
  });
}

function jobRow(page, { name, about, runs, last }) {
  const run = el("button", { class: "btn small", type: "button", onclick: () => whileBusy(run, () => call("POST", `/api/admin/jobs/${name}/run`, { body: {} }).catch(() => null)) }, t("runNow"));
  const state = last ? badge(last.error ? "FAILED" : "OK") : "–";
  const tookMs = last ? Date.parse(last.finishedAt) - Date.parse(last.startedAt) : null;
  return el("tr", {},
    el("th", { scope: "row" }, name, el("br"), el("small", { class: "quiet" }, t("jobAbout", name, about))),
    el("td", { class: "num" }, t("jobRuns", runs)),
    el("td", {}, state),
    el("td", { class: "num" }, last ? stamp(last.startedAt) : "–"),
    el("td", { class: "right" }, last ? count(last.done) : "–"),
    el("td", { class: "right num" }, tookMs === null ? "–" : `${count(tookMs)} ms`),
    el("td", { class: "quiet" }, last?.error ?? ""),
    el("td", {}, run));
}

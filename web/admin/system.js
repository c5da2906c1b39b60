// What the platform did by itself: letters, messages, jobs, and who changed what.

import { call, get } from "../shared/api.js";
import { every } from "../shared/clock.js";
import { el, problemBox, whileBusy } from "../shared/dom.js";
import { count, moment, stamp } from "../shared/format.js";
import { t } from "../shared/i18n.js";
import { csvButton, pagedTable } from "../shared/table.js";
import { badge, heading, shortId } from "./form.js";

function listPage({ main, signal }, { title, words, path, columns, hasCsv, name }) {
  const table = pagedTable({ caption: title, path, signal, columns });
  main.className = "wide";
  main.replaceChildren(
    heading(title, words, hasCsv ? csvButton({ path, name, problem: table.problem }) : null),
    el("section", { class: "card" }, table.element));
  return table.reload();
}

export function mailbox(page) {
  return listPage(page, {
    title: t("navMailbox"),
    words: t("mailboxWords"),
    path: "/api/admin/mailbox",
    columns: [
      { head: t("colsubject"), cell: (it) => it.subject },
      { head: t("colbody"), cell: (it) => el("span", { class: "quiet" }, it.body) },
      { head: t("colfan"), cell: (it) => el("a", { href: `#/users?query=${it.userId}` }, shortId(it.userId)) },
      { head: t("coltime"), cell: (it) => el("span", { class: "num" }, stamp(it.createdAt)) },
    ],
  });
}

export function messages(page) {
  const again = async (button, message) => whileBusy(button, async () => {
    await call("POST", `/api/admin/messages/${message.id}/retry`, { body: {} });
    page.again();
  });
  return listPage(page, {
    title: t("navMessages"),
    words: t("messagesWords"),
    path: "/api/admin/messages",
    columns: [
      { head: t("colkind"), cell: (it) => it.kind },
      { head: t("coltopic"), cell: (it) => it.topic },
      { head: t("colstatus"), cell: (it) => badge(it.status ?? "DEAD") },
      { head: t("colerror"), cell: (it) => el("span", { class: "quiet" }, it.lastError ?? it.error ?? "") },
      { head: t("coltime"), cell: (it) => el("span", { class: "num" }, stamp(it.createdAt)) },
      { head: t("colactions"), cell: (it) => {
        const button = el("button", { class: "btn small", type: "button", onclick: () => again(button, it) }, t("again"));
        return button;
      } },
    ],
  });
}

export function audit(page) {
  return listPage(page, {
    title: t("navAudit"),
    words: t("auditWords"),
    path: "/api/admin/audit",
    name: "audit",
    hasCsv: true,
    columns: [
      { head: t("colseq"), cell: (it) => count(it.seq) },
      { head: t("coltime"), cell: (it) => el("span", { class: "num" }, stamp(it.createdAt ?? it.at)) },
      { head: t("colaction"), cell: (it) => el("code", {}, it.action) },
      { head: t("colsubject"), cell: (it) => it.subject },
      { head: t("colactor"), cell: (it) => shortId(it.actorId) },
      { head: t("coldetails"), cell: (it) => el("code", { class: "quiet" }, typeof it.details === "string" ? it.details : JSON.stringify(it.details)) },
    ],
  });
}

const JOBS_EVERY_MS = 2_000;

export async function jobs(page) {
  const problem = problemBox();
  const body = el("tbody", {});
  const heads = ["job", "status", "lastRun", "done", "took", "error"];
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(t("navJobs"), t("jobsWords")),
    problem.element,
    el("section", { class: "card" },
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("navJobs") },
        el("table", { class: "num" },
          el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, t(`col${head}`))))),
          body))));
  every(JOBS_EVERY_MS, page.signal, async () => {
    try {
      const { items } = await get("/api/admin/jobs", { signal: page.signal });
      body.replaceChildren(...items.map(jobRow));
      problem.show("");
    } catch (error) {
      if (error.name !== "AbortError") problem.show(error.message);
    }
  });
}

function jobRow(job) {
  return el("tr", {},
    el("th", { scope: "row" }, job.name),
    el("td", {}, badge(job.lastError ? "FAILED" : "OK")),
    el("td", {}, job.lastRunAt ? moment(job.lastRunAt) : "–"),
    el("td", { class: "right" }, count(job.done ?? 0)),
    el("td", { class: "right" }, job.tookMs === undefined ? "–" : `${count(job.tookMs)} ms`),
    el("td", { class: "quiet" }, job.lastError ?? ""));
}

// Who may buy in a phase: codes that are shown once, member lists with their progress, and the
// organiser's server that decides instead of a list.

import { call, get, remove } from "../../../shared/app/api.js";
import { every } from "../../../shared/app/clock.js";
import { ask } from "../../../shared/ui/dialog.js";
import { announce, el, problemBox, whileBusy } from "../../../shared/ui/dom.js";
import { count, moment } from "../../../shared/ui/format.js";
import { t } from "../../../shared/ui/i18n.js";
import { area, card, field } from "../../form.js";
import { showSecret } from "../../operations/webhooks.js";

export function peopleCard(page, phase) {
  const content = phase.audience === "CODE" ? [codesForm(page, phase)] : [phase.memberWebhook ? null : membersForm(page, phase), webhookForm(page, phase)];
  return card(phase.name, t("phaseCounts", count(phase.verified)), ...content);
}

function codesForm(page, phase) {
  const problem = problemBox();
  const made = el("div", {});
  const button = el("button", { class: "btn brand" }, t("codesMake"));
  const form = el("form", { class: "pad stack" },
    el("p", { class: "quiet num" }, t("codesCount", count(phase.codes), count(phase.codesUsed), count(phase.codeUses))),
    el("div", { class: "row" },
      field({ label: t("codesNumber"), name: "count", type: "number", min: 1, max: 10_000, value: 100 }),
      field({ label: t("codesUses"), name: "usesMax", type: "number", min: 1, max: 1_000_000, value: 1, required: true })),
    area({ label: t("codesOwn"), name: "codes", hint: t("codesOwnHint") }),
    problem.element,
    el("div", { class: "row" }, button),
    made);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(button, async () => {
      problem.show("");
      try {
        const answer = await call("POST", `/api/admin/phases/${phase.id}/codes`, { body: readCodes(new FormData(form)) });
        announce(t("codesAdded", count(answer.added)));
        made.replaceChildren(el("p", { class: "note ok num" }, t("codesAdded", count(answer.added))), shownOnce(answer.codes));
      } catch (error) {
        problem.show(error.message);
      }
    });
  });
  return form;
}

function readCodes(form) {
  const codes = form.get("codes").split(/\s+/).filter(Boolean);
  const usesMax = Number(form.get("usesMax"));
  return codes.length ? { codes, usesMax } : { count: Number(form.get("count")), usesMax };
}

/** Only hashes are stored, so this is the last chance to copy them. */
function shownOnce(codes) {
  if (!codes.length) return "";
  return area({ label: t("codesOnce"), value: codes.join("\n"), readonly: true, rows: 8 });
}

function membersForm(page, phase) {
  const problem = problemBox();
  const progress = el("div", { class: "stack tight", role: "status" }, phase.imports.slice(0, 1).map(importView));
  const file = el("input", { type: "file", name: "file", accept: ".csv,text/csv", required: true });
  const button = el("button", { class: "btn brand" }, t("membersUpload"));
  const form = el("form", { class: "pad stack" },
    el("p", { class: "quiet num" }, t("membersCount", count(phase.members))),
    el("p", { class: "quiet" }, t("membersWords")),
    el("label", { class: "field" }, t("membersFile"), file),
    problem.element,
    el("div", { class: "row" }, button),
    progress);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(button, async () => {
      problem.show("");
      const done = new AbortController();
      watch(page, phase, { progress, signal: AbortSignal.any([page.signal, done.signal]) });
      try {
        const answer = await call("POST", `/api/admin/phases/${phase.id}/members`, { file: file.files[0], signal: page.signal });
        progress.replaceChildren(importView(answer));
      } catch (error) {
        problem.show(error.message);
      } finally {
        done.abort();
      }
    });
  });
  return form;
}

/** The server that decides who is a member; the list is ignored while there is one. */
function webhookForm(page, phase) {
  const path = `/api/admin/phases/${phase.id}/member-webhook`;
  const known = phase.memberWebhook;
  const problem = problemBox();
  const save = el("button", { class: "btn" }, t("saveIt"));
  const rotate = el("button", { class: "btn small", type: "button", onclick: () => rotateSecret(path) }, t("webhookRotate"));
  const drop = el("button", { class: "btn stop small", type: "button", onclick: () => dropWebhook(page, path) }, t("memberHookDrop"));
  const form = el("form", { class: "pad stack", "aria-label": t("memberHook") },
    el("h3", {}, t("memberHook")),
    el("p", { class: "quiet" }, t("memberHookWords")),
    field({ label: t("webhookUrl"), name: "url", type: "url", value: known?.url, required: true, maxlength: 500, hint: t("webhookUrlHint") }),
    problem.element,
    el("div", { class: "row" }, save, known ? [rotate, drop] : null));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(save, async () => {
      problem.show("");
      try {
        const { secret } = await call("PUT", path, { body: { url: new FormData(form).get("url") } });
        if (secret) await showSecret(secret);
        announce(t("saved"));
        page.again();
      } catch (error) {
        problem.show(error.message);
      }
    });
  });
  return form;
}

async function rotateSecret(path) {
  let made = null;
  await ask({
    title: t("webhookRotate"),
    content: el("p", {}, t("webhookRotateWords")),
    yes: t("webhookRotate"),
    isDanger: true,
    act: async () => (made = await call("POST", `${path}/secret`, { body: {} })),
  });
  if (made) await showSecret(made.secret);
}

async function dropWebhook(page, path) {
  const done = await ask({ title: t("deleteSure"), content: el("p", {}, t("memberHookDropWords")), yes: t("memberHookDrop"), isDanger: true, act: () => remove(path) });
  if (done) page.again();
}

/** Shows how far the file has been read, once a second. */
function watch(page, phase, { progress, signal }) {
  every(1_000, signal, async () => {
    const { items } = await get(`/api/admin/schedules/${page.id}/phases`, { signal }).catch(() => ({ items: [] }));
    const latest = items.find(({ id }) => id === phase.id)?.imports[0];
    if (latest && !latest.doneAt && !signal.aborted) progress.replaceChildren(importView(latest));
  });
}

function importView(it) {
  return el("div", { class: "stack tight" },
    el("p", { class: it.doneAt ? "note ok num" : "note num" },
      t("membersProgress", count(it.lines), count(it.added), count(it.known), count(it.wrong)), " · ", moment(it.createdAt)),
    it.problems.length ? el("ul", { class: "num" }, it.problems.map(({ line, field, problem }) =>
      el("li", {}, t("membersProblem", count(line), field, problem)))) : null);
}

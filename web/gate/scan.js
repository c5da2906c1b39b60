// Scanning: the answer fills the screen, sounds and vibrates. Without a network the device decides
// by its own list and sends the scans later.

import { call, get } from "../shared/app/api.js";
import { ask } from "../shared/ui/dialog.js";
import { announce, el, problemBox } from "../shared/ui/dom.js";
import { clockTime, count, moment } from "../shared/ui/format.js";
import { t } from "../shared/ui/i18n.js";
import { camera } from "./camera.js";
import { checkOffline, download, sync } from "./offline/check.js";
import { search } from "./search.js";
import { knownShows, scansOf } from "./offline/store.js";

const ANSWER_WITHIN_MS = 4_000;
const SYNC_EVERY_MS = 10_000;
const LOG_MAX = 30;

export async function scan(page) {
  const scheduleId = page.id;
  const gate = page.query.get("gate") || "1";
  const show = knownShows().find((it) => it.scheduleId === scheduleId);
  const sections = show?.gates.find((it) => it.name === gate)?.sections ?? [];
  const state = { scheduleId, gate, sections, last: null };
  const view = draw(page, show, state);
  page.signal.addEventListener("abort", () => clearInterval(timer));
  const timer = setInterval(() => keepUp(state, view), SYNC_EVERY_MS);
  window.addEventListener("online", () => keepUp(state, view), { signal: page.signal });
  download(scheduleId, page.signal, (n) => view.showList(n)).catch(() => view.showList(null));
  await keepUp(state, view);
}

function draw(page, show, state) {
  document.getElementById("where").textContent = `${show?.eventTitle ?? ""} · ${state.gate}`;
  const verdict = el("div", { class: "verdict", role: "status", "aria-live": "assertive" }, el("b", {}, t("ready")));
  const input = el("input", { class: "scan", autocomplete: "off", spellcheck: "false", inputmode: "none", "aria-label": t("code") });
  const form = el("form", { class: "row" }, input, el("button", { class: "btn" }, t("check")));
  const [counted, line, list] = ["num", "quiet", "quiet"].map((name) => el("span", { class: name }));
  const log = el("ul", { class: "log num" });
  const undo = el("button", { class: "btn", type: "button", disabled: true }, t("undo"));
  const problem = problemBox();
  const view = {
    say: (kind, title, words) => say({ verdict, log }, kind, title, words),
    showCount: (found) => (counted.textContent = t("admitted", count(found.admitted), count(found.tickets))),
    showLine: (n) => (line.textContent = n === null ? t("online") : t("offline", count(n))),
    showList: (n) => (list.textContent = n === null ? t("listOld") : t("listHas", count(n))),
    mayUndo: (isPossible) => (undo.disabled = !isPossible),
    problem,
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const code = input.value.trim();
    input.value = "";
    if (code) check(state, view, code);
  });
  undo.addEventListener("click", () => takeBack(state, view));
  page.main.className = "gatepage";
  page.main.replaceChildren(
    el("h1", { class: "sr" }, `${t("gate")} ${state.gate}`),
    verdict,
    el("p", { class: "row wrap" }, counted, line, list),
    problem.element,
    camera(page, (code) => check(state, view, code)),
    form,
    el("div", { class: "row" }, undo, el("a", { class: "btn", href: "#/" }, t("otherGate"))),
    search(state),
    el("section", { class: "card" }, el("h2", { class: "bar" }, t("log")), log));
  // A keyboard scanner types into it.
  input.focus({ preventScroll: true });
  return view;
}

async function check(state, view, code) {
  const { scheduleId, gate } = state;
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const ticket = await call("POST", "/api/admin/checkin", { body: { code, scheduleId, gate }, signal });
    accept(state, view, ticket);
  } catch (error) {
    if (error.name === "TimeoutError" || error.name === "AbortError" || error.status === 0 || 500 <= error.status) {
      return decideAlone(state, view, code);
    }
    refuse(view, error.code, error.body ?? {}, error.message);
  }
}

async function decideAlone(state, view, code) {
  const { verdict, ticket } = await checkOffline({ ...state, code });
  view.showLine((await scansOf(state.scheduleId)).length);
  if (verdict === "OK") return accept(state, view, ticket);
  refuse(view, verdict, ticket ?? {}, "");
}

function accept(state, view, ticket) {
  state.last = ticket;
  view.mayUndo(true);
  const seat = [ticket.section, ticket.seatNumber, ticket.grade].filter(Boolean).join(" · ");
  view.say("ok", t("welcome"), [ticket.name, seat].filter(Boolean).join(" — "));
}

function refuse(view, code, body, message) {
  const words = {
    TICKET_USED: () => t("usedAt", body.usedAt ? moment(body.usedAt) : "", body.usedGate ?? ""),
    TICKET_OTHER_GATE: () => t("goTo", (body.gates ?? []).join(", ")),
  };
  view.say("no", t("refused", code), words[code]?.() ?? message);
}

function say({ verdict, log }, kind, title, words) {
  verdict.className = `verdict ${kind}`;
  verdict.replaceChildren(el("b", {}, title), el("span", {}, words));
  announce(`${title} ${words}`);
  navigator.vibrate?.(kind === "ok" ? 80 : [120, 80, 120]);
  beep(kind === "ok" ? 880 : 220);
  log.prepend(el("li", {}, el("time", {}, clockTime(Date.now()).slice(0, 8)), el("span", {}, `${title} · ${words}`)));
  while (LOG_MAX < log.children.length) log.lastElementChild.remove();
}

let sound = null;

function beep(hertz) {
  if (!("AudioContext" in window) || !navigator.userActivation?.hasBeenActive) return;
  sound ??= new AudioContext();
  const [tone, volume] = [sound.createOscillator(), sound.createGain()];
  tone.frequency.value = hertz;
  volume.gain.value = 0.1;
  tone.connect(volume).connect(sound.destination);
  tone.start();
  tone.stop(sound.currentTime + 0.15);
}

async function takeBack(state, view) {
  const { scheduleId, gate, last } = state;
  const isUndone = await ask({
    title: t("undo"),
    content: el("label", { class: "field" }, t("undoWhy"), el("input", { name: "reason", maxlength: 200, required: true })),
    yes: t("undo"),
    act: (form) => call("POST", "/api/admin/checkin/undo", { body: { scheduleId, gate, ticketId: last.ticketId, reason: form.get("reason").trim() } }),
  });
  if (!isUndone) return;
  view.mayUndo(false);
  view.say("", t("undone"), last.seatNumber);
}

/** Sends what was scanned without a network, and shows the counts. */
async function keepUp(state, view) {
  try {
    const doubles = await sync(state.scheduleId);
    if (doubles.length) view.problem.show(t("doubles", doubles.length, doubles.map((it) => it.usedGate).join(", ")));
    view.showCount(await get(`/api/admin/schedules/${state.scheduleId}/attendance`));
    view.showLine(null);
  } catch (error) {
    view.showLine((await scansOf(state.scheduleId)).length);
  }
}

// Scanning: the answer fills the screen, sounds and vibrates. Without a network, without a session
// and while the server is busy, the device decides by its own list and sends the scans later.

import { call, get, Problem } from "../shared/app/api.js";
import { isLoggedIn, may } from "../shared/app/session.js";
import { stayLoggedIn } from "../shared/app/stay.js";
import { ask } from "../shared/ui/dialog.js";
import { el } from "../shared/ui/dom.js";
import { moment } from "../shared/ui/format.js";
import { language, t } from "../shared/ui/i18n.js";
import { logInHere } from "./login.js";
import { checkOffline, isUnsent, noteAdmitted, noteUndone, undoOffline } from "./offline/check.js";
import { keepClock } from "./offline/clock.js";
import { updateList } from "./offline/list.js";
import { countTickets, forgetList, forgetLists, knownShow, listOf, putList, rememberShows, scansOf } from "./offline/store.js";
import { sync } from "./offline/sync.js";
import { draw } from "./scan/screen.js";

const ANSWER_WITHIN_MS = 4_000;
const KEEP_UP_EVERY_MS = 10_000;
const LIST_EVERY_MS = 20_000;
const SHOWS_EVERY_MS = 300_000;

/**
 * A session that ended may have been idle, or its steward was removed. While the server can be
 * reached, the list waits this long for a new login.
 */
const LOGGED_OUT_MAX_MS = 900_000;

/** After a server that didn't answer, guests don't wait for it again this long. */
const ALONE_MS = 15_000;

export async function scan(page) {
  const state = { scheduleId: page.id, gate: page.query.get("gate") || "1", last: null, aloneUntil: 0, listAt: -Infinity, showsAt: -Infinity };
  const view = draw(page, {
    show: () => knownShow(state.scheduleId),
    gate: state.gate,
    scheduleId: state.scheduleId,
    check: (code) => check(state, view, code),
    undo: () => takeBack(state, view),
    logIn: () => logInAgain(state, view),
  });
  state.run = () => keepUp(page, state, view);
  const timer = setInterval(state.run, KEEP_UP_EVERY_MS);
  page.signal.addEventListener("abort", () => clearInterval(timer));
  window.addEventListener("online", state.run, { signal: page.signal });
  stayLoggedIn(page);
  view.showList(await listOf(state.scheduleId), await countTickets(state.scheduleId));
  await state.run();
}

/** The sections of this gate, as the organiser set them last. */
const sectionsOf = ({ scheduleId, gate }) => knownShow(scheduleId)?.gates.find((it) => it.name === gate)?.sections ?? [];

async function check(state, view, code) {
  const { scheduleId, gate } = state;
  // If the answer is lost, the later scan with the same id is the same check-in.
  const id = crypto.randomUUID();
  if (performance.now() < state.aloneUntil || !isLoggedIn()) return decideAlone(state, view, { code, id });
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const ticket = await call("POST", "/api/admin/checkin", { body: { code, scheduleId, gate, id }, signal, isQuiet: true });
    accept(state, view, ticket);
    await noteAdmitted(scheduleId, ticket);
  } catch (error) {
    if (error instanceof Problem && !error.isOpen) return refuse(view, error.code, error.body, error.message);
    if (error.status !== 401) state.aloneUntil = performance.now() + ALONE_MS;
    await decideAlone(state, view, { code, id });
    if (error.status === 401) logInAgain(state, view);
  }
}

async function decideAlone(state, view, scanned) {
  const { scheduleId, gate } = state;
  const { verdict, ticket, show } = await checkOffline({ scheduleId, gate, sections: sectionsOf(state), ...scanned });
  view.showLine((await scansOf()).length);
  if (verdict === "OK") return accept(state, view, ticket);
  const known = await listOf(scheduleId);
  if (verdict === "LIST_BROKEN") {
    // Without its cursor, the whole list is downloaded again.
    await putList({ ...known, cursor: null });
    state.listAt = -Infinity;
  }
  const currentAt = known?.currentAt;
  refuse(view, verdict, { ...ticket, show, currentAt, gates: gatesFor(state, ticket) }, "");
}

/** The gates that admit a ticket's section. */
function gatesFor({ scheduleId }, ticket) {
  const gates = knownShow(scheduleId)?.gates ?? [];
  return gates.filter(({ sections }) => !sections.length || sections.includes(ticket?.section)).map(({ name }) => name);
}

function accept(state, view, ticket) {
  state.last = ticket;
  view.countOne(ticket);
  view.mayUndo(true);
  const seat = [ticket.section, ticket.seatNumber, ticket.grade].filter(Boolean).join(" · ");
  const { type, proof } = typeOf(ticket);
  const words = [ticket.name, seat, type].filter(Boolean).join(" — ");
  // The steward looks at a card before the guest goes in.
  if (proof) view.say("proof", t("checkProof", proof), words);
  else view.say("ok", t("welcome"), words);
}

/** The ticket's type and the proof that it asks for, in the steward's language. */
function typeOf({ ticketType: type }) {
  if (!type) return {};
  return language() === "ko" ? { type: type.name, proof: type.proof } : { type: type.nameEn, proof: type.proofEn ?? type.proof };
}

function refuse(view, code, found, message) {
  const words = {
    TICKET_USED: () => t("usedAt", found.usedAt ? moment(found.usedAt) : "", found.usedGate ?? ""),
    TICKET_OTHER_GATE: () => t("goTo", (found.gates ?? []).join(", ")),
    TICKET_ELSEWHERE: () => (found.show ? t("itsDate", found.show.eventTitle, moment(found.show.startsAt, found.show.timeZone)) : message),
    NOT_LISTED: () => t("notListed", found.currentAt ? moment(new Date(found.currentAt).toISOString()) : ""),
    NO_LIST: () => t("noList"),
    LIST_BROKEN: () => t("listBroken"),
    CODE_REPLACED: () => t("codeReplaced"),
    CODE_OVER: () => t("codeOver"),
  };
  view.say("no", t("refused", code), words[code]?.() ?? message);
}

async function takeBack(state, view) {
  const { last } = state;
  const isUndone = await ask({
    title: t("undo"),
    content: el("label", { class: "field" }, t("undoWhy"), el("input", { name: "reason", maxlength: 200, required: true })),
    yes: t("undo"),
    act: (form) => undo(state, form.get("reason").trim()),
  });
  if (!isUndone) return;
  view.mayUndo(false);
  view.say("", t("undone"), last.seatNumber);
  view.showLine((await scansOf()).length);
}

/** What the server doesn't know yet, or can't be told now, is taken back later. */
async function undo({ scheduleId, gate, last: { ticketId, checkInId } }, reason) {
  const later = () => undoOffline({ scheduleId, gate, ticketId, checkInId, reason });
  if (await isUnsent(checkInId) || !isLoggedIn()) return later();
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    await call("POST", "/api/admin/checkin/undo", { body: { scheduleId, gate, ticketId, reason }, signal, isQuiet: true });
    await noteUndone(scheduleId, ticketId);
  } catch (error) {
    if (error instanceof Problem && !error.isOpen) throw error;
    await later();
  }
}

async function logInAgain(state, view) {
  if (isLoggedIn()) return;
  view.showLoggedOut(true);
  if (await logInHere()) await state.run();
}

/** Sends what was scanned alone, then brings the list and the counts up to date. One round at a time. */
async function keepUp(page, state, view) {
  if (state.isRunning || page.signal.aborted) return;
  state.isRunning = true;
  try {
    if (!isLoggedIn()) throw new Problem(401, {}, 0);
    const { doubles, moved } = await sync();
    view.showDoubles(doubles);
    view.showMoved(moved);
    state.aloneUntil = 0;
    await follow(page, state, view);
    keepClock();
    view.showLine(null);
    view.showLoggedOut(false);
    state.outSince = null;
  } catch (error) {
    if (!page.signal.aborted) await fallBehind(state, view, error);
  } finally {
    state.isRunning = false;
  }
}

async function follow(page, state, view) {
  const { scheduleId } = state;
  const now = performance.now();
  const options = { signal: page.signal, isQuiet: true };
  if (SHOWS_EVERY_MS < now - state.showsAt) {
    await rememberShows((await get("/api/admin/gate/shows", options)).items);
    state.showsAt = now;
    view.showShow();
  }
  if (may("VIEW_ATTENDANCE")) view.showCounts(await get(`/api/admin/schedules/${scheduleId}/attendance`, options));
  if (now - state.listAt < LIST_EVERY_MS) return;
  const n = await updateList(scheduleId, { signal: page.signal, onProgress: view.showProgress });
  state.listAt = performance.now();
  view.showList(await listOf(scheduleId), n);
}

async function fallBehind(state, view, error) {
  if (error.status === 401) {
    view.showLoggedOut(true);
    state.outSince ??= performance.now();
    if (navigator.onLine && LOGGED_OUT_MAX_MS < performance.now() - state.outSince) await forgetLists();
  }
  // The steward was removed from the team, or from this event.
  if (error.status === 403) await forgetLists();
  const isGone = error.status === 404 || error.code === "GATES_CLOSED";
  if (isGone) await forgetList(state.scheduleId);
  if (error.status === 403 || isGone) view.problem.show(error.message);
  view.showList(await listOf(state.scheduleId), await countTickets(state.scheduleId));
  view.showLine((await scansOf()).length);
}

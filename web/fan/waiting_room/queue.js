// The waiting room: the lobby before the opening, then the place in the queue, then the turn.

import { call, get, Problem, pushed, remove } from "../../shared/app/api.js";
import { every, msUntil, pause, serverNow } from "../../shared/app/clock.js";
import { ask as askFirst } from "../../shared/ui/dialog.js";
import { announce, el, icon, problemBox } from "../../shared/ui/dom.js";
import { clockTime, count, countdown, moment, usePlace } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { keep, recall, user } from "../../shared/app/session.js";
import { posterOfDate } from "../catalog/poster.js";
import { alertSwitches } from "./alerts.js";
import { doorPage, mayEnter } from "./join.js";
import { fullPanel, shutPage } from "./sold_out.js";
import { seatsLeft } from "./seats_left.js";

/** Screen readers announce the position at most this often. */
const ANNOUNCE_MS = 30_000;
const RETRY_MS = 3_000;
const ANSWER_MS = 15_000;

export async function waitingRoom(page) {
  // The queue needs a login; without one, the request would only be refused.
  if (!user()) return page.login();
  const schedule = await get(`/api/schedules/${page.id}`, { signal: page.signal, isPublic: true });
  usePlace(schedule);
  if (!await mayEnter(page)) return doorPage(page, schedule);
  const answer = await enter(page).catch((error) => {
    // The queue is closed for new fans, or the phase is for others: a retry would not help, so the
    // page shows the alternatives.
    if (!["QUEUE_CLOSED", "SALE_CLOSED", "SCHEDULE_CANCELED", "NOT_ELIGIBLE", "DRAW_ONLY"].includes(error.code)) throw error;
    return shutPage(page, schedule, error);
  });
  if (!answer) return;
  keep("place", page.id, answer.token ?? recall("place", page.id));
  const room = buildRoom(page, schedule);
  follow(page, room, answer).catch(page.fail);
  // Preloads the next pages, so that nothing loads when the turn comes.
  [import("../booking/seats.js"), import("../payments/checkout.js"), import("../payments/paid.js")].forEach((part) => part.catch(() => null));
}

/**
 * Entering again returns the same place; the old place token proves it even if the engine lost it.
 */
async function enter(page) {
  const options = { body: { scheduleId: page.id }, scheduleId: page.id, signal: page.signal };
  try {
    return await call("POST", "/api/queue/enter", options);
  } catch (error) {
    // This sale requires identity verification: go there and come back.
    if (error.code === "IDENTITY_REQUIRED") {
      page.go(`#/identity?next=${encodeURIComponent(`#/queue/${page.id}`)}`);
      throw new DOMException("the page is being left", "AbortError");
    }
    if (error.code !== "QUEUE_TOKEN_INVALID") throw error;
    // The token belongs to another fan or sale: enter without it.
    keep("place", page.id, null);
    return call("POST", "/api/queue/enter", options);
  }
}

/**
 * Shows each status until the wait is over: pushed while the stream works, polled otherwise. The
 * server sets the interval.
 */
async function follow(page, room, answer) {
  for (;;) {
    if (isOver(page, room, answer)) return;
    const path = `/api/queue/stream?scheduleId=${page.id}`;
    for await (const news of pushed(path, { scheduleId: page.id, signal: page.signal })) {
      if (navigator.onLine) room.trouble.show("");
      if (isOver(page, room, news)) return;
    }
    await pause(answer.pollAfterMs ?? 2_000, page.signal);
    answer = await ask(page, room);
  }
}

/** Shows a status; returns whether the wait is over. */
function isOver(page, room, answer) {
  // The draw assigns a new place with a new token.
  if (answer.token) keep("place", page.id, answer.token);
  room.show(answer);
  if (answer.state === "ADMITTED") enterSale(page, room, answer);
  return ["ADMITTED", "EXPIRED", "CLOSED"].includes(answer.state);
}

/** Polls until there is a response; a lost connection doesn't lose the place. */
async function ask(page, room) {
  for (;;) {
    try {
      const path = `/api/queue/status?scheduleId=${page.id}`;
      // A request on a dead network may never fail by itself.
      const signal = AbortSignal.any([page.signal, AbortSignal.timeout(ANSWER_MS)]);
      const answer = await get(path, { scheduleId: page.id, signal });
      // A truncated response counts as none.
      if (!answer.state) throw new Problem(0, {}, 0);
      room.trouble.show("");
      return answer;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      // A place ends with its phase.
      if (["ENTRY_EXPIRED", "NOT_IN_QUEUE"].includes(error.code)) return { state: "EXPIRED" };
      if (!error.isOpen || error.status === 401) throw error;
      room.trouble.show(t("reconnecting"));
      await pause(Math.max(RETRY_MS, error.retryAfterMs), page.signal);
    }
  }
}

function enterSale(page, room, answer) {
  keep("entry", page.id, {
    token: answer.entryToken,
    expiresAt: answer.entryExpiresAt,
    extensionsLeft: answer.extensionsLeft ?? 0,
  });
  keep("first", page.id, null);
  announce(t("yourTurn"));
  room.alerts.ring();
  document.title = `${t("yourTurn")} — podo`;
  // Replaces the history entry, so that "back" doesn't return to the waiting room.
  location.replace(`#/seats/${page.id}`);
}

function buildRoom(page, schedule) {
  const trouble = problemBox();
  const body = el("div", { class: "wait" });
  const notice = el("p", { class: "note warn", hidden: true });
  const alerts = alertSwitches();
  const seats = seatsLeft(page, schedule);
  const ticket = el("span", { class: "num" });
  const proof = drawProof(page);
  page.main.className = "";
  page.main.replaceChildren(
    el("div", { class: "waiting" },
      el("div", {},
        el("section", { class: "card" },
          el("div", { class: "head" },
            posterOfDate(schedule),
            el("div", {},
              el("h1", {}, schedule.eventTitle ?? t("waitingRoom")),
              el("p", { class: "quiet num" }, moment(schedule.startsAt)))),
          el("div", { class: "pad stack" }, trouble.element, notice, body),
          el("p", { class: "safe" }, icon("shield"), el("span", {}, el("b", {}, t("placeKept")), ` ${t("placeKeptHow")}`))),
        leaveRow(page, trouble, ticket)),
      el("aside", { class: "stack" }, alerts.element, seats.element, proof.element)));
  // The device notices before any call fails.
  window.addEventListener("offline", () => trouble.show(t("reconnecting")), { signal: page.signal });
  let shown = null;
  let announcedAt = -Infinity;
  const show = (answer) => {
    const message = answer.message ?? (answer.paused ? t("pausedWords") : "");
    notice.textContent = message;
    notice.hidden = !message;
    if (answer.number !== undefined) ticket.textContent = t("queueNumber", answer.number.toString(36).toUpperCase());
    const kind = kindOf(answer);
    // The draw was just made: its proof is public now.
    if (shown?.kind === "LOBBY" && kind !== "LOBBY") proof.refresh();
    if (kind !== shown?.kind) shown = panelFor(page, kind, { schedule, alerts });
    if (body.firstChild !== shown.element) body.replaceChildren(shown.element);
    const said = shown.update(answer);
    if (said && ANNOUNCE_MS <= performance.now() - announcedAt) {
      announcedAt = performance.now();
      announce(said);
    }
  };
  return { trouble, show, alerts };
}

/** Tells fans in the queue of a sold-out date: the queue is the same, its outcome is not. */
function kindOf({ state, chance, canceled }) {
  if (canceled) return "CANCELED";
  return state === "WAITING" && chance === "NONE" ? "FULL" : state;
}

function panelFor(page, kind, { schedule, alerts }) {
  const button = (words) => el("button", { class: "btn primary", type: "button", onclick: page.again }, words);
  const panel = {
    LOBBY: () => lobbyPanel(page, schedule),
    WAITING: () => waitingPanel(page, alerts),
    FULL: () => fullPanel(page, schedule),
    ADMITTED: () => wordsPanel(t("yourTurn")),
    EXPIRED: () => wordsPanel(t("entryOver"), button(t("rejoin"))),
    CANCELED: () => wordsPanel(t("dateCanceledWords"), el("a", { class: "btn", href: "#/tickets" }, t("myTickets"))),
    CLOSED: () => wordsPanel(t("queueClosed"), el("a", { class: "btn", href: `#/events/${schedule.eventId}` }, t("toEvent"))),
  }[kind];
  return { kind, ...panel() };
}

function wordsPanel(words, action) {
  const element = el("div", { class: "stack" }, el("p", { class: "big" }, words), action ?? null);
  return { element, update: () => words };
}

function lobbyPanel(page, schedule) {
  const clock = el("p", { class: "hero num", role: "timer" });
  const now = el("b", { class: "num" });
  const gathered = el("dd", {});
  every(100, page.signal, () => {
    clock.textContent = countdown(msUntil(schedule.saleStartsAt));
    now.textContent = clockTime(serverNow());
  });
  const element = el("div", { class: "stack" },
    el("p", { class: "kick" }, el("i", { class: "pulse", "aria-hidden": "true" }), t("lobbyKick")),
    clock,
    el("p", { class: "big" }, t("lobbyOpens", moment(schedule.saleStartsAt))),
    el("dl", { class: "facts num" },
      el("div", {}, el("dt", {}, t("serverClock")), el("dd", {}, now)),
      el("div", {}, el("dt", {}, t("gathered")), gathered)),
    el("p", { class: "quiet" }, t("lobbyHow")));
  const update = (answer) => {
    gathered.textContent = t("people", count((answer.ahead ?? 0) + (answer.behind ?? 0) + 1));
    return t("lobbySaid", countdown(msUntil(schedule.saleStartsAt)));
  };
  return { element, update };
}

function waitingPanel(page, alerts) {
  const position = el("b", {});
  const wait = el("b", { class: "num" });
  const why = el("small", { class: "quiet" });
  const bar = el("progress", { max: 1, value: 0, "aria-label": t("progress") });
  const [ahead, behind, chance] = [el("dd", {}), el("dd", {}), el("dd", {})];
  const first = el("span", {});
  const element = el("div", { class: "stack" },
    el("p", { class: "kick" }, el("i", { class: "pulse", "aria-hidden": "true" }), t("waitingKick")),
    el("p", { class: "hero num" }, position, el("span", {}, t("positionUnit"))),
    el("p", { class: "big" }, `${t("estimatedWait")} `, wait, el("br"), why),
    el("div", {}, bar, el("p", { class: "ends quiet num" }, first, el("span", {}, t("entrance")))),
    el("dl", { class: "facts three num" },
      el("div", {}, el("dt", {}, t("ahead")), ahead),
      el("div", {}, el("dt", {}, t("behind")), behind),
      el("div", {}, el("dt", {}, t("chance")), chance)));
  const update = (answer) => {
    const start = Math.max(recall("first", page.id) ?? 0, answer.position);
    keep("first", page.id, start);
    position.textContent = count(answer.position);
    wait.textContent = waitText(answer);
    why.textContent = answer.paused ? t("waitPaused") : t("waitWhy");
    ahead.textContent = t("people", count(answer.ahead ?? 0));
    behind.textContent = t("people", count(answer.behind ?? 0));
    chance.textContent = answer.chance ? t(`chance${answer.chance}`) : "–";
    first.textContent = t("firstPosition", count(start));
    bar.value = start ? (start - answer.position) / start : 0;
    if (alerts.isOn("title")) document.title = `${t("positionTitle", count(answer.position))} — podo`;
    return t("positionSaid", count(answer.position), waitText(answer));
  };
  return { element, update };
}

/** A range in minutes, because an exact number would be a promise we cannot keep. */
function waitText({ estimatedWait, estimatedWaitRange }) {
  const range = estimatedWaitRange ?? [estimatedWait, estimatedWait];
  if (!Number.isFinite(range[0]) || !Number.isFinite(range[1])) return t("waitUnknown");
  const [low, high] = range.map((seconds) => Math.ceil(seconds / 60));
  if (high <= 1) return t("waitUnderMinute");
  return low === high ? t("waitMinutes", high) : t("waitRange", Math.max(1, low), high);
}

function leaveRow(page, trouble, ticket) {
  const leave = async () => {
    const done = await askFirst({
      title: t("leaveQueue"),
      content: el("p", {}, t("leaveQueueSure")),
      yes: t("leaveQueue"),
      isDanger: true,
      act: () => remove(`/api/queue/leave?scheduleId=${page.id}`, { scheduleId: page.id }),
    });
    if (!done) return;
    keep("place", page.id, null);
    page.go("#/");
  };
  return el("div", { class: "row apart" },
    el("span", { class: "quiet" }, t("updatesItself"), " ", ticket),
    el("button", { class: "link", type: "button", onclick: leave }, t("leaveQueue")));
}

/** Whether the draw was fair, with the numbers for those who want to verify it. */
function drawProof(page) {
  const box = el("section", { class: "card pad stack tight", hidden: true });
  const refresh = () => get(`/api/queue/${page.id}/draw`, { signal: page.signal, isPublic: true, cache: "no-cache" }).then((draw) => {
    box.hidden = false;
    box.replaceChildren(
      el("h2", {}, draw.seed ? t("drawVerified") : t("drawTitle")),
      el("p", { class: "quiet" }, draw.seed ? t("drawDone", count(draw.drawn ?? 0)) : t("drawBefore")),
      el("details", { class: "more" },
        el("summary", {}, t("drawDetails")),
        el("p", { class: "quiet" }, draw.seed ? t("drawSeed") : t("drawHash")),
        el("code", { class: "hash" }, draw.seed ?? draw.seedHash),
        el("p", {}, el("a", { href: `/api/queue/${page.id}/draw`, target: "_blank", rel: "noopener" }, t("drawProof")))));
  }).catch(() => null);
  refresh();
  return { element: box, refresh };
}

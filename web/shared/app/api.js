// API calls: login, place and entry tokens, idempotency keys, typed errors.

import { solve } from "./proof_of_work.js";
import { noteServerTime } from "./clock.js";
import { language, t } from "../ui/i18n.js";
import { accessToken, begin, end, isLoggedIn, keep, loginCount, recall } from "./session.js";

/** Why a call failed. `message` is for the fan, `code` for the page. */
export class Problem extends Error {
  constructor(status, body, retryAfterMs) {
    super(body.detail ?? body.title ?? t("troubleUnknown"));
    this.status = status;
    this.code = body.code ?? "";
    this.body = body;
    this.retryAfterMs = retryAfterMs;
  }

  /** The outcome is unknown: the same call may be repeated. */
  get isOpen() {
    const mayPass = [0, 401, 408, 429].includes(this.status) || this.code === "IDEMPOTENCY_KEY_RUNNING";
    return mayPass || 500 <= this.status;
  }
}

/** `options`: body, file (a File), signal, scheduleId (sends its place and entry tokens), key, cache, isPublic. */
export async function call(method, path, options = {}) {
  const response = await answered(method, path, options);
  if (response.status === 204) return null;
  const isJson = /\bjson\b/.test(response.headers.get("content-type") ?? "");
  const body = isJson ? await response.json().catch(orAbort({})) : await response.text();
  if (response.ok) return body;
  const retryAfterMs = 1000 * Number(response.headers.get("retry-after") ?? 0);
  throw new Problem(response.status, isJson ? body : {}, retryAfterMs);
}

/** The raw response. Solves a proof of work or does a step-up first, if the server requires it. */
export async function answered(method, path, options = {}) {
  const response = await sendLoggedIn(method, path, options);
  if (response.status !== 403 || options.answer) return response;
  const { challenge, code } = await response.clone().json().catch(() => ({}));
  // The queue requires a proof of work.
  if (challenge) return sendLoggedIn(method, path, { ...options, answer: await solve(challenge) });
  if (code === "REAUTH_REQUIRED" && await prove()) return sendLoggedIn(method, path, options);
  return response;
}

let logInAgain = async () => false;

/** Sets how a page asks for a new login in place; resolves to whether it succeeded. */
export function logInWith(way) {
  logInAgain = way;
}

let prove = async () => false;

/** Sets how a page asks for the step-up; resolves to whether it succeeded. */
export function proveWith(way) {
  prove = way;
}

export const get = (path, options) => call("GET", path, options);
export const remove = (path, options) => call("DELETE", path, options);

/** Yields pushed messages. Ends when the stream does, for any reason; the caller then polls. */
export async function* pushed(path, options = {}) {
  for await (const { name, data } of streamed(path, options)) {
    // Any other event ends the stream.
    if (name === "message") yield data;
  }
}

/**
 * The server sends a heartbeat every 15 s; more than twice that without one means a dead
 * connection.
 */
const SILENCE_MS = 40_000;

/**
 * Server-sent events with their names: `{name, data}`. Calls `onOpen` when the server responds, and
 * `onBeat` whenever something arrives, heartbeats included.
 */
export async function* streamed(path, options = {}) {
  const response = await sendLoggedIn("GET", path, options).catch(orAbort(null));
  if (!response?.ok || !response.body) return;
  options.onOpen?.();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const line = watchLine();
  let text = "";
  try {
    for (;;) {
      const { value, done } = await Promise.race([reader.read().catch(orAbort({ done: true })), line.dies()]);
      if (done) return;
      options.onBeat?.();
      const events = (text + value).split("\n\n");
      text = events.pop();
      yield* events.map(readEvent).filter(Boolean);
    }
  } finally {
    line.leave();
    reader.cancel().catch(() => {});
  }
}

/**
 * Detects a silently dead connection: the device is offline, or nothing arrives. Otherwise the
 * reader would wait forever.
 */
function watchLine() {
  let timer = null;
  let end = null;
  const die = () => end?.({ done: true });
  window.addEventListener("offline", die);
  return {
    dies: () => new Promise((resolve) => {
      end = resolve;
      clearTimeout(timer);
      timer = setTimeout(die, SILENCE_MS);
    }),
    leave: () => {
      clearTimeout(timer);
      window.removeEventListener("offline", die);
    },
  };
}

/** Heartbeats are comments without data. */
function readEvent(event) {
  const lines = event.split("\n");
  const field = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const data = field("data");
  return data === undefined ? null : { name: field("event") ?? "message", data: JSON.parse(data) };
}

/** Leaving the page is not an error. */
const orAbort = (instead) => (error) => {
  if (error.name === "AbortError") throw error;
  return instead;
};

/**
 * A POST that changes seats or money. Keeps its idempotency key until the outcome is known, so that
 * pressing the button again after a lost connection repeats the request instead of doing it twice.
 */
export async function act(path, body, options = {}) {
  const action = `${path} ${JSON.stringify(body)}`;
  const key = recall("key", action) ?? randomKey();
  keep("key", action, key);
  try {
    const answer = await call("POST", path, { ...options, body, key });
    keep("key", action, null);
    return answer;
  } catch (error) {
    if (error instanceof Problem && !error.isOpen) keep("key", action, null);
    throw error;
  }
}

/**
 * Refreshes the login from the cookie. One tab at a time, because a refresh token is valid only
 * once.
 */
export async function refresh() {
  const before = loginCount();
  return exclusively("podo-refresh", async () => {
    // Another call of this tab was faster.
    if (loginCount() !== before) return true;
    const response = await send("POST", "/api/auth/refresh", { body: {}, isPublic: true });
    if (response.ok) begin(await response.json());
    // Only an explicit refusal ends the login; an outage does not.
    else if (response.status === 401 || response.status === 403) end();
    return response.ok;
  });
}

async function sendLoggedIn(method, path, options) {
  const response = await send(method, path, options);
  const isLoginOver = response.status === 401 && isLoggedIn() && !options.isPublic;
  if (!isLoginOver) return response;
  // A 401 may also be about the entry, which the page handles.
  const { code } = await response.clone().json().catch(() => ({}));
  if (code === "ENTRY_EXPIRED" || code === "QUEUE_TOKEN_INVALID") return response;
  if (await refresh()) return send(method, path, options);
  return (!options.isQuiet && await logInAgain()) ? send(method, path, options) : response;
}

async function send(method, path, options) {
  const askedAt = Date.now();
  const cache = options.cache ?? "no-store";
  let response;
  try {
    response = await fetch(path, {
      method,
      cache,
      signal: options.signal,
      headers: headers(options),
      body: options.file ?? (options.body === undefined ? undefined : JSON.stringify(options.body)),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { code: "OFFLINE", detail: t("troubleOffline") }, 0);
  }
  const isFresh = cache === "no-store" && !response.headers.has("age");
  if (isFresh) noteServerTime(response.headers.get("date"), askedAt, Date.now());
  return response;
}

function headers({ answer, body, file, key, scheduleId, isPublic }) {
  const found = {
    "Accept-Language": language(),
    "Content-Type": file ? file.type || "application/octet-stream" : body === undefined ? null : "application/json",
    "Challenge-Answer": answer,
    "Idempotency-Key": key,
    Authorization: accessToken() && !isPublic ? `Bearer ${accessToken()}` : null,
    "Queue-Token": scheduleId ? recall("place", scheduleId) : null,
    "Entry-Token": scheduleId ? recall("entry", scheduleId)?.token : null,
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value));
}

function exclusively(name, action) {
  return navigator.locks ? navigator.locks.request(name, action) : action();
}

/** `crypto.randomUUID` exists only on https and localhost, and a test server may be neither. */
function randomKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

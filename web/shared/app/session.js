// This tab's session state: in memory, with sessionStorage to survive a reload. The login tokens
// are in cookies that scripts deliberately cannot read.

const ACCESS = "podo.access";
const USER = "podo.user";
const KNOWN = "podo.known";

let access = sessionStorage.getItem(ACCESS);
let fan = JSON.parse(sessionStorage.getItem(USER) ?? "null");
let renewals = 0;
let lifetimeMs = 300_000;

// After a social login, the browser already has the cookie.
if (new URLSearchParams(location.search).has("welcome")) localStorage.setItem(KNOWN, "yes");

/** Only if the browser keeps no secure cookies: plain http on a host other than localhost. */
export function accessToken() {
  return access;
}

/** How often this tab has logged in or refreshed. */
export function loginCount() {
  return renewals;
}

export function user() {
  return fan;
}

/** Whether the organiser's role includes a permission; the server decides. */
export function may(permission) {
  return Boolean(fan?.team?.permissions?.includes(permission));
}

/** How long an access token lives, in milliseconds; a refresh in time keeps the session. */
export function tokenMs() {
  return lifetimeMs;
}

export function isLoggedIn() {
  return fan !== null;
}

/** A user was logged in on this device, so the cookie may still be valid. */
export function mayComeBack() {
  return !fan && localStorage.getItem(KNOWN) === "yes";
}

/** Stores the response of a login or a refresh. */
export function begin(answer) {
  renewals += 1;
  access = keepsCookies() ? null : answer.accessToken;
  fan = answer.user ?? fan;
  lifetimeMs = 1000 * (answer.expiresIn ?? 300);
  if (access) sessionStorage.setItem(ACCESS, access);
  sessionStorage.setItem(USER, JSON.stringify(fan));
  localStorage.setItem(KNOWN, "yes");
}

function keepsCookies() {
  const probe = "__Host-podo_probe";
  document.cookie = `${probe}=1; Path=/; Secure; SameSite=Lax`;
  const isKept = document.cookie.includes(probe);
  document.cookie = `${probe}=; Path=/; Secure; SameSite=Lax; Max-Age=0`;
  return isKept;
}

/** Drops the login and everything that depends on it. */
export function end() {
  access = null;
  fan = null;
  localStorage.removeItem(KNOWN);
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith("podo.")) sessionStorage.removeItem(key);
  }
}

/** A small value per schedule, reservation or payment: `recall("entry", scheduleId)`. */
export function recall(what, id) {
  return JSON.parse(sessionStorage.getItem(`podo.${what}.${id}`) ?? "null");
}

export function keep(what, id, value) {
  if (value === null) sessionStorage.removeItem(`podo.${what}.${id}`);
  else sessionStorage.setItem(`podo.${what}.${id}`, JSON.stringify(value));
}

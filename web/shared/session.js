// What this tab knows about its fan. Memory first; sessionStorage survives a reload.
// The tokens of the login are in cookies that scripts cannot read, on purpose.

const ACCESS = "podo.access";
const USER = "podo.user";
const KNOWN = "podo.known";

let access = sessionStorage.getItem(ACCESS);
let fan = JSON.parse(sessionStorage.getItem(USER) ?? "null");
let renewals = 0;

// Whoever comes from another service's login has a cookie already.
if (new URLSearchParams(location.search).has("welcome")) localStorage.setItem(KNOWN, "yes");

/** Only where the browser keeps no secure cookies: plain http on a host that is not this machine. */
export function accessToken() {
  return access;
}

/** How often the login was begun or renewed in this tab. */
export function loginCount() {
  return renewals;
}

export function user() {
  return fan;
}

export function isLoggedIn() {
  return fan !== null;
}

/** Somebody was logged in on this device, so the cookie may still log us in. */
export function mayComeBack() {
  return !fan && localStorage.getItem(KNOWN) === "yes";
}

/** Keeps the answer of a login or a refresh. */
export function begin(answer) {
  renewals += 1;
  access = keepsCookies() ? null : answer.accessToken;
  fan = answer.user ?? fan;
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

/** Forgets the login and everything that hangs on it. */
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

// What this tab knows about its fan. Memory first; sessionStorage survives a reload.
// The refresh token is in a cookie that scripts cannot read, on purpose.

const ACCESS = "podo.access";
const USER = "podo.user";
const KNOWN = "podo.known";

let access = sessionStorage.getItem(ACCESS);
let fan = JSON.parse(sessionStorage.getItem(USER) ?? "null");

export function accessToken() {
  return access;
}

export function user() {
  return fan;
}

/** Somebody was logged in on this device, so the cookie may still log us in. */
export function mayComeBack() {
  return !access && localStorage.getItem(KNOWN) === "yes";
}

/** Keeps the answer of a login or a refresh. */
export function begin(answer) {
  access = answer.accessToken;
  fan = answer.user ?? fan;
  sessionStorage.setItem(ACCESS, access);
  sessionStorage.setItem(USER, JSON.stringify(fan));
  localStorage.setItem(KNOWN, "yes");
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

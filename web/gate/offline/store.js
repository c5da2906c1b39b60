// What a device keeps to work without a network: lists of tickets, and scans not sent yet. Lists are
// deleted when the show is over, on log-out, and when the steward may no longer see them. Scans stay
// until they are sent; they contain no personal data.

import { verified, withMac } from "./mac.js";

const NAME = "podo-gate";
const SHOWS = "podo.gate.shows";

/** A list stays this long after the end. */
const KEPT_AFTER_END_MS = 6 * 3_600_000;

/** If the end isn't known, a list stays this long after its last update. */
const KEPT_WITHOUT_END_MS = 12 * 3_600_000;

let opened = null;

function database() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 2);
    request.onupgradeneeded = ({ oldVersion }) => {
      const found = request.result;
      // Lines without a MAC are downloaded again.
      if (oldVersion === 1) found.deleteObjectStore("tickets");
      found.createObjectStore("tickets", { keyPath: ["scheduleId", "ticketId"] });
      if (oldVersion < 1) found.createObjectStore("scans", { keyPath: "id" });
      found.createObjectStore("lists", { keyPath: "scheduleId" });
      found.createObjectStore("keys", { keyPath: "name" });
    };
    request.onsuccess = () => {
      // A newer page upgrades the store.
      request.result.onversionchange = () => request.result.close();
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
  });
  return opened;
}

async function run(name, mode, action) {
  const store = (await database()).transaction(name, mode).objectStore(name);
  const request = action(store);
  return new Promise((resolve, reject) => {
    store.transaction.oncomplete = () => resolve(Array.isArray(request) ? request.map((it) => it.result) : request?.result);
    store.transaction.onerror = () => reject(store.transaction.error);
    store.transaction.onabort = () => reject(store.transaction.error);
  });
}

const ofShow = (scheduleId) => IDBKeyRange.bound([scheduleId], [scheduleId, "\uffff"]);

/** The device's own key, made on first use; scripts can use it, but not read it. */
async function deviceKey() {
  const known = await run("keys", "readonly", (store) => store.get("mac"));
  if (known || !crypto.subtle) return known?.key ?? null;
  const key = await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
  // Another tab may have been faster.
  await run("keys", "readwrite", (store) => store.add({ name: "mac", key })).catch(() => null);
  return (await run("keys", "readonly", (store) => store.get("mac"))).key;
}

let key = null;
const macKey = () => (key ??= deviceKey());

/**
 * Stores tickets: `line` is what the server said, `mark` an admission on this device that the server
 * may not know yet. The MAC shows whether a record was changed by anything but this page.
 */
export async function putTickets(scheduleId, records) {
  const by = await macKey();
  const made = await Promise.all(records.map(({ line, mark = null }) =>
    withMac(by, { scheduleId, ticketId: line.ticketId, line, mark })));
  await run("tickets", "readwrite", (store) => made.map((record) => store.put(record)));
}

/** A ticket, or nothing; one that was tampered with is `{ isBroken: true }`. */
export async function ticketOf(scheduleId, ticketId) {
  const record = await run("tickets", "readonly", (store) => store.get([scheduleId, ticketId]));
  return record && verified(await macKey(), record);
}

/** The records of these tickets in their order; nothing for those that were tampered with. */
export async function recordsOf(scheduleId, ticketIds) {
  if (!ticketIds.length) return [];
  const by = await macKey();
  const found = await run("tickets", "readonly", (store) => ticketIds.map((id) => store.get([scheduleId, id])));
  const records = await Promise.all(found.map((record) => record && verified(by, record)));
  return records.map((record) => (record?.isBroken ? undefined : record));
}

export async function ticketsOf(scheduleId) {
  return run("tickets", "readonly", (store) => store.getAll(ofShow(scheduleId)));
}

/** Every list on this device that has the ticket: the dates. */
export async function datesOf(ticketId) {
  const lists = await run("lists", "readonly", (store) => store.getAll());
  const found = await Promise.all(lists.map(async ({ scheduleId }) => [scheduleId, await ticketOf(scheduleId, ticketId)]));
  return found.filter(([, record]) => record && !record.isBroken).map(([scheduleId, record]) => ({ scheduleId, record }));
}

/** Deletes the tickets of a list that a complete download didn't have. */
export async function keepOnly(scheduleId, ticketIds) {
  const keys = await run("tickets", "readonly", (store) => store.getAllKeys(ofShow(scheduleId)));
  const gone = keys.filter(([, id]) => !ticketIds.has(id));
  await run("tickets", "readwrite", (store) => gone.map((it) => store.delete(it)));
}

/** What is known of a list: its cursor, when it was current, the end of its show. */
export const listOf = (scheduleId) => run("lists", "readonly", (store) => store.get(scheduleId));

export const putList = (list) => run("lists", "readwrite", (store) => store.put(list));

export const countTickets = (scheduleId) => run("tickets", "readonly", (store) => store.count(ofShow(scheduleId)));

export async function forgetList(scheduleId) {
  await run("tickets", "readwrite", (store) => store.delete(ofShow(scheduleId)));
  await run("lists", "readwrite", (store) => store.delete(scheduleId));
}

/** On log-out, or when the steward's permission ended. Unsent scans stay. */
export async function forgetLists() {
  localStorage.removeItem(SHOWS);
  await run("tickets", "readwrite", (store) => store.clear());
  await run("lists", "readwrite", (store) => store.clear());
}

/** Deletes the lists of shows that are over; needs no network. */
export async function forgetOver(now) {
  const lists = await run("lists", "readonly", (store) => store.getAll());
  const keptUntil = ({ endsAt, currentAt }) =>
    (endsAt ? Date.parse(endsAt) + KEPT_AFTER_END_MS : currentAt + KEPT_WITHOUT_END_MS);
  const over = lists.filter((list) => keptUntil(list) < now);
  for (const { scheduleId } of over) await forgetList(scheduleId);
}

export function putScan(scan) {
  return run("scans", "readwrite", (store) => store.put(scan));
}

/** Unsent scans of a date, or of all, in the order in which they were made. */
export async function scansOf(scheduleId = null) {
  const all = await run("scans", "readonly", (store) => store.getAll());
  return all.filter((scan) => !scheduleId || scan.scheduleId === scheduleId)
    .sort((one, other) => one.scannedAt.localeCompare(other.scannedAt) || Boolean(one.undo) - Boolean(other.undo));
}

export function removeScans(ids) {
  return run("scans", "readwrite", (store) => ids.map((id) => store.delete(id)));
}

/** Keeps the shows for a start without a network, and deletes lists that aren't the steward's. */
export async function rememberShows(items) {
  localStorage.setItem(SHOWS, JSON.stringify(items));
  const current = new Set(items.map((show) => show.scheduleId));
  const lists = await run("lists", "readonly", (store) => store.getAll());
  for (const { scheduleId } of lists.filter((list) => !current.has(list.scheduleId))) await forgetList(scheduleId);
  return items;
}

export function knownShows() {
  return JSON.parse(localStorage.getItem(SHOWS) ?? "[]");
}

export const knownShow = (scheduleId) => knownShows().find((show) => show.scheduleId === scheduleId);

// What a device keeps to work without a network: the list of tickets, and scans not sent yet. A
// show's list is deleted when the show is over.

const NAME = "podo-gate";
const SHOWS = "podo.gate.shows";

/** A list stays this long after the end. Scans stay until they are sent. */
const KEPT_AFTER_END_MS = 6 * 3_600_000;

let opened = null;

function database() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("tickets", { keyPath: ["scheduleId", "ticketId"] });
      request.result.createObjectStore("scans", { keyPath: "id" });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}

async function run(name, mode, action) {
  const store = (await database()).transaction(name, mode).objectStore(name);
  const request = action(store);
  return new Promise((resolve, reject) => {
    store.transaction.oncomplete = () => resolve(request?.result);
    store.transaction.onerror = () => reject(store.transaction.error);
  });
}

const ofShow = (scheduleId) => IDBKeyRange.bound([scheduleId], [scheduleId, "\uffff"]);

export function putTickets(scheduleId, tickets) {
  return run("tickets", "readwrite", (store) => tickets.forEach((ticket) => store.put({ ...ticket, scheduleId })));
}

export function ticketOf(scheduleId, ticketId) {
  return run("tickets", "readonly", (store) => store.get([scheduleId, ticketId]));
}

export function ticketsOf(scheduleId) {
  return run("tickets", "readonly", (store) => store.getAll(ofShow(scheduleId)));
}

export function countTickets(scheduleId) {
  return run("tickets", "readonly", (store) => store.count(ofShow(scheduleId)));
}

export function putScan(scan) {
  return run("scans", "readwrite", (store) => store.put(scan));
}

export async function scansOf(scheduleId) {
  const all = await run("scans", "readonly", (store) => store.getAll());
  return all.filter((scan) => scan.scheduleId === scheduleId);
}

export function removeScans(ids) {
  return run("scans", "readwrite", (store) => ids.forEach((id) => store.delete(id)));
}

/** Keeps the shows for a start without a network, and deletes lists of shows that are over. */
export async function rememberShows(items) {
  const isOver = (show) => Date.parse(show.endsAt) + KEPT_AFTER_END_MS < Date.now();
  const before = knownShows();
  localStorage.setItem(SHOWS, JSON.stringify(items));
  const current = new Set(items.filter((show) => !isOver(show)).map((show) => show.scheduleId));
  for (const show of before.filter((show) => isOver(show) || !current.has(show.scheduleId))) {
    await run("tickets", "readwrite", (store) => store.delete(ofShow(show.scheduleId)));
  }
  return items;
}

export function knownShows() {
  return JSON.parse(localStorage.getItem(SHOWS) ?? "[]");
}

// Tickets on this device, for a gate without a network. Logging out removes them.

const PREFIX = "podo.ticket.";
const SHELL = "podo-shell";

export function keepTicket(ticket, picture) {
  // A full storage only means that this ticket needs the network.
  try {
    localStorage.setItem(PREFIX + ticket.id, JSON.stringify({ ticket, picture }));
  } catch {
    forgetTicket(ticket.id);
  }
}

export function keptTicket(id) {
  return JSON.parse(localStorage.getItem(PREFIX + id) ?? "null");
}

export function forgetTicket(id) {
  localStorage.removeItem(PREFIX + id);
}

export function forgetTickets() {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(PREFIX)) localStorage.removeItem(key);
  }
}

/**
 * Registers the worker that keeps the page, and gives it everything that this page has loaded
 * before the worker existed.
 */
export async function keepPage() {
  if (!navigator.serviceWorker || !window.caches) return;
  await navigator.serviceWorker.register("/sw.js", { scope: "/" });
  const cache = await caches.open(SHELL);
  const loaded = performance.getEntriesByType("resource").map(({ name }) => new URL(name));
  const assets = loaded.filter(({ origin, pathname }) => origin === location.origin && pathname.startsWith("/~"));
  await cache.addAll(["/", ...new Set(assets.map(({ pathname }) => pathname))]);
}

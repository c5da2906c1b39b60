// Keeps the gate's page and its files, so that a reload works without a network.

const CACHE = "podo-gate-1";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { pathname, origin } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || pathname.startsWith("/api/")) return;
  // The version in the path changes with the file.
  const isFixed = pathname.startsWith("/~");
  event.respondWith(isFixed ? keptOrFetched(request) : fetchedOrKept(request));
});

async function keptOrFetched(request) {
  return (await caches.match(request)) ?? fetchAndKeep(request);
}

async function fetchedOrKept(request) {
  try {
    return await fetchAndKeep(request);
  } catch (error) {
    const kept = await caches.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }
}

async function fetchAndKeep(request) {
  const response = await fetch(request);
  if (response.ok) await (await caches.open(CACHE)).put(request, response.clone());
  return response;
}

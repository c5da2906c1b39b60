// Keeps the page and its scripts, so that a ticket opens without a network. It is registered only
// when a fan opens a ticket full screen, and answers nothing that the server could answer itself.

const SHELL = "podo-shell";

self.addEventListener("install", (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { pathname, origin } = new URL(event.request.url);
  if (event.request.method !== "GET" || origin !== self.location.origin) return;
  if (pathname === "/") event.respondWith(newest(event.request));
  else if (pathname.startsWith("/~")) event.respondWith(kept(event.request));
});

/** The page comes from the server while there is one. */
async function newest(request) {
  const cache = await caches.open(SHELL);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put("/", response.clone());
    return response;
  } catch (error) {
    const found = await cache.match("/");
    if (found) return found;
    throw error;
  }
}

/** Assets have their version in the path and never change. */
async function kept(request) {
  const cache = await caches.open(SHELL);
  const found = await cache.match(request);
  if (found) return found;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}

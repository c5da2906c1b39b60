// Watching is activity: the session doesn't end while a monitor or a gate is visible.

import { refresh } from "./api.js";
import { every } from "./clock.js";
import { isLoggedIn, tokenMs } from "./session.js";

export function stayLoggedIn(page) {
  let renewedAt = performance.now();
  every(5_000, page.signal, () => {
    const isDue = tokenMs() * 0.6 < performance.now() - renewedAt;
    if (!isDue || document.hidden || !isLoggedIn()) return;
    renewedAt = performance.now();
    refresh().catch(() => null);
  });
}

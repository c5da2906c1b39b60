// The server's clock, and timers. Countdowns must not depend on the device's clock.

// The server's time minus ours lies between these two: a Date header is truncated to the second,
// and was written after our request and before its response. Every response narrows the range.
let low = -Infinity;
let high = Infinity;

/** Learns from a response that did not come from a cache. */
export function noteServerTime(header, askedAt, heardAt) {
  const date = Date.parse(header ?? "");
  if (Number.isNaN(date)) return;
  const [from, to] = [date - heardAt, date + 1000 - askedAt];
  const fits = from <= high && low <= to;
  // The device's clock has changed: the old range is useless.
  [low, high] = fits ? [Math.max(low, from), Math.min(high, to)] : [from, to];
}

/** How far this device's clock is behind the server's, in milliseconds; `null` before the first response. */
export function clockOffset() {
  return low === -Infinity ? null : (low + high) / 2;
}

export function serverNow() {
  return Date.now() + (clockOffset() ?? 0);
}

/** Milliseconds until a time of the API, never below zero. */
export function msUntil(time) {
  return Math.max(0, Date.parse(time) - serverNow());
}

/** Runs `tick` now and every `ms` until the page closes. */
export function every(ms, signal, tick) {
  if (signal.aborted) return;
  const timer = setInterval(tick, ms);
  signal.addEventListener("abort", () => clearInterval(timer));
  tick();
}

/** Resolves after `ms`, or earlier when the tab becomes visible; rejects when the page closes. */
export function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const done = () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
    const onVisible = () => {
      if (document.hidden) return;
      done();
      resolve();
    };
    const timer = setTimeout(() => {
      done();
      resolve();
    }, ms);
    document.addEventListener("visibilitychange", onVisible);
    signal.addEventListener("abort", () => {
      done();
      reject(signal.reason);
    });
  });
}

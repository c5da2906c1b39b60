// The server's clock, and waiting. Countdowns must not depend on the clock of a fan's device.

// The server's time minus ours lies between these two: a Date header is cut to the second, and
// it was written after we asked and before we heard. Every answer narrows the gap.
let low = -Infinity;
let high = Infinity;

/** Learns from one answer that did not come from a cache. */
export function noteServerTime(header, askedAt, heardAt) {
  const date = Date.parse(header ?? "");
  if (Number.isNaN(date)) return;
  const [from, to] = [date - heardAt, date + 1000 - askedAt];
  const fits = from <= high && low <= to;
  // Our own clock was set anew: what we knew is worth nothing.
  [low, high] = fits ? [Math.max(low, from), Math.min(high, to)] : [from, to];
}

export function serverNow() {
  return Date.now() + (low === -Infinity ? 0 : (low + high) / 2);
}

/** Milliseconds until a time of the API, never below zero. */
export function msUntil(time) {
  return Math.max(0, Date.parse(time) - serverNow());
}

/** Runs `tick` now and every `ms` until the page is left. */
export function every(ms, signal, tick) {
  if (signal.aborted) return;
  const timer = setInterval(tick, ms);
  signal.addEventListener("abort", () => clearInterval(timer));
  tick();
}

/** Resolves after `ms`, or earlier when the tab is looked at again; rejects when the page is left. */
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

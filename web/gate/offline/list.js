// Keeps the list of a show current: downloads it once, then asks what changed.

import { get } from "../../shared/app/api.js";
import { pause } from "../../shared/app/clock.js";
import { countTickets, keepOnly, knownShow, listOf, putList, putTickets, recordsOf, scansOf } from "./store.js";
import { gateNow } from "./clock.js";

const LINES_PER_CALL = 2_000;
const TRIES_MAX = 6;

/** `onProgress(done, total)` is called during a first download. Returns how many tickets the list has. */
export async function updateList(scheduleId, { signal, onProgress }) {
  const known = await listOf(scheduleId);
  try {
    await readPages(scheduleId, { signal, onProgress, cursor: known?.cursor });
  } catch (error) {
    // The cursor is another steward's, or too old.
    if (error.status !== 422 || !known) throw error;
    await readPages(scheduleId, { signal, onProgress });
  }
  return countTickets(scheduleId);
}

async function readPages(scheduleId, { signal, onProgress, cursor }) {
  const isWhole = !cursor;
  const seen = new Set();
  let total = 0;
  for (let next = cursor; ;) {
    const query = new URLSearchParams({ limit: String(LINES_PER_CALL), ...(next ? { cursor: next } : {}) });
    const page = await patiently(() => get(`/api/admin/schedules/${scheduleId}/gate-list?${query}`, { signal, isQuiet: true }), signal);
    await takeLines(scheduleId, page.items);
    page.items.forEach((line) => seen.add(line.ticketId));
    total = page.total ?? total;
    if (isWhole) onProgress(seen.size, Math.max(total, seen.size));
    next = page.nextCursor;
    if (next) continue;
    if (isWhole) await keepOnly(scheduleId, seen);
    return putList({ scheduleId, cursor: page.refreshCursor, currentAt: gateNow(), endsAt: knownShow(scheduleId)?.endsAt ?? null });
  }
}

/** Waits as long as a busy server asks for. Without a network it fails at once. */
async function patiently(action, signal) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await action();
    } catch (error) {
      const isBusy = error.status === 429 || 500 <= error.status;
      if (!isBusy || tries === TRIES_MAX) throw error;
      await pause(Math.max(error.retryAfterMs, 500 * 2 ** tries), signal);
    }
  }
}

async function takeLines(scheduleId, lines) {
  // The last scan of each ticket, unless it was taken back.
  const unsent = new Map((await scansOf(scheduleId)).map((scan) => [scan.ticketId, scan.undo ? null : scan]));
  const known = await recordsOf(scheduleId, lines.map((line) => line.ticketId));
  const fresh = lines.map((line, i) => merged(known[i], line, unsent.get(line.ticketId)));
  await putTickets(scheduleId, fresh.filter(Boolean));
}

/**
 * The record of a ticket after the server's line. An admission on this device counts until the
 * server knows it; the server's word counts if it is newer, for example an undo at another gate.
 */
export function merged(known, line, scan) {
  const isOld = known && Date.parse(line.changedAt) < Date.parse(known.line.changedAt);
  if (isOld) return null;
  const isNewer = known?.mark && Date.parse(known.mark.at) < Date.parse(line.changedAt);
  const own = scan ? { at: scan.scannedAt, gate: scan.gate, id: scan.id } : known?.mark;
  return { line, mark: line.status === "VALID" && (scan || !isNewer) ? own ?? null : null };
}

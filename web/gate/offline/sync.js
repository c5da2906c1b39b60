// Sends the scans that were made without a network.

import { call } from "../../shared/app/api.js";
import { removeScans, scansOf } from "./store.js";

const SCANS_PER_CALL = 200;

/**
 * Sends the kept scans of all shows. Returns those that two devices admitted, and the guests who were
 * let in with a seat that an organiser had moved: `{ from, to }`.
 */
export async function sync() {
  const doubles = [];
  const moved = [];
  for (;;) {
    const all = await scansOf();
    if (!all.length) return { doubles, moved };
    const { scheduleId } = all[0];
    const scans = all.filter((scan) => scan.scheduleId === scheduleId).slice(0, SCANS_PER_CALL);
    const body = { scans: scans.map(({ id, ticketId, gate, scannedAt, undo }) => ({ id, ticketId, gate, scannedAt, ...(undo ? { undo } : {}) })) };
    const { results } = await call("POST", `/api/admin/schedules/${scheduleId}/scans`, { body, isQuiet: true });
    // Fans who were sent back out are no doubles.
    const undone = new Set(scans.map(({ undo }) => undo?.checkInId));
    doubles.push(...results.filter((result) => result.verdict === "DOUBLE" && !undone.has(result.id)));
    const shown = new Map(scans.map(({ id, seatNumber }) => [id, seatNumber]));
    for (const { id, verdict, seatNumber: to } of results) {
      const from = shown.get(id);
      if (verdict === "ADMITTED" && from && to && from !== to) moved.push({ from, to });
    }
    await removeScans(results.map((result) => result.id));
  }
}

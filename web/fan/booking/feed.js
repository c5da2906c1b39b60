// Live seat changes: pushed by the server, with polling as a fallback.

import { get, Problem, streamed } from "../../shared/app/api.js";
import { pause } from "../../shared/app/clock.js";
import { t } from "../../shared/ui/i18n.js";
import { stateOf } from "../../shared/seatmap/states.js";

const RETRY_MS = 1_500;

/**
 * Calls `take` with pairs of a seat and its state, until the page closes or the date is canceled.
 */
export async function followSeats({ id, signal }, plan, take, tools, calledOff) {
  const whole = ({ seats }) => take(Array.from({ length: plan.n }, (_, i) => [i, stateOf(seats[i])]));
  for (;;) {
    const stream = streamed(`/api/schedules/${id}/seats/stream`, { signal, isPublic: true, onOpen: () => tools.stale("") });
    for await (const { name, data } of stream) {
      if (name === "canceled") return calledOff(data.detail);
      if (name === "seats") whole(data);
      if (name === "changes") take(data.changes.map(([i, letter]) => [i, stateOf(letter)]));
    }
    tools.stale(t("mapStale"));
    await pause(RETRY_MS, signal);
    try {
      const map = await get(`/api/schedules/${id}/seats`, { signal, isPublic: true, cache: "no-cache" });
      if (map.canceled) return calledOff(t("dateCanceledWords"));
      whole(map);
      tools.stale("");
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }
}

// What another date takes along: the sale phases with their draws, ticket types and fees. Codes and
// member lists stay, because only their hashes are stored.

import { call, get } from "../../../shared/app/api.js";

const path = (date, what) => `/api/admin/schedules/${date.id}/${what}`;

/** `from` and `to` are dates of the same hall; times move with the opening of the sale. */
export async function copySale(from, to) {
  const [{ items }, { ticketTypes, fees }] = await Promise.all([get(path(from, "phases")), get(path(from, "price-options"))]);
  if (ticketTypes.length || Object.keys(fees).length) {
    const types = ticketTypes.map(({ id: _, ...type }) => type);
    await call("PUT", path(to, "price-options"), { body: { ticketTypes: types, fees } });
  }
  const shift = Date.parse(to.saleStartsAt) - Date.parse(from.saleStartsAt);
  const moved = items.map((phase) => ({ phase, body: movedPhase(phase, { from, to, shift }) })).filter(({ body }) => body.startsAt < body.endsAt);
  if (!moved.length) return;
  const made = await call("PUT", path(to, "phases"), { body: { phases: moved.map(({ body }) => body) } });
  for (const [i, { phase }] of moved.entries()) await copyDraw(phase.draw, made.items[i], shift);
}

const later = (time, ms) => new Date(Date.parse(time) + ms).toISOString();

/** A phase until the end of the sale stays one; none reaches beyond the new sale. */
function movedPhase({ name, nameEn, audience, seatsPerPerson, seatsPerOrder, grades, sections, startsAt, endsAt }, { from, to, shift }) {
  const [first, last] = [to.saleStartsAt, to.saleEndsAt].map((time) => later(time, 0));
  const within = (time) => [first, [later(time, shift), last].sort()[0]].sort()[1];
  const isLast = Date.parse(endsAt) === Date.parse(from.saleEndsAt);
  return {
    name, nameEn, audience, grades, sections, seatsPerOrder,
    seatsPerPerson: Math.min(seatsPerPerson, to.seatsPerPerson),
    startsAt: within(startsAt),
    endsAt: isLast ? last : within(endsAt),
  };
}

/** A window of applications that would be over is left to the organiser. */
async function copyDraw(draw, phase, shift) {
  if (!draw) return;
  const { seatsMax, offerMinutes, quantities } = draw;
  const [applyFrom, applyUntil] = [later(draw.applyFrom, shift), later(draw.applyUntil, shift)];
  if (Date.parse(applyUntil) <= Date.now()) return;
  await call("PUT", `/api/admin/phases/${phase.id}/draw`, { body: { applyFrom, applyUntil, seatsMax, offerMinutes, quantities } });
}

// Checks codes without a network, and sends the scans later.

import { call, get } from "../../shared/app/api.js";
import { putScan, putTickets, removeScans, scansOf, ticketOf } from "./store.js";

const SIGNATURE_BYTES = 16;
const STEP_MS = 30_000;
const SCANS_PER_CALL = 200;

/** Downloads the list of a show. `onCount` hears how many tickets have arrived. */
export async function download(scheduleId, signal, onCount) {
  let [cursor, count] = [null, 0];
  do {
    const query = new URLSearchParams({ limit: "100", ...(cursor ? { cursor } : {}) });
    const page = await get(`/api/admin/schedules/${scheduleId}/gate-list?${query}`, { signal });
    await putTickets(scheduleId, page.items);
    count += page.items.length;
    onCount(count);
    cursor = page.nextCursor;
  } while (cursor);
}

/** Why a code opens no gate, or the ticket: `{ verdict, ticket }`. */
export async function checkOffline({ scheduleId, gate, sections, code }) {
  const claim = readCode(code);
  const ticket = claim && await ticketOf(scheduleId, claim.ticketId);
  if (!ticket || !(await isSigned(ticket, claim))) return { verdict: "TICKET_INVALID" };
  if (sections.length && !sections.includes(ticket.section)) return { verdict: "TICKET_OTHER_GATE", ticket };
  if (ticket.status === "USED") return { verdict: "TICKET_USED", ticket };
  const usedAt = new Date().toISOString();
  const used = { ...ticket, status: "USED", usedAt, usedGate: gate };
  await putTickets(scheduleId, [used]);
  await putScan({ id: crypto.randomUUID(), scheduleId, ticketId: ticket.ticketId, gate, scannedAt: usedAt });
  return { verdict: "OK", ticket: used };
}

function readCode(text) {
  const [kind, body] = text.trim().split(".");
  if (!["PODO1", "PODO2"].includes(kind) || !body) return null;
  const bytes = fromBase64(body);
  if (!bytes || bytes.length < 16 + 8 + SIGNATURE_BYTES) return null;
  const at = kind === "PODO1" ? 32 : 24;
  const step = kind === "PODO2" ? bytes.slice(16, 24) : null;
  return { ticketId: uuid(bytes.slice(0, 16)), step, signature: bytes.slice(at) };
}

/** A rotating code is signed with the ticket's key for its half minute; a static one shows half of the key. */
async function isSigned(ticket, { step, signature }) {
  const key = fromBase64(ticket.key);
  if (!step) return same(key.slice(0, SIGNATURE_BYTES), signature);
  const number = Number(new DataView(step.buffer, step.byteOffset).getBigInt64(0));
  const now = Math.floor(Date.now() / STEP_MS);
  if (number !== now && number !== now - 1) return false;
  const hmac = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return same(new Uint8Array(await crypto.subtle.sign("HMAC", hmac, step)).slice(0, SIGNATURE_BYTES), signature);
}

const same = (one, other) => one.length === other.length && one.every((byte, index) => byte === other[index]);

function fromBase64(text) {
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  } catch (error) {
    return null;
  }
}

function uuid(bytes) {
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Sends the kept scans. Returns those that two devices admitted. */
export async function sync(scheduleId) {
  const doubles = [];
  for (;;) {
    const scans = (await scansOf(scheduleId)).slice(0, SCANS_PER_CALL);
    if (!scans.length) return doubles;
    const body = { scans: scans.map(({ id, ticketId, gate, scannedAt }) => ({ id, ticketId, gate, scannedAt })) };
    const { results } = await call("POST", `/api/admin/schedules/${scheduleId}/scans`, { body });
    doubles.push(...results.filter((result) => result.verdict === "DOUBLE"));
    await removeScans(results.map((result) => result.id));
  }
}

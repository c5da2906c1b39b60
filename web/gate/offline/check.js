// Decides without the server: checks codes by this device's list, and keeps the scans for later.

import { datesOf, knownShow, listOf, putScan, putTickets, scansOf, ticketOf } from "./store.js";
import { gateNow } from "./clock.js";

const SIGNATURE_BYTES = 16;
const STEP_MS = 30_000;

/** What the device knows of a ticket: the server's line, and an admission here. */
export function stateOf({ line, mark }) {
  return mark ? { ...line, status: "USED", usedAt: mark.at, usedGate: mark.gate } : line;
}

/** Why a code opens no gate, or the ticket: `{ verdict, ticket, show }`. */
export async function checkOffline({ scheduleId, gate, sections, code, id }) {
  const claim = readCode(code);
  if (!claim) return { verdict: "TICKET_INVALID" };
  if (!(await listOf(scheduleId))) return { verdict: "NO_LIST" };
  const record = await ticketOf(scheduleId, claim.ticketId);
  if (!record) return elsewhere(claim);
  if (record.isBroken) return { verdict: "LIST_BROKEN" };
  const ticket = stateOf(record);
  if (ticket.status === "VOID") return { verdict: "TICKET_VOID" };
  const fault = await faultOf(ticket, claim);
  if (fault) return { verdict: fault };
  if (sections.length && !sections.includes(ticket.section)) return { verdict: "TICKET_OTHER_GATE", ticket };
  if (ticket.status === "USED") return { verdict: "TICKET_USED", ticket };
  const at = new Date(gateNow()).toISOString();
  // The scan first: a ticket that is marked as used without one would lock its guest out.
  await putScan({ id, scheduleId, ticketId: ticket.ticketId, seatNumber: ticket.seatNumber, gate, scannedAt: at });
  await putTickets(scheduleId, [{ line: record.line, mark: { at, gate, id } }]);
  return { verdict: "OK", ticket: { ...ticket, checkInId: id } };
}

/** A ticket that isn't on the list may be on that of another date, if this device has it. */
async function elsewhere(claim) {
  for (const { scheduleId, record } of await datesOf(claim.ticketId)) {
    if (!(await faultOf(record.line, claim))) return { verdict: "TICKET_ELSEWHERE", show: knownShow(scheduleId) };
  }
  return { verdict: "NOT_LISTED" };
}

/** Notes that the server admitted a ticket, so that the same code is refused without a network too. */
export async function noteAdmitted(scheduleId, { ticketId, usedAt, gate, checkInId }) {
  const record = await ticketOf(scheduleId, ticketId);
  if (!record || record.isBroken) return;
  await putTickets(scheduleId, [{ line: record.line, mark: { at: usedAt, gate, id: checkInId } }]);
}

/** Makes a ticket valid again on this device. */
export async function noteUndone(scheduleId, ticketId) {
  const record = await ticketOf(scheduleId, ticketId);
  if (!record || record.isBroken) return;
  const { usedAt, usedGate, ...line } = record.line;
  const status = line.status === "USED" ? "VALID" : line.status;
  await putTickets(scheduleId, [{ line: { ...line, status }, mark: null }]);
}

/** Keeps an undo for later. The server applies it to the check-in that it names, and no later one. */
export async function undoOffline({ scheduleId, gate, ticketId, checkInId, reason }) {
  const scannedAt = new Date(gateNow()).toISOString();
  await putScan({ id: crypto.randomUUID(), scheduleId, ticketId, gate, scannedAt, undo: { checkInId, reason } });
  await noteUndone(scheduleId, ticketId);
}

/** Whether the server hasn't got this scan yet. */
export const isUnsent = async (id) => (await scansOf()).some((scan) => scan.id === id);

function readCode(text) {
  const [kind, body] = text.trim().split(".");
  if (!["PODO1", "PODO2"].includes(kind) || !body) return null;
  const bytes = fromBase64(body);
  const at = kind === "PODO1" ? 32 : 24;
  if (bytes?.length !== at + SIGNATURE_BYTES) return null;
  const step = kind === "PODO2" ? bytes.slice(16, 24) : null;
  return { ticketId: uuid(bytes.slice(0, 16)), step, signature: bytes.slice(at) };
}

/**
 * What is wrong with a code. A rotating code is signed with the ticket's key for its half minute; a
 * static one shows half of the key. A transferred ticket has another key.
 */
async function faultOf(ticket, { step, signature }) {
  const key = fromBase64(ticket.key);
  if (!step) return same(key.slice(0, SIGNATURE_BYTES), signature) ? null : "CODE_REPLACED";
  const hmac = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const expected = new Uint8Array(await crypto.subtle.sign("HMAC", hmac, step)).slice(0, SIGNATURE_BYTES);
  if (!same(expected, signature)) return "CODE_REPLACED";
  const number = Number(new DataView(step.buffer, step.byteOffset).getBigInt64(0));
  const now = Math.floor(gateNow() / STEP_MS);
  return number === now || number === now - 1 ? null : "CODE_OVER";
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

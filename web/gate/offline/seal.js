// Seals the records of a list with a key of this device, so that a record that was edited in the
// browser's storage admits nobody.

const text = new TextEncoder();

/** The order of the members is that of this line, in the record and in its seal. */
const content = ({ scheduleId, ticketId, line, mark }) => text.encode(JSON.stringify([scheduleId, ticketId, line, mark]));

/** Browsers offer keys only on https and localhost. */
export async function seal(key, record) {
  return { ...record, seal: key && new Uint8Array(await crypto.subtle.sign("HMAC", key, content(record))) };
}

export async function readSealed(key, record) {
  const isWhole = !key || (record.seal && (await crypto.subtle.verify("HMAC", key, record.seal, content(record))));
  return isWhole ? record : { isBroken: true };
}

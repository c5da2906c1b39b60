// A MAC over each record of a list, by a key of this device, so that a record that was edited in the
// browser's storage admits no one.

const text = new TextEncoder();

const content = ({ scheduleId, ticketId, line, mark }) => text.encode(JSON.stringify([scheduleId, ticketId, line, mark]));

/** Browsers offer keys only on https and localhost. */
export async function withMac(key, record) {
  return { ...record, mac: key && new Uint8Array(await crypto.subtle.sign("HMAC", key, content(record))) };
}

export async function verified(key, record) {
  const isWhole = !key || (record.mac && (await crypto.subtle.verify("HMAC", key, record.mac, content(record))));
  return isWhole ? record : { isBroken: true };
}

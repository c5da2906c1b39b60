// Buys two tickets and cancels them, with types that openapi-typescript generated from
// docs/openapi.json. `tsc` rejects a call or a field that the document doesn't have.

import { anyone, equal, logIn, ok, setting } from "./client.js";

/** The date in PODO_SCHEDULE, or the first one on sale. */
async function findDate(): Promise<string> {
  const named = setting("PODO_SCHEDULE");
  if (named) return named;
  const found = ok(await anyone.GET("/api/events", { params: { query: { scheduleStatus: "ONGOING" } } }));
  const event = found.items[0];
  if (!event) throw new Error("no date is on sale yet");
  const { schedules } = ok(await anyone.GET("/api/events/{id}", { params: { path: { id: event.id } } }));
  const date = schedules.find((schedule) => schedule.status === "ONGOING");
  if (!date) throw new Error("its sale has just ended");
  return date.id;
}

const scheduleId = await findDate();
const account = { email: `typescript-${Date.now()}@podo.example`, password: "sweet red grapes" };
ok(await anyone.POST("/api/auth/signup", { body: { ...account, name: "Kim Type" } }));
const fan = await logIn(account.email, account.password);

// The queue token proves the place; pollAfterMs says when to ask again.
let entry = ok(await fan.POST("/api/queue/enter", { body: { scheduleId } }));
const header = { "Queue-Token": entry.token };
while (!entry.entryToken) {
  await new Promise((resolve) => setTimeout(resolve, entry.pollAfterMs));
  entry = { ...entry, ...ok(await fan.GET("/api/queue/status", { params: { query: { scheduleId }, header } })) };
}

// After a lost reply, send the same request with the same key again: it has no second effect.
const run = Date.now();
const keyed = (key: string) => ({ header: { "Idempotency-Key": `${key}-${run}` } });
const held = ok(await fan.POST("/api/booking/seats/best", {
  params: { header: { ...keyed("seats").header, "Entry-Token": entry.entryToken } },
  body: { scheduleId, count: 2 },
}));
equal(held.seats.length, 2);

ok(await fan.POST("/api/wallet/charge", { params: keyed("charge"), body: { amount: held.amount } }));
const ready = ok(await fan.POST("/api/payment/request", {
  params: keyed("request"), body: { reservationId: held.reservationId, method: "WALLET" },
}));
const paid = ok(await fan.POST("/api/payment/confirm", {
  params: keyed("confirm"), body: { paymentId: ready.paymentId, amount: ready.amount },
}));
if (!("tickets" in paid)) throw new Error(`not paid: ${JSON.stringify(paid)}`);
equal(paid.tickets.length, 2);

const canceled = ok(await fan.POST("/api/booking/reservations/{id}/cancel", {
  params: { path: { id: held.reservationId }, ...keyed("cancel") }, body: { reason: "Only trying" },
}));
equal(canceled.status, "REFUNDED");
console.log(`TypeScript: bought and canceled ${paid.reservation.bookingNumber}`);

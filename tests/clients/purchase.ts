// Buys a ticket through types that openapi-typescript generated from docs/openapi.json.
// `tsc` fails when a call or a field is not as the document says; the run fails when the server
// does not answer as the document says.

import createClient from "openapi-fetch";
import type { paths } from "./podo.js";

declare const process: { env: Record<string, string | undefined> };

const url = setting("PODO_URL");
const anyone = createClient<paths>({ baseUrl: url });

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

function ok<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.data === undefined) {
    throw new Error(`${answer.response.status} ${answer.response.url}: ${JSON.stringify(answer.error)}`);
  }
  return answer.data;
}

function equal<T>(seen: T, expected: T): void {
  if (seen !== expected) throw new Error(`expected ${expected}, saw ${seen}`);
}

async function logIn(email: string, password: string) {
  const { accessToken } = ok(await anyone.POST("/api/auth/login", { body: { email, password } }));
  return createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${accessToken}` } });
}

async function makeDate(): Promise<string> {
  const organiser = await logIn(setting("PODO_EMAIL"), setting("PODO_PASSWORD"));
  const venue = ok(await organiser.POST("/api/admin/venues", { body: { name: "Arena", address: "1 Olympic-ro", city: "Seoul" } }));
  const hall = ok(await organiser.POST("/api/admin/venues/{id}/halls", {
    params: { path: { id: venue.id } },
    body: { name: "Main hall", seatTemplate: { layoutType: "grid", rows: ["A"], seatsPerRow: 10, gradeMapping: { A: "VIP" } } },
  }));
  const event = ok(await organiser.POST("/api/admin/events", {
    body: { title: "A generated concert", artist: "The Types", venueId: venue.id, hallId: hall.id },
  }));
  const path = { id: event.id };
  const schedule = ok(await organiser.POST("/api/admin/events/{id}/schedules", {
    params: { path },
    body: {
      startsAt: "2099-05-02T10:00:00Z", endsAt: "2099-05-02T12:00:00Z",
      saleStartsAt: "2026-01-01T00:00:00Z", saleEndsAt: "2099-05-01T00:00:00Z", prices: { VIP: 150_000 },
    },
  }));
  ok(await organiser.POST("/api/admin/events/{id}/open", { params: { path } }));
  return schedule.id;
}

const scheduleId = await makeDate();
const seen = ok(await anyone.GET("/api/schedules/{id}", { params: { path: { id: scheduleId } } }));
equal(seen.status, "ONGOING");
equal(seen.showStatus, "NOT_STARTED");

const account = { email: `typescript-${Date.now()}@podo.example`, password: "sweet red grapes" };
ok(await anyone.POST("/api/auth/signup", { body: { ...account, name: "Kim Type" } }));
const fan = await logIn(account.email, account.password);

let entry = ok(await fan.POST("/api/queue/enter", { body: { scheduleId } }));
const headers = { "Queue-Token": entry.token };
while (!entry.entryToken) {
  await new Promise((resolve) => setTimeout(resolve, 200));
  entry = { ...entry, ...ok(await fan.GET("/api/queue/status", { params: { query: { scheduleId }, header: headers } })) };
}
const held = ok(await fan.POST("/api/booking/seats/best", {
  params: { header: { "Idempotency-Key": "seats", "Entry-Token": entry.entryToken } },
  body: { scheduleId, count: 2 },
}));
equal(held.amount, 300_000);

const keyed = (key: string) => ({ header: { "Idempotency-Key": key } });
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

// Creates an event with one date that is on sale, as an organiser: PODO_EMAIL and PODO_PASSWORD.

import { anyone, equal, logIn, ok, setting } from "./client.js";

// The account that `podo demo` creates.
const organiser = await logIn(setting("PODO_EMAIL") ?? "demo@podo.example", setting("PODO_PASSWORD") ?? "green-grapes-2026");

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

const seen = ok(await anyone.GET("/api/schedules/{id}", { params: { path: { id: schedule.id } } }));
equal(seen.status, "ONGOING");
equal(seen.showStatus, "NOT_STARTED");
console.log(`TypeScript: created ${schedule.id}`);

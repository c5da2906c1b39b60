// Every page there is, each brought into a state worth looking at.

import { blocks, pick, pressPay, read } from "./world.mjs";

/**
 * Visits all pages as a stranger, a fan and an organiser; `look(page, name)` is called on each.
 * `options.show` is the concert to visit, one that was made for it when left out.
 */
export async function everyPage(world, options, look) {
  const scene = await everyFanPage(world, options, look);
  await adminPages(world, { ...scene.show, phased: scene.phased }, options, look);
}

/** The same for fans only; returns the concerts that were made for it. */
export async function everyFanPage(world, options, look) {
  const show = options.show ?? (await world.show());
  const closed = await world.show({ queue: { mode: "PAUSED" }, title: "오늘의 대기실", venue: "포도 아레나" });
  const later = await world.show({ opensInMs: 3_600_000, title: "내일의 오픈", venue: "포도 아레나" });
  const phased = await world.show({ opensInMs: 3_600_000, title: "단계별 오픈", venue: "포도 아레나" });
  await dividePhases(world, phased);
  await sellAtDesk(world, phased);
  await strangersPages(world, show, options, look);
  const gone = await world.show({ template: blocks(1, 1, 2), prices: { VIP: 150_000 }, title: "어제의 매진", venue: "무등 소극장" });
  await world.buy(gone, [0, 1]);
  await gone.setQueue({ mode: "PAUSED" });
  await fanPages(world, { show, closed, later, gone, phased }, options, look);
  return { show, phased };
}

/** A presale with codes, a member presale, then everybody. */
async function dividePhases(world, { eventId, scheduleId }) {
  const { schedules } = await world.admin.call("GET", `/api/admin/events/${eventId}`);
  const { saleStartsAt, saleEndsAt } = schedules[0];
  const at = (hours) => new Date(Date.parse(saleStartsAt) + hours * 3_600_000).toISOString();
  const phase = (name, nameEn, audience, startsAt, endsAt) => ({ name, nameEn, audience, startsAt, endsAt, seatsPerPerson: 2 });
  await world.admin.call("PUT", `/api/admin/schedules/${scheduleId}/phases`, { phases: [
    phase("팬클럽 선예매", "Fan club presale", "MEMBERS", saleStartsAt, at(1)),
    phase("카드사 선예매", "Card presale", "CODE", at(1), at(2)),
    phase("추첨 판매", "Sale by draw", "DRAWN", at(2), at(3)),
    phase("일반예매", "General sale", "EVERYBODY", at(3), saleEndsAt),
  ] });
  const { items } = await world.admin.call("GET", `/api/admin/schedules/${scheduleId}/phases`);
  await world.admin.call("PUT", `/api/admin/phases/${items[2].id}/draw`, {
    applyFrom: at(-1), applyUntil: at(1), seatsMax: 2, offerMinutes: 1_440, quantities: { VIP: 10, S: 20 } });
}

/** Seats that are kept, and an order of the box office. */
async function sellAtDesk({ url, admin }, { scheduleId }) {
  const path = `/api/admin/schedules/${scheduleId}`;
  const { sections } = await admin.call("GET", `${path}/layout`);
  const ids = sections.flatMap(({ seats }) => seats).map(({ id }) => id);
  await admin.call("POST", `${path}/allocations`, { name: "아티스트", kind: "ARTIST", seatIds: ids.slice(0, 4) });
  const headers = { Authorization: `Bearer ${admin.token}`, "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() };
  const order = { seats: [{ seatId: ids[10] }], tender: "CASH", name: "김포도", note: "현장 구매" };
  await fetch(`${url}${path}/box-office`, { method: "POST", headers, body: JSON.stringify(order) });
}

async function visit({ page, go }, path, ready) {
  await go("/#/nowhere");
  await go(path);
  await page.locator(ready).first().waitFor();
  await page.waitForTimeout(150);
}

/** The same for a line that the fan joins. */
async function visitLine(fan, show, ready) {
  await fan.go("/#/nowhere");
  await fan.join(show);
  await fan.page.locator(ready).first().waitFor();
  await fan.page.waitForTimeout(150);
}

async function strangersPages(world, show, options, look) {
  const stranger = await world.open(options);
  const { page } = stranger;
  for (const [name, path, ready] of [
    ["events", "/#/", ".event-card .badge"],
    ["event", `/#/events/${show.eventId}`, ".rules"],
    ["login", "/#/login", "input[name=email]"],
    ["signup", "/#/login?new=yes", "input[name=name]"],
    ["reset", "/#/reset", "input[name=email]"],
    ["reset-new", "/#/reset/a-token", "input[name=password]"],
    ["claim-over", "/#/claim/a-token", "[role=alert]"],
    ["missing", "/#/nowhere-at-all", "h1"],
    ["problems", "/problems", ".codes tbody tr"],
    ["docs", "/docs", ".call"],
  ]) {
    await visit(stranger, path, ready);
    await look(page, name);
  }
  await page.locator(".call summary", { hasText: "/api/booking/seats/select" }).click();
  await page.locator(".shell pre").waitFor();
  await look(page, "docs-call");
  await stranger.context.close();
}

async function fanPages(world, { show, closed, later, gone, phased }, options, look) {
  const fan = await world.fan(options);
  const { page, words } = fan;
  await visit(fan, `/#/events/${phased.eventId}`, ".phases .draw form");
  await look(page, "event-phases");
  await visit(fan, `/#/queue/${later.scheduleId}`, "main .btn.primary");
  await look(page, "door");
  await visitLine(fan, later, ".hero");
  await look(page, "lobby");
  await visitLine(fan, closed, ".hero b");
  await look(page, "waiting");
  await fan.enter(show);
  await page.waitForTimeout(300);
  await look(page, "seats");
  await page.getByRole("button", { name: words.listView }).click();
  await look(page, "seats-list");
  await page.getByRole("button", { name: words.mapView }).click();
  await pick(page, await page.evaluate(() => document.querySelector("seat-map").status.indexOf(0)));
  await page.waitForTimeout(200);
  await look(page, "seats-picked");
  await page.getByRole("button", { name: words.hold, exact: true }).click();
  await page.locator("input[value=CARD]").waitFor();
  await look(page, "checkout");
  await page.locator("input[value=CARD]").check();
  await pressPay(page);
  await page.locator("[aria-describedby=how-APPROVE]").waitFor();
  await look(page, "sandbox");
  await page.locator("[aria-describedby=how-DECLINE]").click();
  await page.getByRole("heading", { name: words.declined }).waitFor();
  await look(page, "declined");
  await page.getByRole("link", { name: words.backToCheckout }).click();
  await page.locator("input[value=CARD]").check();
  await pressPay(page);
  await page.locator("[aria-describedby=how-APPROVE]").click();
  await page.getByRole("heading", { name: words.paidTitle }).waitFor();
  await look(page, "paid");
  await page.getByRole("link", { name: words.receipt }).click();
  await page.locator(".receipt .sum").first().waitFor();
  await look(page, "receipt");
  await visit(fan, "/#/tickets", ".code svg");
  await look(page, "tickets");
  await page.getByRole("button", { name: words.cancelReservation }).click();
  await page.locator("dialog .note").filter({ hasText: /\d/ }).waitFor();
  await look(page, "cancel");
  await page.getByRole("button", { name: words.dialogNo }).click();
  await page.getByRole("link", { name: words.print }).first().click();
  await page.locator(".sheet .code svg").waitFor();
  await look(page, "ticket");
  await visit(fan, "/#/tickets", ".code svg");
  await page.getByRole("link", { name: words.ticketFull }).first().click();
  await page.locator(".full-ticket .code svg").waitFor();
  await look(page, "ticket-full");
  await postpone(world, show);
  await visit(fan, "/#/tickets", ".note.warn .btn.primary");
  await look(page, "tickets-changed");
  await visit(fan, `/#/events/${later.eventId}`, "main button[aria-pressed=false]");
  await look(page, "event-later");
  await visit(fan, "/#/unsubscribe/AAAA", "main .btn.primary");
  await look(page, "unsubscribe");
  await visit(fan, "/#/me", ".amount");
  await look(page, "me");
  await visit(fan, "/#/identity", "main .btn.primary");
  await look(page, "identity");
  await visit(fan, `/#/events/${gone.eventId}`, ".standby form");
  await look(page, "sold-out");
  await visitLine(fan, gone, ".full .standby form");
  await look(page, "full");
  await fan.context.close();
}

/** Moves a show to the next day, so that its fans may keep their seats or get everything back. */
async function postpone(world, { scheduleId }) {
  const { startsAt, endsAt } = await world.admin.call("GET", `/api/schedules/${scheduleId}`);
  const later = (at) => new Date(Date.parse(at) + 86_400_000).toISOString();
  await world.admin.call("PATCH", `/api/admin/schedules/${scheduleId}`, { startsAt: later(startsAt), endsAt: later(endsAt) });
}

const ROOM = [
  ["live", (show) => `#/live/${show.scheduleId}`, ".kpi b"],
  ["admin-report", (show) => `#/live/${show.scheduleId}/report`, ".funnel li"],
  ["admin-admissions", (show) => `#/live/${show.scheduleId}/admissions`, "tbody tr"],
  ["admin-events", () => "#/events", "tbody tr"],
  ["admin-event", (show) => `#/events/${show.eventId}`, "tbody tr"],
  ["admin-pricing", ({ phased }) => `#/schedules/${phased.scheduleId}/pricing?event=${phased.eventId}`, "fieldset"],
  ["admin-phases", ({ phased }) => `#/schedules/${phased.scheduleId}/phases?event=${phased.eventId}`, "fieldset"],
  ["admin-setup", ({ phased }) => `#/schedules/${phased.scheduleId}/setup?event=${phased.eventId}`, "fieldset"],
  ["admin-setup-prices", ({ phased }) => `#/schedules/${phased.scheduleId}/setup?event=${phased.eventId}&step=prices`, "fieldset"],
  ["admin-allocations", ({ phased }) => `#/schedules/${phased.scheduleId}/allocations?event=${phased.eventId}`, "seat-map[drawn]"],
  ["admin-box-office", ({ phased }) => `#/schedules/${phased.scheduleId}/boxoffice?event=${phased.eventId}`, ".desk ~ * tbody tr"],
  ["admin-reseat", ({ booking }) => `#/schedules/${booking.scheduleId}/reseat?booking=${booking.id}`, "seat-map[drawn]"],
  ["admin-wizard", () => "#/events/new", "input[name=title]"],
  ["admin-venues", () => "#/venues", ".halls li"],
  ["admin-plan", () => null, ".counts b"],
  ["admin-reservations", () => "#/reservations", "tbody tr"],
  ["admin-payments", () => "#/payments", "tbody tr"],
  ["admin-refunds", () => "#/refunds", ".note"],
  ["admin-settlement", (show) => `#/events/${show.eventId}/settlement`, ".kpi b"],
  ["admin-reconciliation", () => "#/reconciliation", ".kpi b"],
  ["admin-users", () => "#/users", "tbody tr"],
  ["admin-support", () => "#/support", "input[name=query]"],
  ["admin-person", ({ booking }) => `#/support/people/${booking.userId}`, "tbody tr"],
  ["admin-booking", ({ booking }) => `#/support/bookings/${booking.id}`, "tbody tr"],
  ["admin-simulation", () => "#/simulation", "input[name=fans]"],
  ["admin-mailbox", () => "#/mailbox", "tbody tr"],
  ["admin-templates", () => "#/templates", ".mail-frame"],
  ["admin-messages", () => "#/messages", "table"],
  ["admin-webhooks", () => "#/webhooks", ".kinds"],
  ["admin-deliveries", ({ webhookId }) => `#/webhooks/${webhookId}`, "table"],
  ["admin-jobs", () => "#/jobs", "tbody tr"],
  ["admin-invariants", () => "#/invariants", "tbody tr"],
  ["admin-signals", () => "#/signals", "table"],
  ["admin-audit", () => "#/audit", "tbody tr"],
  ["admin-pages", () => "#/pages", "textarea"],
  ["admin-team", () => "#/team", ".rows li"],
  ["admin-keys", () => "#/keys", ".rows li"],
];

async function adminPages(world, show, options, look) {
  const hook = { url: "https://hooks.podo.example/tickets", types: ["ReservationConfirmed", "ReservationCanceled", "PaymentRefunded"] };
  world.webhookId ??= (await world.admin.call("POST", "/api/admin/webhooks", hook)).id;
  world.keyId ??= (await world.admin.call("POST", "/api/admin/keys", { name: "입장 단말", role: "GATE", events: [show.eventId], days: 90 })).id;
  world.invitationId ??= (await world.admin.call("POST", "/api/admin/team/invitations", { email: "gate@podo.example", role: "GATE" })).id;
  const [booking] = (await world.admin.call("GET", "/api/admin/reservations?status=CONFIRMED&limit=1")).items;
  const { context, page } = await world.open(options);
  await page.goto(`${world.url}/admin`);
  await page.locator("input[name=email]").fill(world.admin.email);
  await look(page, "admin-login");
  await page.locator("input[name=password]").fill(world.admin.password);
  await page.locator("form button.primary").click();
  await page.locator("nav a[aria-current]").waitFor();
  for (const [name, address, ready] of ROOM) {
    const path = address({ ...show, booking, webhookId: world.webhookId });
    if (path) await page.goto(`${world.url}/admin${path}`);
    else await page.locator(".halls a").first().click();
    await page.locator(`main ${ready}`).first().waitFor();
    await page.waitForTimeout(250);
    await look(page, name);
  }
  await gatePages(world, page, show, look);
  await context.close();
}

/** The gate in the tab of an organiser, who logs out at its end. */
async function gatePages(world, page, show, look) {
  const tonight = (world.tonight ??= await world.show({ days: 1.2, title: "오늘의 공연", venue: "포도 홀" }));
  await page.goto(`${world.url}/admin#/halls/${await hallOf(world, show)}/gates`);
  await page.locator("main form .btn.brand").waitFor();
  await page.locator("main form .btn").first().click();
  await look(page, "admin-gates");
  await page.goto(`${world.url}/gate/`);
  await page.locator("main h1").waitFor();
  await look(page, "gate-shows");
  await page.goto(`${world.url}/gate/#/scan/${tonight.scheduleId}?gate=1`);
  await page.locator("main .verdict").waitFor();
  await look(page, "gate-scan");
  const { tickets: [ticket], code } = await world.buy(tonight, [world.nScanned = (world.nScanned ?? -1) + 1]);
  const text = await read(page, await code(ticket));
  for (const [kind, name] of [["ok", "gate-admitted"], ["no", "gate-refused"]]) {
    await page.locator("input.scan").fill(text);
    await page.keyboard.press("Enter");
    await page.locator(`.verdict.${kind}`).waitFor();
    await look(page, name);
  }
  await page.locator("summary").first().click();
  await page.locator(".counts").first().waitFor();
  await look(page, "gate-counts");
  await page.locator("#leave").click();
  await page.locator("input[name=email]").waitFor();
  await look(page, "gate-login");
}

async function hallOf(world, { eventId }) {
  const { hallName, venueName } = await world.admin.call("GET", `/api/admin/events/${eventId}`);
  const { items } = await world.admin.call("GET", "/api/admin/venues?limit=100");
  // A season has several venues of one name.
  return items.filter(({ name }) => name === venueName).flatMap(({ halls }) => halls).find(({ name }) => name === hallName).id;
}

// Every page there is, each brought into a state worth looking at.

import { blocks, pick } from "./world.mjs";

/**
 * Visits all pages as a stranger, a fan and an organiser; `look(page, name)` is called on each.
 * `options.show` is the concert to visit, one that was made for it when left out.
 */
export async function everyPage(world, options, look) {
  const show = options.show ?? (await world.show());
  const closed = await world.show({ queue: { mode: "PAUSED" }, title: "오늘의 대기실", venue: "포도 아레나" });
  const later = await world.show({ opensInMs: 3_600_000, title: "내일의 오픈", venue: "포도 아레나" });
  await strangersPages(world, show, options, look);
  const gone = await world.show({ template: blocks(1, 1, 2), prices: { VIP: 150_000 }, title: "어제의 매진", venue: "무등 소극장" });
  await world.buy(gone, [0, 1]);
  await gone.setQueue({ mode: "PAUSED" });
  await fanPages(world, { show, closed, later, gone }, options, look);
  await adminPages(world, show, options, look);
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

async function fanPages(world, { show, closed, later, gone }, options, look) {
  const fan = await world.fan(options);
  const { page, words } = fan;
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
  await page.locator("form button.primary").click();
  await page.locator("[aria-describedby=how-APPROVE]").waitFor();
  await look(page, "sandbox");
  await page.locator("[aria-describedby=how-DECLINE]").click();
  await page.getByRole("heading", { name: words.declined }).waitFor();
  await look(page, "declined");
  await page.getByRole("link", { name: words.backToCheckout }).click();
  await page.locator("input[value=CARD]").check();
  await page.locator("form button.primary").click();
  await page.locator("[aria-describedby=how-APPROVE]").click();
  await page.getByRole("heading", { name: words.paidTitle }).waitFor();
  await look(page, "paid");
  await visit(fan, "/#/tickets", ".code svg");
  await look(page, "tickets");
  await page.getByRole("button", { name: words.cancelReservation }).click();
  await page.locator("dialog .note").filter({ hasText: /\d/ }).waitFor();
  await look(page, "cancel");
  await page.getByRole("button", { name: words.dialogNo }).click();
  await page.getByRole("link", { name: words.print }).first().click();
  await page.locator(".sheet .code svg").waitFor();
  await look(page, "ticket");
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

const ROOM = [
  ["live", (show) => `#/live/${show.scheduleId}`, ".kpi b"],
  ["admin-admissions", (show) => `#/live/${show.scheduleId}/admissions`, "tbody tr"],
  ["admin-events", () => "#/events", "tbody tr"],
  ["admin-event", (show) => `#/events/${show.eventId}`, "tbody tr"],
  ["admin-wizard", () => "#/events/new", "input[name=title]"],
  ["admin-venues", () => "#/venues", ".halls li"],
  ["admin-plan", () => null, ".counts b"],
  ["admin-reservations", () => "#/reservations", "tbody tr"],
  ["admin-payments", () => "#/payments", "tbody tr"],
  ["admin-refunds", () => "#/refunds", ".note"],
  ["admin-reconciliation", () => "#/reconciliation", ".kpi b"],
  ["admin-users", () => "#/users", "tbody tr"],
  ["admin-checkin", () => "#/checkin", ".gate"],
  ["admin-simulation", () => "#/simulation", "input[name=fans]"],
  ["admin-mailbox", () => "#/mailbox", "tbody tr"],
  ["admin-messages", () => "#/messages", "table"],
  ["admin-webhooks", () => "#/webhooks", ".kinds"],
  ["admin-deliveries", ({ webhookId }) => `#/webhooks/${webhookId}`, "table"],
  ["admin-jobs", () => "#/jobs", "tbody tr"],
  ["admin-promises", () => "#/promises", "tbody tr"],
  ["admin-signals", () => "#/signals", "table"],
  ["admin-audit", () => "#/audit", "tbody tr"],
];

async function adminPages(world, show, options, look) {
  const hook = { url: "https://hooks.podo.example/tickets", types: ["ReservationConfirmed", "ReservationCanceled", "PaymentRefunded"] };
  world.webhookId ??= (await world.admin.call("POST", "/api/admin/webhooks", hook)).id;
  const { context, page } = await world.open(options);
  await page.goto(`${world.url}/admin`);
  await page.locator("input[name=email]").fill(world.admin.email);
  await look(page, "admin-login");
  await page.locator("input[name=password]").fill(world.admin.password);
  await page.locator("form button.primary").click();
  await page.locator("nav a[aria-current]").waitFor();
  for (const [name, address, ready] of ROOM) {
    const path = address({ ...show, webhookId: world.webhookId });
    if (path) await page.goto(`${world.url}/admin${path}`);
    else await page.locator(".halls a").first().click();
    await page.locator(`main ${ready}`).first().waitFor();
    await page.waitForTimeout(250);
    await look(page, name);
  }
  await context.close();
}

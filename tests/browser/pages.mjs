// Every page there is, each brought into a state worth looking at.

import { pick } from "./world.mjs";

/** Visits all pages as a fan and as an organiser; `look(page, name)` is called on each. */
export async function everyPage(world, options, look) {
  const show = await world.show();
  const closed = await world.show({ queue: { mode: "PAUSED" } });
  await fanPages(world, { show, closed }, options, look);
  await adminPages(world, show, options, look);
}

async function fanPages(world, { show, closed }, options, look) {
  const stranger = await world.open(options);
  const visit = async ({ page, go }, path, name, ready) => {
    await go("/#/nowhere");
    await go(path);
    await page.locator(ready).first().waitFor();
    await page.waitForTimeout(150);
    await look(page, name);
  };
  await visit(stranger, "/#/", "events", ".event-card .badge");
  await visit(stranger, `/#/events/${show.eventId}`, "event", ".rules");
  await visit(stranger, "/#/login", "login", "input[name=email]");
  await visit(stranger, "/#/nowhere-at-all", "missing", "h1");
  await stranger.context.close();

  const fan = await world.fan(options);
  const { page, words } = fan;
  await visit(fan, `/#/queue/${closed.scheduleId}`, "waiting", ".hero b");
  await fan.enter(show);
  await page.waitForTimeout(300);
  await look(page, "seats");
  await page.getByRole("button", { name: words.listView }).click();
  await look(page, "seats-list");
  await page.getByRole("button", { name: words.mapView }).click();
  await pick(page, 3);
  await page.waitForTimeout(200);
  await look(page, "seats-picked");
  await page.getByRole("button", { name: words.hold, exact: true }).click();
  await page.locator("input[value=CARD]").waitFor();
  await look(page, "checkout");
  await page.locator("input[value=CARD]").check();
  await page.locator("form button.primary").click();
  await page.locator("[aria-describedby=how-APPROVE]").waitFor();
  await look(page, "sandbox");
  await page.locator("[aria-describedby=how-APPROVE]").click();
  await page.getByRole("heading", { name: words.paidTitle }).waitFor();
  await look(page, "paid");
  await visit(fan, "/#/tickets", "tickets", ".code svg");
  await visit(fan, "/#/me", "me", ".amount");
  await fan.context.close();
}

const ROOM = [
  ["live", (show) => `#/live/${show.scheduleId}`, ".kpi b"],
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
  ["admin-mailbox", () => "#/mailbox", "table"],
  ["admin-promises", () => "#/promises", "tbody tr"],
  ["admin-signals", () => "#/signals", "table"],
  ["admin-audit", () => "#/audit", "tbody tr"],
];

async function adminPages(world, show, options, look) {
  const { context, page } = await world.open(options);
  await page.goto(`${world.url}/admin`);
  await page.locator("input[name=email]").fill(world.admin.email);
  await look(page, "admin-login");
  await page.locator("input[name=password]").fill(world.admin.password);
  await page.locator("form button.primary").click();
  await page.locator("nav a[aria-current]").waitFor();
  for (const [name, address, ready] of ROOM) {
    const path = address(show);
    if (path) await page.goto(`${world.url}/admin${path}`);
    else await page.locator(".halls a").first().click();
    await page.locator(`main ${ready}`).first().waitFor();
    await page.waitForTimeout(250);
    await look(page, name);
  }
  await context.close();
}

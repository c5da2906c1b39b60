// The control room: what it shows is a second old, what it changes happens within one.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { openWorld } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

test("a pause stops admission within a second, and those who wait see it", async () => {
  const show = await world.show({ queue: { admitPerSecond: 1, maxActive: 1 } });
  const { page, context } = await world.room(`#/live/${show.scheduleId}`);
  await page.locator(".kpi b").first().waitFor();
  const [inside, waiting] = [await world.fan(), await world.fan()];
  await inside.enter(show);
  await waiting.join(show);
  await waiting.page.locator(".hero b").waitFor();
  await page.locator(".kpi b").first().filter({ hasText: "1" }).waitFor();
  await page.getByRole("button", { name: "Pause admission" }).click();
  await page.locator("dialog .btn.stop").click();
  await page.getByRole("button", { name: "Resume admission" }).waitFor();
  await waiting.page.getByText(/순서는 그대로/).waitFor();
  const before = (await show.live()).admitted;
  await show.setQueue({ mode: "PAUSED", maxActive: 100, admitPerSecond: 50 });
  await page.waitForTimeout(1_500);
  assert.equal((await show.live()).admitted, before, "no fan was admitted");
  await page.getByRole("button", { name: "Resume admission" }).click();
  await page.locator("dialog .btn.brand").click();
  await waiting.page.waitForURL(/#\/seats\//);
  await Promise.all([context, inside.context, waiting.context].map((it) => it.close()));
});

test("the command palette finds pages, concerts and fans by keyboard", async () => {
  const show = await world.show({ title: "Palette night" });
  const { page, context } = await world.room("#/events");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.keyboard.press("Control+k");
  const find = page.locator(".palette input");
  await page.keyboard.type("refunds");
  assert.deepEqual(await violations(page), [], "axe on the palette");
  await page.keyboard.press("Enter");
  await page.waitForURL(/#\/refunds$/);

  await page.getByRole("button", { name: "Quick search" }).click();
  await find.fill("Palette");
  await page.locator(".palette li", { hasText: "Palette night" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`#/events/${show.eventId}$`));

  await page.keyboard.press("Control+k");
  await page.keyboard.type("B-00000000-000000");
  await page.locator(".palette li", { hasText: "Find fans and bookings" }).click();
  await page.waitForURL(/#\/support\?query=B-00000000-000000$/);
  await page.locator(".note:not([hidden])").waitFor();
  await page.keyboard.press("Control+k");
  await find.waitFor();
  await page.keyboard.press("Escape");
  await find.waitFor({ state: "detached" });
  await context.close();
});

test("a quiet monitor is watched longer than an idle session lives, and its pause works", async () => {
  const strict = await openWorld({ env: { PODO_ADMIN_IDLE_MINUTES: "1" } });
  try {
    const show = await strict.show();
    const { page, context } = await strict.room(`#/live/${show.scheduleId}`);
    await page.locator(".kpi b").first().waitFor();
    const begunAt = Date.now();
    // The page is left alone; its only calls are those by which it stays logged in.
    while (Date.now() - begunAt < 70_000) await page.waitForResponse(/api\/auth\/refresh/, { timeout: 40_000 });
    await page.getByRole("button", { name: "Pause admission" }).click();
    await page.locator("dialog .btn.stop").click();
    await page.getByRole("button", { name: "Resume admission" }).waitFor();
    assert.equal(await page.locator("input[name=password]").count(), 0, "no login in between");
    await context.close();
  } finally {
    await strict.close();
  }
});

test("an organiser makes a hall and a concert without writing JSON", async () => {
  const venue = await world.admin.call("POST", "/api/admin/venues", { name: "New venue", address: "Road 2", city: "부산" });
  const { page, context } = await world.room(`#/halls/new?venue=${venue.id}`);
  await page.locator(".counts b").first().waitFor();
  await page.locator("input[name=name]").fill("Great hall");
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForURL(/#\/venues/);
  await page.goto(`${world.url}/admin#/events/new`);
  await page.locator("input[name=title]").fill("Wizard night");
  await page.locator("input[name=artist]").fill("The Grapes");
  for (const step of ["Details", "Venue", "When"]) await page.getByRole("button", { name: "Next" }).click({ timeout: 10_000 }).then(() => page.waitForTimeout(step === "Venue" ? 1_500 : 500));
  await page.getByRole("button", { name: "Create" }).click();
  await page.locator("h1").filter({ hasText: "Wizard night" }).waitFor();
  await page.getByRole("link", { name: "Monitor" }).click();
  await page.locator(".kpi b").first().waitFor();
  await context.close();
});

test("another date is added to a concert that is on sale", async () => {
  const show = await world.show({ title: "Two nights" });
  const { page, context } = await world.room(`#/events/${show.eventId}`);
  await page.getByRole("button", { name: "Add a date" }).click();
  const dialog = page.locator("dialog");
  assert.deepEqual(await violations(page), [], "axe on the dialog");
  await dialog.locator("input[name='price VIP']").fill("0");
  await dialog.getByRole("button", { name: "Add a date" }).click();
  assert.equal(await dialog.locator("input:invalid").count(), 1, "a price of nothing is refused");
  await dialog.locator("input[name='price VIP']").fill("170000");
  await dialog.getByRole("button", { name: "Add a date" }).click();
  await page.locator("tbody tr").nth(1).filter({ hasText: "170,000" }).waitFor();
  const { schedules } = await world.admin.call("GET", `/api/admin/events/${show.eventId}`);
  assert.equal(Date.parse(schedules[1].startsAt) - Date.parse(schedules[0].startsAt) - 86_400_000 < 60_000, true, "a day later");
  assert.deepEqual([schedules[1].status, schedules[1].seats], ["UPCOMING", schedules[0].seats]);
  await context.close();
});

test("simulated fans are sent, watched, and leave a number", async () => {
  const show = await world.show({ queue: { admitPerSecond: 200 } });
  const { page, context } = await world.room(`#/simulation?schedule=${show.scheduleId}`);
  await page.locator("input[name=fans]").fill("20");
  await page.locator("input[name=seconds]").fill("1");
  await page.locator("input[name=thinkMs]").fill("0");
  await page.getByRole("button", { name: "Start simulation" }).click();
  await page.locator(".huge").waitFor({ timeout: 60_000 });
  assert.ok((await show.live()).sold > 0);
  await page.goto(`${world.url}/admin#/payments`);
  await page.getByRole("button", { name: "Export CSV" }).click();
  await page.locator("dialog input").fill("a test");
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
  assert.equal(file.suggestedFilename(), "payments.csv");
  const [heads, ...rows] = readFileSync(await file.path(), "utf8").trim().split(/\r?\n/).map((line) => line.replaceAll('"', "").split(","));
  const column = (name) => heads.indexOf(name);
  const sum = (name) => rows.filter((row) => row[column("status")] === "CAPTURED").reduce((all, row) => all + Number(row[column(name)]), 0);
  assert.equal(sum("captured"), (await show.live()).revenue, "the file and the ledger say the same");
  await context.close();
});

test("the first concert needs no detour: the hall is made in the wizard, and what was typed stays", async () => {
  const empty = await openWorld();
  try {
    const { page, go } = await empty.room("#/");
    // The steps to a first sale: each leads on, and none leads into a dead end.
    await page.getByRole("heading", { level: 1, name: "Your first sale" }).waitFor();
    assert.deepEqual(await violations(page), [], "axe on the first steps");
    assert.equal(await page.locator(".first-run li").count(), 6);
    await page.setViewportSize({ width: 320, height: 640 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await page.setViewportSize({ width: 1400, height: 1000 });
    await page.locator(".first-run .primary").click();
    await page.locator("input[name=title]").fill("First night");
    await page.locator("input[name=artist]").fill("The Grapes");
    await page.getByRole("button", { name: "Next" }).click();
    await page.locator("input[name=hall]").waitFor();
    await go("/admin#/venues");
    await page.getByRole("heading", { level: 1, name: "Venues" }).waitFor();
    await go("/admin#/events/new");
    assert.equal(await page.locator("input[name=title]").inputValue(), "First night");
    await page.getByRole("button", { name: "Next" }).click();
    for (const [name, value] of [["name", "Vineyard"], ["address", "Road 3"], ["city", "Seoul"], ["hall", "Big hall"]]) {
      await page.locator(`input[name=${name}]`).fill(value);
    }
    await page.getByRole("button", { name: "Next" }).click();
    await page.locator("input[name=startsAt]").waitFor();
    assert.match(await page.locator("input[name=startsAt]").inputValue(), /T\d\d:00$/);
    const prices = await page.locator("input[name^=price]").evaluateAll((all) => all.map((it) => [it.name, Number(it.value)]));
    assert.deepEqual(prices.map(([name]) => name), ["price VIP", "price R", "price S", "price A"], "the dearest first");
    assert.deepEqual(prices.map(([, value]) => value), [...prices.map(([, value]) => value)].sort((a, b) => b - a));
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("Vineyard · Big hall").waitFor();
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { level: 1, name: "First night" }).waitFor();
  } finally {
    await empty.close();
  }
});

test("a refund names the booking and the fan, and its result has one button", async () => {
  const show = await world.show({ title: "Refund night" });
  const { account, tickets } = await world.buy(show, [0]);
  const { page, context } = await world.room(`#/payments?query=${tickets[0].bookingNumber ?? ""}`);
  await page.locator("tbody tr").first().click();
  await page.locator(".side-panel").getByRole("button", { name: "Refund", exact: true }).click();
  const dialog = page.locator("dialog");
  await dialog.getByText(account.email).waitFor();
  await dialog.getByText("Refund night").waitFor();
  // Whole seats and the amount, as people say them.
  await dialog.getByText(/Section.101.Row.1.Seat.1/).waitFor();
  await dialog.getByText("₩150,000").first().waitFor();
  await dialog.locator("input[name=reason]").fill("a test");
  await dialog.locator(".btn.stop").click();
  const done = dialog.getByRole("button", { name: "Done" });
  await done.waitFor();
  assert.equal(await dialog.getByRole("button").count(), 1);
  await done.click();
  await context.close();
});

test("arrow keys move the rate, and only a press asks for the change", async () => {
  const show = await world.show({ queue: { admitPerSecond: 20 } });
  const { page, context } = await world.room(`#/live/${show.scheduleId}`);
  const rate = page.getByRole("slider").first();
  await rate.focus();
  for (let i = 0; i < 3; i += 1) await page.keyboard.press("ArrowLeft");
  assert.equal(await page.locator("dialog").count(), 0, "no dialog while the value still moves");
  assert.equal(await rate.inputValue(), "17");
  await page.waitForTimeout(1_500);
  assert.equal(await rate.inputValue(), "17", "news from the server doesn't move it back");
  await page.keyboard.press("Enter");
  await page.locator("dialog").getByRole("button", { name: "Change" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.equal((await show.live()).settings.admitPerSecond, 17);
  await context.close();
});

test("the monitor says that a sale is ahead, and stays calm while nothing happens", async () => {
  const show = await world.show({ opensInMs: 3_600_000 });
  const { page, context } = await world.room(`#/live/${show.scheduleId}`);
  await page.locator(".hd .badge", { hasText: "not on sale yet" }).waitFor();
  await page.locator(".hd .badge.ok", { hasText: /s old/ }).waitFor();
  // A heartbeat comes every fifteen seconds; the age starts again with it.
  const ages = [];
  for (let i = 0; i < 24; i += 1) {
    ages.push(Number.parseFloat(await page.locator(".hd .badge.num").textContent()));
    await page.waitForTimeout(1_000);
  }
  assert.ok(ages.some((age, i) => 0 < i && age < ages[i - 1]), `it starts again: ${ages}`);
  assert.ok(Math.max(...ages) < 18, `${ages}`);
  await context.close();
});

test("a generated plan is shown whole, with all its grades or a word about those left out", async () => {
  const venue = await world.admin.call("POST", "/api/admin/venues", { name: "Plan venue", address: "Road 4", city: "대구" });
  const { page, context } = await world.room(`#/halls/new?venue=${venue.id}`);
  await page.locator(".counts b").first().waitFor();
  for (const grade of ["VIP", "R", "S", "A"]) await page.locator(".counts span", { hasText: new RegExp(`^${grade} `) }).waitFor();
  const isMoved = () => page.evaluate(() => document.querySelector("seat-map").view.isMoved);
  await page.evaluate(() => document.querySelector("seat-map").zoomBy(2));
  assert.ok(await isMoved());
  await page.getByRole("button", { name: "Show all" }).click();
  assert.ok(!(await isMoved()));
  await page.evaluate(() => document.querySelector("seat-map").zoomBy(2));
  await page.locator("input[name=rows]").fill("2");
  await page.getByRole("button", { name: "Generate" }).click();
  await page.getByText("too few rows").waitFor();
  assert.ok(!(await isMoved()), "the new plan is shown whole");
  await context.close();
});

test("the monitor shows what the sale brought in", async () => {
  const show = await world.show({ title: "Revenue night" });
  await world.buy(show, [0, 1]);
  const { page, context } = await world.room(`#/live/${show.scheduleId}`);
  const tile = page.locator(".kpi", { hasText: "Revenue" });
  await tile.locator("b", { hasText: "₩300K" }).waitFor();
  await tile.getByText("₩150,000 per seat").waitFor();
  // After the sale it is on paper too.
  await page.getByRole("link", { name: "Report" }).click();
  await page.getByRole("heading", { level: 1, name: "Revenue night" }).waitFor();
  const step = (name) => page.locator(".funnel li", { hasText: name }).locator("b").textContent();
  assert.equal(await step("Admitted"), "1");
  assert.equal(await step("Paid"), "1");
  assert.equal(await step("Checked in at the gate"), "0");
  await page.locator(".kpi b", { hasText: "₩300,000" }).waitFor();
  assert.deepEqual(await violations(page), [], "axe on the report");
  await page.emulateMedia({ media: "print" });
  assert.ok(await page.locator(".side").isHidden(), "no menu on paper");
  await context.close();
});

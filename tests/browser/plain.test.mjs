// Without scripts: find a concert, log in, wait in line, look at tickets.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openWorld, watch } from "./world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

test("a browser without scripts goes from the list to its place in line", async () => {
  const show = await world.show({ queue: { mode: "PAUSED" } });
  const fan = await world.fan();
  const context = await world.browser.newContext({ javaScriptEnabled: false, locale: "en-GB" });
  const page = await context.newPage();
  watch(page, world.url, world.broken);
  await page.goto(`${world.url}/`);
  await page.locator(`a[href="/events/${show.eventId}"]`).click();
  await page.locator("main a", { hasText: "Book" }).click();
  await page.locator("main a", { hasText: "Log in" }).click();
  await page.locator("input[name=email]").fill(fan.account.email);
  await page.locator("input[name=password]").fill(fan.account.password);
  await page.locator("form button").click();
  await page.waitForURL(new RegExp(`/queue/${show.scheduleId}`));
  assert.equal(await page.locator(".hero").textContent(), "1");
  await show.setQueue({ mode: "AUTO" });
  // The page looks again by itself.
  await page.locator("main", { hasText: "It is your turn" }).waitFor({ timeout: 15_000 });
  await page.goto(`${world.url}/tickets`);
  await page.locator("h1", { hasText: "My tickets" }).waitFor();
  await Promise.all([context.close(), fan.context.close()]);
});

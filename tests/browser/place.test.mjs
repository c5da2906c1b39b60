// The place in line survives whatever happens to a browser.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openWorld } from "./world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

const positionOf = async (page) => Number(await page.locator(".hero b").textContent());

test("a reload, a closed tab, another device and an outage keep the place", async () => {
  const show = await world.show({ queue: { mode: "PAUSED" } });
  const others = [await world.fan(), await world.fan()];
  for (const other of others) {
    await other.go(`/#/queue/${show.scheduleId}`);
    await other.page.locator(".hero b").waitFor();
  }
  const fan = await world.fan();
  const address = `/#/queue/${show.scheduleId}`;
  await fan.go(address);
  await fan.page.locator(".hero b").waitFor();
  assert.equal(await positionOf(fan.page), 3);

  await fan.page.reload();
  await fan.page.locator(".hero b").waitFor();
  assert.equal(await positionOf(fan.page), 3, "after a reload");

  const tab = await fan.context.newPage();
  await fan.page.close();
  await tab.goto(world.url + address);
  await tab.locator(".hero b").waitFor();
  assert.equal(await positionOf(tab), 3, "in another tab");

  const device = await world.open();
  await device.go(`/#/login?next=${encodeURIComponent(`#/queue/${show.scheduleId}`)}`);
  await device.page.locator("input[name=email]").fill(fan.account.email);
  await device.page.locator("input[name=password]").fill(fan.account.password);
  await device.page.locator("form button.primary").click();
  await device.page.locator(".hero b").waitFor();
  assert.equal(await positionOf(device.page), 3, "on another device");

  await fan.context.setOffline(true);
  await tab.locator(".note.danger").filter({ hasText: /\S/ }).waitFor();
  await fan.context.setOffline(false);
  await tab.locator(".note.danger").waitFor({ state: "hidden" });
  assert.equal(await positionOf(tab), 3, "after an outage");

  await show.setQueue({ mode: "AUTO" });
  await tab.waitForURL(/#\/seats\//);
  await Promise.all([...others, device, fan].map(({ context }) => context.close()));
});

test("those who come before the opening see the clock, and are let in when it strikes", async () => {
  const fan = await world.fan();
  const show = await world.show({ opensInMs: 8_000 });
  await fan.go(`/#/queue/${show.scheduleId}`);
  await fan.page.locator(".hero[role=timer]").filter({ hasText: /00:0\d/ }).waitFor();
  await fan.page.waitForURL(/#\/seats\//, { timeout: 30_000 });
  await fan.context.close();
});

// The place in line survives whatever happens to a browser.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { blocks, openWorld } from "./world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

// Runs in the page, before its own scripts.
const countPolls = () => {
  const ask = globalThis.fetch;
  const polls = { open: 0, failed: 0 };
  // A turn of the page's loop that no clock delays.
  const turn = () =>
    new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = resolve;
      port2.postMessage(0);
    });
  polls.settled = async () => {
    do await turn();
    while (polls.open > 0);
    await turn();
  };
  globalThis.polls = polls;
  globalThis.fetch = async (what, options) => {
    if (!String(what.url ?? what).includes("/api/queue/status")) return ask(what, options);
    polls.open += 1;
    try {
      return await ask(what, options);
    } catch (error) {
      polls.failed += 1;
      throw error;
    } finally {
      polls.open -= 1;
    }
  };
};

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

test("half a minute without a network costs nothing but patience", async () => {
  const show = await world.show({ queue: { mode: "PAUSED" } });
  const other = await world.fan();
  await other.go(`/#/queue/${show.scheduleId}`);
  await other.page.locator(".hero b").waitFor();
  const { page, context, words, go } = await world.fan();
  await page.addInitScript(countPolls);
  // The page's own clock: half a minute of its pauses passes while nobody waits for it.
  await page.clock.install();
  await go(`/#/queue/${show.scheduleId}`);
  await page.locator(".hero b").waitFor();
  assert.equal(await positionOf(page), 2);

  await context.setOffline(true);
  await page.getByText(words.reconnecting).waitFor();
  for (let second = 0; second < 30; second += 1) {
    await page.clock.runFor(1_000);
    // A poll fails in real time, and only then does the page plan the next one.
    await page.evaluate(() => globalThis.polls.settled());
  }
  assert.equal(await positionOf(page), 2, "the place is on the page all the time");
  await page.getByText(words.reconnecting).waitFor();
  const failed = await page.evaluate(() => globalThis.polls.failed);
  assert.ok(5 <= failed, `it goes on trying: ${failed}`);

  await context.setOffline(false);
  await page.clock.runFor(10_000);
  await page.getByText(words.reconnecting).waitFor({ state: "hidden" });
  // Connected again, and not only the words: what happens in the room is seen.
  await show.setQueue({ mode: "PAUSED", message: "곧 다시 열려요" });
  await page.getByText("곧 다시 열려요").waitFor();
  assert.equal(await positionOf(page), 2, "after the outage");
  await show.setQueue({ mode: "AUTO" });
  await page.waitForURL(/#\/seats\//);
  await Promise.all([context.close(), other.context.close()]);
});

test("those who come before the opening see the clock, and are let in when it strikes", async () => {
  const fan = await world.fan();
  const show = await world.show({ opensInMs: 8_000 });
  await fan.go(`/#/queue/${show.scheduleId}`);
  await fan.page.locator(".hero[role=timer]").filter({ hasText: /00:0\d/ }).waitFor();
  await fan.page.waitForURL(/#\/seats\//, { timeout: 30_000 });
  await fan.context.close();
});

for (const language of ["ko", "en"]) {
  test(`who comes when everything is sold is told so and may stand by (${language})`, async () => {
    const show = await world.show({ template: blocks(1, 1, 2), prices: { VIP: 150_000 } });
    await world.buy(show, [0, 1]);
    await show.setQueue({ mode: "PAUSED" });
    const fan = await world.fan({ language });
    const { page, words } = fan;
    await fan.go(`/#/queue/${show.scheduleId}`);
    await page.getByRole("heading", { name: words.fullTitle }).waitFor();
    await page.getByText(words.positionTitle("1")).waitFor();
    await page.getByRole("button", { name: words.standbyJoin }).click();
    await page.getByText(words.standbyPlace("VIP", 1, "0")).waitFor();
    // Let in all the same: the map says it too.
    await show.setQueue({ mode: "AUTO" });
    await page.waitForURL(/#\/seats\//);
    await page.getByRole("status").getByText(words.fullTitle).waitFor();
    await page.getByText(words.standbyPlace("VIP", 1, "0")).waitFor();

    await show.setQueue({ mode: "CLOSED" });
    const late = await world.fan({ language });
    await late.go(`/#/queue/${show.scheduleId}`);
    await late.page.getByRole("alert").filter({ hasText: /\S/ }).waitFor();
    await late.page.getByRole("button", { name: words.standbyJoin }).waitFor();
    await Promise.all([fan.context.close(), late.context.close()]);
  });
}

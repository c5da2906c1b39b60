// The place in line survives whatever happens to a browser.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { after, before, test } from "node:test";
import { blocks, openWorld, watch } from "../support/world.mjs";

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
    await other.join(show);
    await other.page.locator(".hero b").waitFor();
  }
  const fan = await world.fan();
  const address = `/#/queue/${show.scheduleId}`;
  await fan.join(show);
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
  await other.join(show);
  await other.page.locator(".hero b").waitFor();
  const fan = await world.fan();
  const { page, context, words } = fan;
  await page.addInitScript(countPolls);
  // The page's own clock: half a minute of its pauses passes without a delay for the test.
  await page.clock.install();
  await fan.join(show);
  await page.locator(".hero b").waitFor();
  assert.equal(await positionOf(page), 2);

  await context.setOffline(true);
  await page.getByText(words.reconnecting).waitFor();
  const failedPolls = () => page.evaluate(() => globalThis.polls.failed);
  // The stream breaks in real time, and the page polls only after that.
  for (let tries = 0; tries < 400 && (await failedPolls()) === 0; tries += 1) {
    await page.clock.runFor(100);
    await sleep(25);
  }
  for (let second = 0; second < 30; second += 1) {
    await page.clock.runFor(1_000);
    // A poll fails in real time, and only then does the page plan the next one.
    await page.evaluate(() => globalThis.polls.settled());
  }
  assert.equal(await positionOf(page), 2, "the place is on the page all the time");
  await page.getByText(words.reconnecting).waitFor();
  const failed = await failedPolls();
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
  await fan.join(show);
  await fan.page.locator(".hero[role=timer]").filter({ hasText: /00:0\d/ }).waitFor();
  await fan.page.waitForURL(/#\/seats\//, { timeout: 30_000 });
  await fan.context.close();
});

for (const language of ["ko", "en"]) {
  test(`a fan who comes when everything is sold sees it and may stand by (${language})`, async () => {
    const show = await world.show({ template: blocks(1, 1, 2), prices: { VIP: 150_000 } });
    await world.buy(show, [0, 1]);
    await show.setQueue({ mode: "PAUSED" });
    const fan = await world.fan({ language });
    const { page, words } = fan;
    await fan.join(show);
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
    await late.join(show);
    await late.page.getByRole("alert").filter({ hasText: /\S/ }).waitFor();
    await late.page.getByRole("button", { name: words.standbyJoin }).waitFor();
    await Promise.all([fan.context.close(), late.context.close()]);
  });
}

const ELSEWHERE = "http://elsewhere.example/";

/** Shows a page of another site; no request leaves this machine. */
async function openElsewhere({ page, context }, html) {
  await context.route(ELSEWHERE, (route) => route.fulfill({ contentType: "text/html", body: html }));
  await page.goto(ELSEWHERE);
}

/** What the server says about the place of the fan whose page this is. */
const statusOf = (page, { scheduleId }) =>
  page.evaluate(async (id) => (await fetch(`/api/queue/status?scheduleId=${id}`)).status, scheduleId);

test("a link of another site puts a fan in line only after they press the button", async () => {
  const show = await world.show({ queue: { mode: "PAUSED" } });
  const fan = await world.fan({ mayAsk: ELSEWHERE });
  const { page, context, words } = fan;
  for (const path of [`/#/queue/${show.scheduleId}`, `/queue/${show.scheduleId}`, `/#/seats/${show.scheduleId}`]) {
    await openElsewhere(fan, `<a href="${world.url}${path}">free tickets</a>`);
    await page.getByText("free tickets").click();
    // Either the question whether to join, or a place in line.
    await page.locator(".hero b").or(page.getByText(words.joinQueueWords)).waitFor();
    assert.equal(await statusOf(page, show), 404, path);
  }
  // Another language shows the same page again, and is no wish to enter.
  await page.locator("#languages").selectOption("en");
  await page.locator(".hero b").or(page.getByRole("button", { name: "Join the queue" })).waitFor();
  assert.equal(await statusOf(page, show), 404, "in another language");
  await page.locator("#languages").selectOption("ko");
  await page.getByRole("button", { name: words.joinQueue }).click();
  await page.locator(".hero b").waitFor();
  assert.equal(await statusOf(page, show), 200);
  // A fan with a place sees it, wherever the link was.
  await openElsewhere(fan, `<a href="${world.url}/queue/${show.scheduleId}">my place</a>`);
  await page.getByText("my place").click();
  await page.locator(".hero b").waitFor();
  // A link of our own is enough.
  const other = await world.show({ queue: { mode: "PAUSED" } });
  await fan.go(`/#/events/${other.eventId}`);
  await page.locator(`a[href="#/queue/${other.scheduleId}"]`).click();
  await page.locator(".hero b").waitFor();
  assert.equal(await statusOf(page, other), 200);
  await context.close();
});

test("another site that opens our page cannot lead it into a line", async () => {
  const show = await world.show({ queue: { mode: "PAUSED" } });
  const fan = await world.fan({ mayAsk: ELSEWHERE });
  await openElsewhere(fan, `
    <button onclick="ours = window.open('${world.url}/#/')">open</button>
    <button onclick="ours.location = '${world.url}/#/queue/${show.scheduleId}'">lead</button>`);
  const opened = fan.context.waitForEvent("page");
  await fan.page.getByText("open").click();
  const ours = await opened;
  watch(ours, world.url, world.broken);
  await ours.locator("main h1").waitFor();
  await fan.page.getByText("lead").click();
  await ours.locator(".hero b").or(ours.getByText(fan.words.joinQueueWords)).waitFor();
  assert.equal(await statusOf(ours, show), 404);
  await fan.context.close();
});

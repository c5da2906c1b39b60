// Two browsers want the same seat; what one does, the other sees.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openWorld, pick } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

test("one of two browsers gets the seat, and the other sees which one it lost", async () => {
  const show = await world.show();
  const [first, second] = [await world.fan(), await world.fan()];
  // The second would see the seat go, and a race would be over before it began: it looks at an old map.
  await second.page.route(/\/api\/schedules\/[^/]+\/seats/, (route) => route.abort());
  await Promise.all([first.enter(show), second.enter(show, { isBlind: true })]);
  await pick(first.page, 5);
  await pick(second.page, 5);
  await pick(second.page, 6);
  await first.page.getByRole("button", { name: first.words.hold, exact: true }).click();
  await first.page.waitForURL(/#\/checkout\//);
  await second.page.getByRole("button", { name: second.words.hold, exact: true }).click();
  const lost = second.page.locator(".note.warn[role=alert]");
  await lost.filter({ hasText: second.words.seatName("101-1-6") }).waitFor();
  assert.equal((await show.live()).held, 1);
  assert.equal(await second.page.locator(".picks li b").count(), 1, "the other seat stays picked");
  await Promise.all([first.context.close(), second.context.close()]);
});

test("a seat that is given back appears in the other browser by itself", async () => {
  const show = await world.show();
  const [first, second] = [await world.fan(), await world.fan()];
  await Promise.all([first.enter(show), second.enter(show)]);
  const stateOf = (seat) => second.page.evaluate((i) => document.querySelector("seat-map").status[i], seat);
  const becomes = (state) => second.page.waitForFunction(([i, wanted]) => document.querySelector("seat-map").status[i] === wanted, [7, state]);
  await pick(first.page, 7);
  await first.page.getByRole("button", { name: first.words.hold, exact: true }).click();
  await first.page.waitForURL(/#\/checkout\//);
  await becomes(1);
  await first.page.getByRole("button", { name: first.words.release }).click();
  await first.page.locator("dialog .btn.stop").click();
  await becomes(0);
  assert.equal(await stateOf(7), 0);
  await Promise.all([first.context.close(), second.context.close()]);
});

test("a fifth seat is refused in words", async () => {
  const show = await world.show();
  const fan = await world.fan();
  await fan.enter(show);
  for (const seat of [0, 1, 2, 3, 4]) await pick(fan.page, seat);
  await fan.page.locator(".panel .note.danger").filter({ hasText: "4" }).waitFor();
  assert.equal(await fan.page.locator(".picks li b").count(), 4);
  await fan.context.close();
});

test("a hold that runs out frees the seat in the other browser, and its owner sees it", async () => {
  const hasty = await openWorld({ env: { PODO_HOLD_SECONDS: "4" } });
  try {
    const show = await hasty.show();
    const [first, second] = [await hasty.fan(), await hasty.fan()];
    await Promise.all([first.enter(show), second.enter(show)]);
    const becomes = (state) => second.page.waitForFunction(([i, wanted]) => document.querySelector("seat-map").status[i] === wanted, [8, state]);
    await second.page.evaluate(() => (globalThis.isTheSamePage = true));
    await pick(first.page, 8);
    await first.page.getByRole("button", { name: first.words.hold, exact: true }).click();
    await first.page.waitForURL(/#\/checkout\//);
    await becomes(1);
    await becomes(0);
    assert.ok(await second.page.evaluate(() => globalThis.isTheSamePage), "nothing was loaded again");
    await first.page.getByText(first.words.holdOver).waitFor();
    await pick(second.page, 8);
    await second.page.getByRole("button", { name: second.words.hold, exact: true }).click();
    await second.page.waitForURL(/#\/checkout\//);
  } finally {
    await hasty.close();
  }
});

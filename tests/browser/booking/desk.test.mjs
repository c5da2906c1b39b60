// Kept seats and the box office: an organiser keeps seats by number, and the desk sells one of them.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openWorld } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

test("an organiser keeps seats, the desk sells one, and the rest goes on sale", async () => {
  const show = await world.show({});
  const path = `/api/admin/schedules/${show.scheduleId}`;
  const layout = await world.admin.call("GET", `${path}/layout`);
  const [first, second] = layout.sections.flatMap(({ seats }) => seats).filter(({ standing }) => !standing).map(({ number }) => number);
  const { page, context } = await world.room(`#/schedules/${show.scheduleId}/allocations?event=${show.eventId}`);
  await page.getByLabel("Select by seat number").fill(`${first}, ${second}, no such seat`);
  await page.getByRole("button", { name: "Add to selection" }).click();
  await page.locator("[role=alert]", { hasText: "no such seat" }).waitFor();
  const form = page.getByRole("form", { name: "Create allocation" });
  await form.getByLabel("Name").fill("Friends");
  await form.getByRole("button", { name: "Create allocation" }).click();
  await page.getByText("2 kept").waitFor();

  await page.goto(`${page.url().split("#")[0]}#/schedules/${show.scheduleId}/boxoffice?event=${show.eventId}`);
  await page.getByLabel("Select by seat number").fill(first);
  await page.getByRole("button", { name: "Add to selection" }).click();
  await page.getByLabel("Customer's name").fill("Kim Podo");
  await page.getByRole("button", { name: "Sell and issue" }).click();
  await page.locator(".note.ok", { hasText: "Booking number B-" }).waitFor();
  const { items } = await world.admin.call("GET", `${path}/issued-orders`);
  assert.deepEqual([items.length, items[0].name, items[0].tender], [1, "Kim Podo", "CASH"]);
  const allocations = await world.admin.call("GET", `${path}/allocations`);
  assert.deepEqual([allocations.items[0].kept, allocations.items[0].issued], [1, 1]);
  await context.close();
});

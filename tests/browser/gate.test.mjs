// The gate without a network: two devices scan, one ticket on both, and the double is reported.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { enterRoom, openTab, openWorld, read } from "./world.mjs";

const TICKETS = 12;

let world;
let show;

before(async () => {
  world = await openWorld();
  show = await world.show();
});
after(() => world.close());

/** A phone that has the list and then loses the network. */
async function device(gate, n) {
  const tab = await openTab(world, { language: "en", width: 390, height: 844 });
  await enterRoom(tab, world.admin, "#/");
  await tab.go(`/gate/#/scan/${show.scheduleId}?gate=${gate}`);
  await tab.page.getByText(`${n} tickets on this device`).waitFor();
  return tab;
}

async function type(page, code) {
  await page.locator("input.scan").fill(code);
  await page.keyboard.press("Enter");
}

test("two gates without a network admit their guests, and a ticket that both let in is reported", async () => {
  const bought = [];
  for (let seat = 0; seat < TICKETS; seat += 1) bought.push(await world.buy(show, [seat]));
  const [east, west] = [await device("east", TICKETS), await device("west", TICKETS)];
  const codes = [];
  for (const { tickets: [ticket], code } of bought) codes.push(await read(east.page, await code(ticket)));
  await east.context.setOffline(true);
  await west.context.setOffline(true);
  for (const [index, code] of codes.entries()) {
    const { page } = index % 2 ? east : west;
    await type(page, code);
    await page.locator(".verdict.ok", { hasText: bought[index].tickets[0].seatNumber }).waitFor();
  }
  await type(west.page, codes[0]);
  await west.page.locator(".verdict.no", { hasText: "Already used" }).waitFor();
  await type(west.page, "PODO1.AAAA");
  await west.page.locator(".verdict.no", { hasText: "Unknown code" }).waitFor();
  // This ticket was admitted at the other gate, which this device can't know.
  await type(east.page, codes[0]);
  await east.page.locator(".verdict.ok").waitFor();
  await west.page.getByText(/Offline · 6 scans to send/).waitFor();

  await west.context.setOffline(false);
  await west.page.getByText("Online", { exact: true }).waitFor({ timeout: 20_000 });
  await east.context.setOffline(false);
  await east.page.getByRole("alert").filter({ hasText: /1 tickets were admitted twice/ }).waitFor({ timeout: 20_000 });
  const found = await world.admin.call("GET", `/api/admin/schedules/${show.scheduleId}/attendance`);
  assert.equal(found.admitted, TICKETS);
  assert.deepEqual(found.gates.map(({ gate, admitted, doubles }) => [gate, admitted, doubles]), [["east", 6, 1], ["west", 6, 0]]);
  await Promise.all([east, west].map(({ context }) => context.close()));
});

// A concert in Berlin, sold in euros by a server in Korea: its money and its clocks on every page of a
// purchase, for readers elsewhere.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { blocks, openWorld, pressPay } from "../support/world.mjs";

let world;
let show;
before(async () => {
  world = await openWorld();
  show = await world.show({
    template: blocks(2, 6, 10), prices: { VIP: 12_550, S: 8_000 }, currency: "EUR", timeZone: "Europe/Berlin",
    title: "Grapes in Berlin", venue: "Waldbühne", city: "Berlin" });
});
after(() => world.close());

/** Pictures for people, if a folder is named. */
async function picture(page, name) {
  if (!process.env.PICTURES) return;
  mkdirSync(process.env.PICTURES, { recursive: true });
  await page.screenshot({ path: `${process.env.PICTURES}/${name}.png` });
}

/** Berlin is named where clocks differ from the reader's, who is in UTC here; never Korea. */
async function readsBerlin(page, what) {
  const text = await page.locator("main").innerText();
  assert.match(text, /GMT\+[12]|CES?T/, what);
  assert.doesNotMatch(text, /KST|GMT\+9|₩|\d원/, what);
}

async function buys(options, name) {
  const fan = await world.fan(options);
  const { page, words, go } = fan;
  await go(`/#/events/${show.eventId}`);
  await page.getByRole("heading", { name: "Grapes in Berlin", level: 1 }).waitFor();
  await page.getByText("€125.50").first().waitFor();
  await readsBerlin(page, "the page of the event");
  await picture(page, `${name}-event`);
  await fan.enter(show);
  await page.getByRole("button", { name: words.best }).first().waitFor();
  // A phone's map has no room for the date.
  if (options.width > 500) await readsBerlin(page, "the map");
  await picture(page, `${name}-map`);
  await page.getByRole("button", { name: words.best }).click();
  await page.getByRole("button", { name: words.hold, exact: true }).click();
  await page.waitForURL(/#\/checkout\//);
  const sum = page.locator(".sum").filter({ hasText: /€\d/ }).first();
  await sum.waitFor();
  const [total] = (await sum.innerText()).match(/€[\d.]+/);
  assert.ok(["€251.00", "€160.00"].includes(total), total);
  await readsBerlin(page, "the checkout");
  assert.equal(await page.locator("input[value=WALLET]").count(), 0, "the wallet has won");
  await picture(page, `${name}-checkout`);
  await pressPay(page);
  await page.waitForURL(/\/pay\/sandbox/);
  await page.getByText(total).waitFor();
  await page.locator("button.primary").click();
  await page.getByRole("heading", { name: words.paidTitle }).waitFor();
  await readsBerlin(page, "the outcome");
  await picture(page, `${name}-done`);
  await go("/#/tickets");
  await page.getByText("Grapes in Berlin").first().waitFor();
  await readsBerlin(page, "the ticket");
  await picture(page, `${name}-ticket`);
  await go("/#/me");
  await page.getByText(total).first().waitFor();
  await page.getByRole("link", { name: words.receipt }).first().click();
  await page.waitForURL(/#\/receipt\//);
  await page.locator(".sum").filter({ hasText: total }).first().waitFor();
  await readsBerlin(page, "the receipt");
  await picture(page, `${name}-receipt`);
  await fan.context.close();
}

test("on a desktop in English everything is in euros and in the time of Berlin", () =>
  buys({ language: "en", width: 1440, height: 900 }, "desktop-en"));

test("on a phone in Korean too", () => buys({ language: "ko", width: 390, height: 844 }, "phone-ko"));

test("an organiser types euros and the time of Berlin", async () => {
  const { page, context } = await world.room(`#/events/${show.eventId}`, { language: "en" });
  await page.getByText("€125.50").first().waitFor();
  await readsBerlin(page, "the page of the concert");
  await page.goto(`${world.url}/admin#/schedules/${show.scheduleId}/pricing?event=${show.eventId}`);
  const price = page.locator('input[name="price VIP"]');
  await price.waitFor();
  assert.equal(await price.inputValue(), "125.5");
  await price.fill("130.25");
  await page.getByRole("form", { name: /prices/i }).getByRole("button").click();
  await page.getByText("€130.25").first().waitFor();
  await picture(page, "desktop-en-pricing");
  await context.close();
});

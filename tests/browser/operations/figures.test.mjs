// What a fan's way costs: bytes, first paint and layout shift of the event, the map and the checkout. The
// home page is measured with its pictures in `images`.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { figures } from "../support/figures.mjs";
import { openWorld, pick } from "../support/world.mjs";

/** Without pictures. The map's plan and every script of the way count. */
const BYTES_MAX = 200 * 1024;

/** What Lighthouse calls good is 0.1. The header of the map on a phone is lower than the one that the server sends. */
const SHIFT_MAX = 0.02;

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

for (const [device, size] of [["desktop", { width: 1440, height: 900 }], ["phone", { width: 390, height: 844 }]]) {
  test(`the pages of a fan's way are light and still, on a ${device}`, async () => {
    const show = await world.show({ title: "가벼운 길" });
    const fan = await world.fan({ ...size, language: "ko" });
    const { page, words, go } = fan;
    const seen = [];
    const visit = async (name, ready) => {
      await page.reload();
      await page.locator(ready).first().waitFor();
      seen.push([name, await figures(page, name)]);
    };
    await go(`/#/events/${show.eventId}`);
    await visit("event page", ".rules");
    await fan.enter(show);
    await visit("seat map", "seat-map[drawn]");
    await pick(page, 3);
    await page.getByRole("button", { name: words.hold, exact: true }).click();
    await page.waitForURL(/#\/checkout\//);
    await visit("checkout", "input[value=CARD]");
    for (const [name, { bytes, shift, moved }] of seen) {
      assert.ok(bytes < BYTES_MAX, `${name}: ${bytes} bytes`);
      assert.ok(shift <= SHIFT_MAX, `${name}: layout shift ${moved}`);
    }
    await fan.context.close();
  });
}

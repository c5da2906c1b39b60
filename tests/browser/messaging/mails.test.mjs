// Every mail in both languages, as a phone and a desktop show it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { everyMail } from "./mails.mjs";
import { openWorld } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld({ env: { PODO_PUBLIC_URL: "https://tickets.podo.example", PODO_MAIL_REPLY_TO: "help@podo.example" } })));
after(() => world.close());

for (const width of [320, 1_280]) {
  test(`axe finds nothing in any mail, and none is wider than ${width}`, async () => {
    const n = await everyMail(world, { width }, async (page, name, mail) => {
      assert.deepEqual(await violations(page), [], name);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width, `${name} is too wide`);
      const heading = await page.locator("h1").innerText();
      assert.match(name.endsWith("-ko") ? heading : "가", /[가-힣]/, `${name} has a Korean heading`);
      assert.doesNotMatch(name.endsWith("-en") ? mail.text : "", /[가-힣]/, `${name} is English`);
    });
    assert.ok(n >= 27, `${n} kinds`);
  });
}

// The fan's pages in four languages on a phone, and notifications in the fan's language.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { everyFanPage } from "../support/pages.mjs";
import { openWorld, pick } from "../support/world.mjs";

const PHONE = { width: 390, height: 844 };

/** Pages that aren't only for fans; they are Korean or English. */
const OTHERS = ["problems", "docs", "docs-call", "sandbox"];

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

for (const [language, tag] of [["ko", "ko"], ["en", "en"], ["ja", "ja"], ["zh", "zh-Hans"]]) {
  test(`axe finds nothing on any fan page in ${language}, and none is wider than a phone`, async () => {
    const found = [];
    await everyFanPage(world, { ...PHONE, language }, async (page, name) => {
      // Both themes in Korean and, for the contrast of other letters, in a machine's translation.
      for (const theme of language === "ja" ? ["dark", "light"] : ["light"]) {
        await page.emulateMedia({ colorScheme: theme });
        found.push(...(await violations(page)).map((words) => `${name} (${theme}): ${words}`));
      }
      const fits = () => document.documentElement.scrollWidth <= innerWidth;
      await page.waitForFunction(fits, null, { timeout: 3_000 }).catch(() => found.push(`${name}: too wide`));
      const shown = await page.evaluate(() => document.documentElement.lang);
      if (shown !== tag && !OTHERS.includes(name)) found.push(`${name}: in ${shown}`);
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${language}-${name}.png` });
    });
    assert.deepEqual(found, []);
  });
}

test("a machine's translation says so, and the choice is kept", async () => {
  const { page, context } = await world.open({ language: "en", keepsChoice: true, ...PHONE });
  await page.goto(`${world.url}/#/`);
  await page.locator("#nav a").first().waitFor();
  await page.locator("#languages").selectOption("ja");
  await page.locator("#footer", { hasText: "not yet reviewed" }).waitFor();
  await page.reload();
  await page.getByRole("link", { name: "チケット" }).waitFor();
  await page.locator("#languages").selectOption("en");
  await page.locator("#footer", { hasText: "not yet reviewed" }).waitFor({ state: "detached" });
  await context.close();
});

test("notifications are in the language of the log-in, then in the one that the fan chose", async () => {
  const show = await world.show();
  const fan = await world.fan({ language: "en", keepsChoice: true, signsUp: true });
  const { page } = fan;
  const languageOf = () => page.evaluate(async () => (await (await fetch("/api/users/me/notifications")).json()).language);
  assert.equal(await languageOf(), "en", "the browser's language");
  const stored = () => page.waitForResponse(/notifications\/language$/);
  for (const [choice, expected] of [["ko", "ko"], ["zh", "en"]]) {
    await Promise.all([stored(), page.locator("#languages").selectOption(choice)]);
    assert.equal(await languageOf(), expected);
  }
  // The mailbox of a fan who reads Chinese is in English, not in Korean.
  await page.goto(`${world.url}/#/queue/${show.scheduleId}`);
  await page.getByRole("button", { name: "加入队列" }).click();
  await page.waitForURL(/#\/seats\//);
  await page.locator("seat-map[drawn]").waitFor();
  await pick(page, 3);
  await page.getByRole("button", { name: "保留这些座位" }).click();
  await page.waitForURL(/#\/checkout\//);
  await page.locator("input[value=CARD]").check();
  await page.locator("input[name=terms]").check();
  await page.locator("form button.primary").click();
  await page.locator("[aria-describedby=how-APPROVE]").click();
  await page.waitForURL(/#\/paid\//);
  await page.goto(`${world.url}/#/me`);
  const notification = page.locator("section", { has: page.getByRole("heading", { name: "通知" }) }).locator(".lines li b").first();
  for (let i = 0; i < 40 && !(await notification.count()); i += 1) {
    await page.waitForTimeout(500);
    await page.reload();
    await page.locator(".amount").first().waitFor();
  }
  assert.doesNotMatch(await notification.textContent(), /예매|확정|결제/);
  await fan.context.close();
});

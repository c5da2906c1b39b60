// The whole way, in both languages and sizes: wait, choose, be declined, pay, get the ticket, give it back.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { openWorld, pick, pressPay } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

for (const options of [{ language: "ko", width: 1280 }, { language: "en", width: 390, height: 844, theme: "dark" }]) {
  test(`a fan buys two seats after a declined card, and gives them back (${options.language}, ${options.width})`, async () => {
    const show = await world.show();
    const fan = await world.fan({ ...options, signsUp: true });
    const { page, words } = fan;
    await fan.enter(show);
    await pick(page, 3);
    await pick(page, 4);
    await page.locator(".picks li b").nth(1).waitFor();
    await page.getByRole("button", { name: words.hold, exact: true }).click();
    await page.waitForURL(/#\/checkout\//);

    await payByCard(fan, "DECLINE");
    await page.getByRole("heading", { name: words.declined }).waitFor();
    await page.getByRole("link", { name: words.backToCheckout }).click();
    await page.waitForURL(/#\/checkout\//);

    await payByCard(fan, "APPROVE");
    await page.getByRole("heading", { name: words.paidTitle }).waitFor();
    await page.getByRole("main").getByRole("link", { name: words.myTickets }).click();
    await page.locator(".code svg").nth(1).waitFor();
    assert.equal((await show.live()).sold, 2);

    await page.getByRole("button", { name: words.cancelReservation }).click();
    await page.locator("dialog .note").filter({ hasText: /300,000/ }).waitFor();
    await page.getByRole("button", { name: words.cancelYes }).click();
    await page.getByRole("button", { name: words.fine }).click();
    await page.locator(".ticket.over").nth(1).waitFor();
    assert.equal((await show.live()).sold, 0);
    await fan.context.close();
  });
}

async function payByCard({ page }, choice) {
  await page.locator("input[value=CARD]").check();
  await pressPay(page);
  await page.waitForURL(/pay\/sandbox/);
  await page.locator(`[aria-describedby=how-${choice}]`).click();
  await page.waitForURL(/#\/paid\//);
}

for (const language of ["en", "ja", "zh"]) {
  test(`a fan buys with the keyboard alone (${language})`, async () => {
    const show = await world.show();
    const fan = await world.fan({ language });
    const { page, words } = fan;
    await fan.enter(show);
    const press = async (role, name) => {
      const target = page.getByRole(role, { name }).first();
      for (let step = 0; step < 60; step += 1) {
        await page.keyboard.press("Tab");
        if (await target.evaluate((element) => element === document.activeElement).catch(() => false)) return page.keyboard.press("Enter");
      }
      throw new Error(`no way to ${name}`);
    };
    await press("button", words.listView);
    await press("button", /101/);
    await page.locator("[role=gridcell]:focus").waitFor({ state: "attached" });
    await page.keyboard.press("Enter");
    await page.keyboard.press("n");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator(".picks li b").count(), 2);
    await press("button", words.hold);
    await page.waitForURL(/#\/checkout\//);
    await page.locator("form button.primary").waitFor();
    await press("button", /wallet|₩|Add/);
    await page.locator("input[value=WALLET]:checked").waitFor();
    const terms = page.locator("input[name=terms]");
    for (let step = 0; step < 20 && !(await terms.evaluate((it) => it === document.activeElement)); step += 1) await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await press("button", words.payWALLET("₩300,000"));
    await page.getByRole("heading", { name: words.paidTitle }).waitFor();
    assert.equal((await show.live()).sold, 2);
    await fan.context.close();
  });
}

test("the best seats are shown on the map, compared, and held when the fan says so", async () => {
  const show = await world.show();
  const fan = await world.fan({ language: "en" });
  const { page, words } = fan;
  await fan.enter(show);
  await page.getByRole("button", { name: words.best }).click();
  const proposals = page.locator(".proposal");
  await proposals.nth(1).waitFor();
  assert.deepEqual(await proposals.evaluateAll((all) => all.map((it) => it.getAttribute("aria-pressed"))), ["true", "false"]);
  const picked = () => page.locator(".picks li b").allTextContents();
  const first = await picked();
  assert.equal(first.length, 2);
  await page.getByText(words.suggestNote, { exact: true }).waitFor();
  assert.deepEqual(await violations(page), [], "axe on the proposals");
  await proposals.nth(1).click();
  const second = await picked();
  assert.notDeepEqual(second, first, "the other proposal, in another grade");
  assert.equal((await show.live()).held, 0, "nothing is held yet");
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/seats-after.png` });
  // A grade that the map shows is the one that is proposed.
  await page.locator(".chips .chip").first().click();
  await page.getByRole("button", { name: words.best }).click();
  await page.locator(".proposal[aria-pressed=true]", { hasText: "VIP" }).waitFor();
  await page.getByRole("button", { name: words.hold, exact: true }).click();
  await page.waitForURL(/#\/checkout\//);
  await page.locator(".lines li").nth(1).waitFor();
  assert.equal((await show.live()).held, 2);
  await fan.context.close();
});

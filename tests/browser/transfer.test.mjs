// A ticket on its way to somebody else: offered to an address, accepted by the account that confirmed it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "./axe.mjs";
import { openWorld } from "./world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

const read = new Set();

/** The code of the next letter that brings one; a worker writes it a moment after it was asked for. */
async function mailedCode() {
  for (;;) {
    const { items } = await world.admin.call("GET", "/api/admin/mailbox");
    const letter = items.find(({ id, body }) => !read.has(id) && /\d{6}/.test(body));
    if (letter) {
      read.add(letter.id);
      return letter.body.match(/\d{6}/)[0];
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function logIn({ page, go }, { email, password }) {
  await go(`/#/login?next=${encodeURIComponent("#/tickets")}`);
  await page.locator("input[name=email]").fill(email);
  await page.locator("input[name=password]").fill(password);
  await page.locator("form button.primary").click();
  await page.locator(".ticket .code svg").nth(1).waitFor();
}

async function offer({ page, words }, email) {
  await page.getByRole("button", { name: words.transfer }).first().click();
  await page.locator("dialog input[name=email]").fill(email);
  await page.locator("dialog").getByRole("button", { name: words.transfer }).click();
  await page.getByRole("button", { name: words.transferWithdraw }).waitFor();
}

async function confirmAddress({ page, words }) {
  const dialog = page.locator("dialog");
  await page.getByRole("button", { name: words.emailProve }).click();
  await dialog.getByRole("button", { name: words.next }).click();
  await dialog.locator("input[name=code]").fill(await mailedCode());
  await dialog.getByRole("button", { name: words.emailProve }).click();
  await dialog.waitFor({ state: "detached" });
}

for (const options of [{ language: "ko", width: 1440 }, { language: "en", width: 390, height: 844 }]) {
  test(`a ticket is offered, accepted, and its old owner cancels the other one (${options.language}, ${options.width})`, async () => {
    await world.restart({ PODO_CONFIRM_EMAIL: "off" });
    const show = await world.show();
    const [bought, friend] = [await world.buy(show, [0, 1]), await world.fan(options)];
    const owner = await world.open(options);
    // From now on codes can be mailed, and both accounts were made without one.
    await world.restart({ PODO_CONFIRM_EMAIL: "on" });
    await logIn(owner, bought.account);
    await offer(owner, friend.account.email);
    assert.deepEqual(await violations(owner.page), []);
    if (options.width > 1_000) {
      const tops = await owner.page.locator(".ticket .code").evaluateAll((codes) => codes.map((it) => it.getBoundingClientRect().top));
      assert.equal(tops[0], tops[1], "codes beside each other stand at one height");
    }

    const { page, words } = friend;
    await friend.go("/#/tickets");
    await page.getByText(words.noTickets).waitFor();
    await page.getByRole("link", { name: words.offersNeedEmail }).click();
    await confirmAddress(friend);
    await friend.go("/#/tickets");
    await page.getByRole("heading", { name: words.sentToYou }).waitFor();
    await page.getByText(words.offerUntil("").trim()).waitFor();
    assert.equal(await page.getByRole("link", { name: words.offersNeedEmail }).count(), 0);
    assert.deepEqual(await violations(page), []);
    await page.getByRole("button", { name: words.transferAccept }).click();
    await page.locator(".ticket .code svg").waitFor();

    await owner.page.reload();
    await owner.page.locator(".ticket .code svg").waitFor();
    await owner.page.getByRole("button", { name: words.cancelReservation }).click();
    await owner.page.locator("dialog .note").filter({ hasText: /150,000/ }).waitFor();
    assert.equal(await owner.page.locator("dialog input[name=seat]").count(), 1, "the other seat is not theirs any more");
    await owner.page.getByRole("button", { name: words.cancelYes }).click();
    await owner.page.getByRole("button", { name: words.fine }).click();
    await page.reload();
    await page.locator(".ticket .code svg").waitFor();
    await Promise.all([owner.context.close(), friend.context.close()]);
  });
}

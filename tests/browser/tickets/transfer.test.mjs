// A ticket on its way to another person: offered to an address, accepted by the account that confirmed it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { blocks, openWorld } from "../support/world.mjs";

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

/** The token of the newest link to a ticket; no e-mail is configured, so it is in the mailbox. */
async function claimToken() {
  for (;;) {
    const { items } = await world.admin.call("GET", "/api/admin/mailbox?limit=100");
    const found = items.find(({ id, subject }) => !read.has(id) && ["티켓을 받아 주세요", "Claim your ticket"].includes(subject));
    if (found) {
      read.add(found.id);
      return found.body.trim().split(/\s+/).at(-1).split("/").at(-1);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

for (const options of [{ language: "ko", width: 390, height: 844 }, { language: "en", width: 1280 }]) {
  test(`a ticket is claimed with a link and a new account (${options.language}, ${options.width})`, async () => {
    await world.restart({ PODO_CONFIRM_EMAIL: "off" });
    const show = await world.show();
    const [bought, owner] = [await world.buy(show, [0, 1]), await world.open(options)];
    // A link proves an address, even if sign-ups need a code.
    await world.restart({ PODO_CONFIRM_EMAIL: "on" });
    await logIn(owner, bought.account);
    const email = `stranger${Date.now()}@podo.example`;
    await offer(owner, email);
    const token = await claimToken();

    const guest = await world.open(options);
    const { page, words } = guest;
    const asked = [];
    page.on("request", (request) => asked.push(`${request.url()} ${request.headers().referer ?? ""}`));
    await guest.go(`/#/claim/${token}`);
    await page.getByRole("heading", { name: words.claimTitle }).waitFor();
    await page.getByText(email).waitFor();
    assert.deepEqual(await violations(page), [], "axe on the claim");
    await page.locator("input[name=name]").fill("친구");
    await page.locator("input[name=password]").fill("green-grapes-2026");
    await page.getByRole("button", { name: words.claimSignUpTake }).click();
    await page.locator(".ticket .code svg").waitFor();
    assert.ok(!asked.some((it) => it.includes(token)), "the token is in no address and no Referer");

    // The link worked once.
    await guest.go("/#/nowhere");
    await guest.go(`/#/claim/${token}`);
    await page.getByText(words.claimInvalid).waitFor();
    await owner.page.reload();
    await owner.page.locator(".ticket .code svg").waitFor();
    await Promise.all([owner.context.close(), guest.context.close()]);
  });
}

test("the owner of an account that never proved its address logs in with the link", async () => {
  await world.restart({ PODO_CONFIRM_EMAIL: "off" });
  const options = { language: "en", width: 390, height: 844 };
  const show = await world.show();
  const [bought, friend] = [await world.buy(show, [0, 1]), await world.fan(options)];
  const { email, password } = friend.account;
  await friend.context.close();
  const owner = await world.open(options);
  await logIn(owner, bought.account);
  await offer(owner, email);
  const guest = await world.open(options);
  await guest.go(`/#/claim/${await claimToken()}`);
  await guest.page.locator("input[name=password]").fill("not the password");
  await guest.page.getByRole("button", { name: guest.words.claimLoginTake }).click();
  await guest.page.locator("main [role=alert]").filter({ hasText: /\S/ }).waitFor();
  await guest.page.locator("input[name=password]").fill(password);
  await guest.page.getByRole("button", { name: guest.words.claimLoginTake }).click();
  await guest.page.locator(".ticket .code svg").waitFor();
  await Promise.all([owner.context.close(), guest.context.close()]);
});

test("a ticket is given back, kept, given back again, and bought from the standby list", async () => {
  await world.restart({ PODO_CONFIRM_EMAIL: "off" });
  const options = { language: "en", width: 390, height: 844 };
  const show = await world.show({ template: blocks(1, 1, 2), prices: { VIP: 150_000 } });
  // The taker has money in the wallet and waits for one seat.
  const taker = await world.buy(await world.show(), [0, 1]);
  const bought = await world.buy(show, [0, 1]);
  const asked = await fetch(`${world.url}/api/booking/standby`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${taker.token}` },
    body: JSON.stringify({ scheduleId: show.scheduleId, grade: "VIP", count: 1 }),
  });
  assert.equal(asked.status, 200);
  const owner = await world.open(options);
  await logIn(owner, bought.account);
  const { page, words } = owner;
  const press = async (name) => {
    await page.getByRole("button", { name, exact: true }).first().click();
    await page.locator("dialog").getByRole("button", { name, exact: true }).click();
    await page.locator("dialog").waitFor({ state: "detached" });
  };
  await press(words.resaleGive);
  await page.getByRole("button", { name: words.resaleKeep }).waitFor();
  assert.deepEqual(await violations(page), [], "axe on a listed ticket");
  await press(words.resaleKeep);
  await page.getByRole("button", { name: words.resaleKeep }).waitFor({ state: "detached" });
  await press(words.resaleGive);

  const guest = await world.open(options);
  await logIn(guest, taker.account);
  for (let tries = 0; tries < 50 && !(await guest.page.getByRole("heading", { name: words.resaleForYou }).count()); tries += 1) {
    await guest.page.waitForTimeout(200);
    await guest.page.reload();
    await guest.page.locator(".ticket .code svg").nth(1).waitFor();
  }
  assert.deepEqual(await violations(guest.page), [], "axe on the offer");
  await guest.page.getByRole("button", { name: words.resaleTake("₩150,000") }).click();
  await guest.page.locator(".ticket .code svg").nth(2).waitFor();
  await page.reload();
  await page.locator(".ticket .code svg").waitFor();
  assert.equal(await page.locator(".ticket .code svg").count(), 1, "the other seat is theirs");
  await Promise.all([owner.context.close(), guest.context.close()]);
});

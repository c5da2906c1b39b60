// A ticket at the gate without a network, its files, phone wallets, and a show that moves to another day.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { openWorld } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

async function logIn({ page, go }, { email, password }) {
  await go(`/#/login?next=${encodeURIComponent("#/tickets")}`);
  await page.locator("input[name=email]").fill(email);
  await page.locator("input[name=password]").fill(password);
  await page.locator("form button.primary").click();
  await page.locator(".ticket .code svg").first().waitFor();
}

async function postpone({ scheduleId }) {
  const { startsAt, endsAt } = await world.admin.call("GET", `/api/schedules/${scheduleId}`);
  const later = (at) => new Date(Date.parse(at) + 86_400_000).toISOString();
  await world.admin.call("PATCH", `/api/admin/schedules/${scheduleId}`, { startsAt: later(startsAt), endsAt: later(endsAt) });
}

test("a ticket opens full screen without a network, until its owner logs out", async () => {
  const show = await world.show();
  const bought = await world.buy(show, [0]);
  const fan = await world.open({ language: "ko", width: 390, height: 844, theme: "dark" });
  const { page, words, context } = fan;
  await logIn(fan, bought.account);
  await page.getByRole("link", { name: words.ticketFull }).click();
  const code = page.locator(".full-ticket .code svg");
  await code.waitFor();
  assert.deepEqual(await violations(page), []);
  assert.equal(await page.locator(".full-ticket").evaluate((it) => getComputedStyle(it).backgroundColor), "rgb(255, 255, 255)");
  await page.waitForFunction(async () => (await caches.match("/")) && (await navigator.serviceWorker.ready).active);
  const online = await code.innerHTML();
  await context.setOffline(true);
  await page.reload();
  await page.getByText(words.ticketOffline).waitFor();
  assert.equal(await code.innerHTML(), online);
  await context.setOffline(false);
  await page.getByRole("link", { name: words.myTickets }).last().click();
  await page.locator(".ticket .code svg").first().waitFor();
  await page.getByRole("button", { name: words.logout }).click();
  await page.waitForURL(/#\/$/);
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("podo.ticket."))), []);
  await context.close();
});

test("a ticket is saved as PDF, and its show as a calendar file", async () => {
  const show = await world.show();
  const bought = await world.buy(show, [0]);
  const fan = await world.open({ language: "en" });
  const { page, words } = fan;
  await logIn(fan, bought.account);
  for (const [name, ending] of [[words.ticketPdf, ".pdf"], [words.calendar, ".ics"]]) {
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
    assert.ok(file.suggestedFilename().endsWith(ending), file.suggestedFilename());
  }
  await fan.context.close();
});

/** Keys for passes from a private authority, as settings. */
function passKeys(folder) {
  const openssl = (...options) => execFileSync("openssl", options, { cwd: folder, stdio: "ignore" });
  const certificate = (name, subject, ...options) => openssl("req", "-x509", "-days", "2", "-nodes", "-newkey", "rsa:2048", "-keyout", `${name}.key`, "-out", `${name}.crt`, "-subj", subject, ...options);
  certificate("wwdr", "/CN=Podo test relations");
  certificate("pass", "/UID=pass.example.podo/OU=PODO123456", "-CA", "wwdr.crt", "-CAkey", "wwdr.key", "-addext", "basicConstraints=critical,CA:FALSE");
  const account = { client_email: "wallet@podo.example", private_key: readFileSync(join(folder, "pass.key"), "utf8") };
  writeFileSync(join(folder, "account.json"), JSON.stringify(account));
  return {
    PODO_APPLE_PASS_TYPE_ID: "pass.example.podo",
    PODO_APPLE_TEAM_ID: "PODO123456",
    PODO_APPLE_PASS_CERTIFICATE: join(folder, "pass.crt"),
    PODO_APPLE_PASS_PRIVATE_KEY: join(folder, "pass.key"),
    PODO_APPLE_WWDR_CERTIFICATE: join(folder, "wwdr.crt"),
    PODO_GOOGLE_WALLET_ISSUER_ID: "3388000000012345678",
    PODO_GOOGLE_WALLET_ACCOUNT_FILE: join(folder, "account.json"),
  };
}

test("a ticket is put into a phone's wallet only where the organiser has keys", async () => {
  const show = await world.show();
  const bought = await world.buy(show, [0]);
  const fan = await world.open({ language: "ko", width: 390, height: 844, mayAsk: "https://pay.google.com/gp/v/save/" });
  const { page, words } = fan;
  await logIn(fan, bought.account);
  assert.equal(await page.getByRole("button", { name: words.phoneWallet("apple") }).count(), 0);
  await world.restart(passKeys(world.data));
  await page.reload();
  const apple = page.getByRole("button", { name: words.phoneWallet("apple") });
  await apple.waitFor();
  assert.deepEqual(await violations(page), []);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390);
  if (process.env.SCREENS) await page.screenshot({ path: join(process.env.SCREENS, "wallet-phone.png"), fullPage: true });
  const [file] = await Promise.all([page.waitForEvent("download"), apple.click()]);
  assert.ok(file.suggestedFilename().endsWith(".pkpass"), file.suggestedFilename());
  assert.equal(readFileSync(await file.path()).subarray(0, 2).toString(), "PK");
  await page.route("https://pay.google.com/**", (route) => route.fulfill({ contentType: "text/html", body: "<title>Google</title>" }));
  await page.getByRole("button", { name: words.phoneWallet("google") }).click();
  await page.waitForURL(/^https:\/\/pay\.google\.com\/gp\/v\/save\/ey/);
  await fan.context.close();
  await world.restart({});
});

const DEVICES = [["a desktop", { width: 1280, height: 860 }], ["a phone", { width: 390, height: 844 }]];

for (const [device, size] of DEVICES) {
  test(`a fan keeps a show that moved, and another gets everything back, on ${device}`, async () => {
    const show = await world.show();
    const [stays, leaves] = [await world.buy(show, [0]), await world.buy(show, [1])];
    await postpone(show);
    const kept = await world.open({ language: "ko", ...size });
    await logIn(kept, stays.account);
    assert.deepEqual(await violations(kept.page), []);
    assert.ok(await kept.page.evaluate(() => document.documentElement.scrollWidth) <= size.width);
    await kept.page.getByRole("button", { name: kept.words.changeKeep }).click();
    await kept.page.getByRole("button", { name: kept.words.changeKeep }).waitFor({ state: "detached" });
    const gone = await world.open({ language: "en", ...size });
    await logIn(gone, leaves.account);
    const refund = gone.words.changeRefund;
    await gone.page.getByRole("button", { name: refund }).click();
    await gone.page.locator("dialog").getByText("150,000").waitFor();
    assert.deepEqual(await violations(gone.page), []);
    await gone.page.locator("dialog").getByRole("button", { name: refund }).click();
    await gone.page.locator(".ticket.over").waitFor();
    await kept.page.reload();
    await kept.page.locator(".ticket .code svg").first().waitFor();
    assert.equal(await kept.page.locator(".ticket.over").count(), 0, "the other fan still has a ticket");
    await Promise.all([kept.context.close(), gone.context.close()]);
  });
}

test("a reminder is switched on at the event, and off by the link of a mail", async () => {
  const later = await world.show({ opensInMs: 3_600_000 });
  const fan = await world.fan({ language: "en", width: 390, height: 844 });
  const { page, words } = fan;
  await fan.go(`/#/events/${later.eventId}`);
  await page.getByRole("button", { name: words.reminderOff }).click();
  await page.getByRole("button", { name: words.reminderOn }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: words.reminderOn }).click();
  await page.getByRole("button", { name: words.reminderOff }).waitFor();
  await fan.go("/#/unsubscribe/AAAA");
  await page.getByRole("button", { name: words.unsubscribe }).click();
  await page.getByRole("alert").waitFor();
  await fan.context.close();
});

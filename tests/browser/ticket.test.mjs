// A ticket at the gate without a network, its files, and a show that moves to another day.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "./axe.mjs";
import { openWorld } from "./world.mjs";

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

test("a fan keeps a show that moved, and another gets everything back", async () => {
  const show = await world.show();
  const [stays, leaves] = [await world.buy(show, [0]), await world.buy(show, [1])];
  await postpone(show);
  const kept = await world.open({ language: "ko" });
  await logIn(kept, stays.account);
  assert.deepEqual(await violations(kept.page), []);
  await kept.page.getByRole("button", { name: kept.words.changeKeep }).click();
  await kept.page.getByRole("button", { name: kept.words.changeKeep }).waitFor({ state: "detached" });
  const gone = await world.open({ language: "en", width: 390, height: 844 });
  await logIn(gone, leaves.account);
  const refund = gone.words.changeRefund;
  await gone.page.getByRole("button", { name: refund }).click();
  await gone.page.locator("dialog").getByText("150,000").waitFor();
  await gone.page.locator("dialog").getByRole("button", { name: refund }).click();
  await gone.page.locator(".ticket.over").waitFor();
  assert.equal((await leaves.tickets).length, 1);
  await Promise.all([kept.context.close(), gone.context.close()]);
});

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

// What strangers and fans find around a concert: its terms, the list when it is sold out, standing
// zones, the language and theme they chose, and the reference for those who write programs.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { blocks, openWorld } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

test("a stranger reads the refund rules in both languages, and the choice is kept", async () => {
  const show = await world.show();
  const steps = [{ daysBefore: 9, feePercent: 10 }, { daysBefore: 1, feePercent: 30 }];
  await world.admin.call("PUT", `/api/admin/events/${show.eventId}/refund-policy`, { steps });
  const { page, context, words } = await world.open({ keepsChoice: true });
  await page.goto(`${world.url}/#/events/${show.eventId}`);
  await page.getByText(words.refundRules).first().click();
  await page.locator(".terms tbody tr").nth(3).waitFor();
  await page.locator("#languages").selectOption("en");
  await page.getByText("Cancellation and refunds").first().click();
  await page.getByText("30% of the ticket").waitFor();
  await page.locator("#theme").click();
  await page.reload();
  await page.getByText("Cancellation and refunds").first().waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
  await context.close();
});

test("an organiser chooses a preset, and fans read its fees with their days", async () => {
  const show = await world.show();
  const { page, context } = await world.room(`#/events/${show.eventId}`);
  const form = page.getByRole("form", { name: "Refund policy" });
  await form.getByLabel("Start from").selectOption("LARGE");
  await form.getByText("was judged void").waitFor({ state: "hidden" });
  await form.getByLabel("Set a last moment to cancel").check();
  await form.getByText("was judged void").waitFor();
  await form.getByLabel("Set a last moment to cancel").uncheck();
  await form.getByLabel("Fee %").first().fill("30");
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByText("Please check the refund policy").waitFor();
  await form.getByLabel("Fee %").first().fill("10");
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByText("₩4,000 a ticket (10% of its price at most)").waitFor();
  await context.close();
  const fan = await world.open({ language: "en" });
  await fan.go(`/#/events/${show.eventId}`);
  await fan.page.getByText("Cancellation and refunds").first().click();
  await fan.page.getByText("Free cancellation within 7 days of booking, up to 10 days before the show.").first().waitFor();
  await fan.page.getByText("₩4,000 a ticket (10% of its price at most)").first().waitFor();
  await fan.context.close();
});

test("a fan stands by for a sold-out date and may stop", async () => {
  const show = await world.show({ template: blocks(1, 1, 2), prices: { VIP: 150_000 } });
  await world.buy(show, [0, 1]);
  const { page, context, words } = await world.fan();
  await page.goto(`${world.url}/#/events/${show.eventId}`);
  await page.getByText(words.standbyTitle).waitFor();
  await page.getByRole("button", { name: words.standbyJoin }).click();
  await page.getByText(words.standbyPlace("VIP", 1, 0)).waitFor();
  await page.getByRole("button", { name: words.standbyLeave }).click();
  await page.getByText(words.standbyTitle).waitFor();
  await context.close();
});

test("prices include the fee, terms are open, and the way to the seats stays in sight", async () => {
  const show = await world.show({ venue: "한강 홀" });
  await world.admin.call("PUT", `/api/admin/schedules/${show.scheduleId}/price-options`, {
    ticketTypes: [{ name: "청소년", nameEn: "Teenager", percent: 20 }, { name: "R석 할인", nameEn: "S only", won: 30_000, grades: ["S"] }],
    fees: { booking: { amount: 2_000, refund: "NEVER" } } });
  await world.admin.call("PUT", `/api/admin/events/${show.eventId}/refund-policy`, { steps: [{ daysBefore: 9, feePercent: 10 }] });
  for (const width of [1280, 390]) {
    const { page, words, go, context } = await world.open({ width });
    await go(`/#/events/${show.eventId}`);
    const rows = page.locator(".prices tbody tr");
    await rows.nth(1).waitFor();
    const cells = await rows.evaluateAll((all) => all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)));
    assert.deepEqual(cells.map((row) => row.slice(0, 3)), [["152,000원", "122,000원", "–"], ["102,000원", "82,000원", "72,000원"]]);
    await page.locator(".terms tbody tr").first().waitFor();
    const link = page.locator(`.buy-card a[href="#/queue/${show.scheduleId}"]`);
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    const { y, height } = await link.boundingBox();
    const seen = page.viewportSize().height;
    assert.ok(0 <= y && y + height <= seen, `${width} px: ${y}`);
    if (width === 390) assert.ok(seen - 100 < y, "at the lower edge");
    const map = await page.getByRole("link", { name: words.venueMap }).getAttribute("href");
    assert.ok(map.startsWith("https://map.kakao.com/") && map.includes(encodeURIComponent("Road 1")), map);
    await link.click();
    // A stranger logs in first.
    await page.waitForURL((url) => url.href.includes(show.scheduleId));
    await context.close();
  }
});

test("a ticket is offered and taken back, unless the organiser does not allow it", async () => {
  const show = await world.show();
  const [owner, friend] = [await world.buy(show, [0, 1]), await world.fan()];
  const { page, context, words, go } = await world.open();
  await go(`/#/login?next=${encodeURIComponent("#/tickets")}`);
  await page.locator("input[name=email]").fill(owner.account.email);
  await page.locator("input[name=password]").fill(owner.account.password);
  await page.locator("form button.primary").click();
  await page.locator(".ticket .code svg").nth(1).waitFor();
  await page.getByRole("button", { name: words.transfer }).first().click();
  await page.locator("dialog input[name=email]").fill(friend.account.email);
  await page.locator("dialog").getByRole("button", { name: words.transfer }).click();
  // No account has confirmed an address here, so none can accept it: it stays until it is withdrawn.
  const withdraw = page.getByRole("button", { name: words.transferWithdraw });
  await withdraw.waitFor();
  await friend.go("/#/tickets");
  await friend.page.getByText(words.noTickets).waitFor();
  await withdraw.click();
  await withdraw.waitFor({ state: "detached" });

  const room = await world.room(`#/events/${show.eventId}`);
  await room.page.getByRole("button", { name: "Edit" }).first().click();
  await room.page.getByLabel("Allow fans to transfer tickets").uncheck();
  await room.page.locator("dialog button.primary, dialog .btn.brand").first().click();
  await room.page.locator("dialog").waitFor({ state: "detached" });
  await page.reload();
  await page.locator(".ticket", { hasText: words.transferOff }).first().waitFor();
  assert.equal(await page.getByRole("button", { name: words.transfer }).count(), 0);
  await Promise.all([context, friend.context, room.context].map((it) => it.close()));
});

test("a place in a standing zone is taken from the list", async () => {
  const template = blocks(1, 2, 10);
  template.sections.push({ name: "FLOOR", grade: "S", standing: { x: 0, y: 200, width: 200, height: 60, count: 50 } });
  const show = await world.show({ template });
  const fan = await world.fan();
  const { page, words } = fan;
  await fan.enter(show);
  await page.getByRole("button", { name: words.listView }).click();
  await page.locator(".list-view").getByRole("button", { name: `${words.zoneName("FLOOR")} ${words.oneMore}` }).click();
  await page.locator(".picks li b", { hasText: /FLOOR/ }).waitFor();
  await page.getByRole("button", { name: words.hold, exact: true }).click();
  await page.waitForURL(/#\/checkout\//);
  await fan.context.close();
});

test("the reference finds a call and shows how to make it", async () => {
  const { page, context } = await world.open({ language: "en" });
  await page.goto(`${world.url}/docs`);
  await page.getByRole("searchbox").fill("hold seats");
  await page.locator(".call:visible", { hasText: "/api/booking/seats/select" }).locator("summary").click();
  const shell = await page.locator(".shell pre").first().textContent();
  assert.match(shell, /^curl -X POST "http:\/\/127\.0\.0\.1:\d+\/api\/booking\/seats\/select"/);
  assert.match(shell, /Idempotency-Key: \$\(uuidgen\)/);
  assert.match(shell, /"seatIds":\["[0-9a-f-]{36}"\]/);
  await page.getByRole("searchbox").fill("no such call at all");
  await page.getByText("No call matches.").waitFor();
  await page.getByRole("button", { name: "한국어" }).click();
  // The words come a moment after the press, and with them another box.
  await page.getByRole("searchbox", { name: "경로나 설명으로 찾기" }).fill("취소표");
  await page.locator(".call:visible", { hasText: "취소표를 기다려요" }).waitFor();
  // Every call has its words in Korean, and no others are there.
  const [calls, words] = await page.evaluate(async () => {
    const { paths } = await (await fetch("/api/openapi.json")).json();
    const { default: known } = await import("/docs/words/calls.js");
    const names = Object.entries(paths).flatMap(([path, item]) => Object.keys(item).filter((it) => /^(get|post|put|patch|delete)$/.test(it)).map((method) => `${method.toUpperCase()} ${path}`));
    return [names.sort(), Object.keys(known).sort()];
  });
  assert.deepEqual(words, calls);
  await context.close();
});

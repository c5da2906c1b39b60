// What a visitor sees first: the list, a long title, the language, the waiting room, my page.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { blocks, openWorld, watch } from "../support/world.mjs";

const LONG = "머스캣 오케스트라와 함께하는 겨울밤의 재즈, 그리고 아주 긴 이름의 앙코르 공연";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

test("a card says sold out or when it opens, and nothing is clipped", async () => {
  const gone = await world.show({ template: blocks(1, 1, 2), prices: { VIP: 150_000 }, title: "매진된 밤" });
  await world.buy(gone, [0, 1]);
  // A list may be a second old.
  const isSoldOut = ({ id, state }) => id === gone.eventId && state === "SOLD_OUT";
  const cards = async () => (await (await fetch(`${world.url}/api/events/cards`)).json()).items;
  while (!(await cards()).some(isSoldOut)) await new Promise((resolve) => setTimeout(resolve, 100));
  await world.show({ title: LONG, opensInMs: 6 * 86_400_000 });
  for (const width of [1280, 390, 320]) {
    const { page, words, go, context } = await world.open({ width, language: "ko" });
    await go("/#/");
    await page.locator(".event-card", { hasText: "매진된 밤" }).locator(".badge", { hasText: words.soldOut }).waitFor();
    await page.locator(".event-card", { hasText: LONG }).locator(".badge", { hasText: "오픈" }).waitFor();
    const clipped = await page.locator(".event-card").evaluateAll((cards) => cards.filter((card) => {
      const [edge, badge] = [card.getBoundingClientRect(), card.querySelector(".badge")?.getBoundingClientRect()];
      return badge && (edge.right < badge.right || badge.left < edge.left);
    }).length);
    assert.equal(clipped, 0, `${width} px`);
    await context.close();
  }
});

test("a search without a match says so and leads back", async () => {
  await world.show({ title: "찾을 수 있는 밤" });
  const { page, words, go, context } = await world.open();
  await go("/#/");
  await page.locator(".finder input[name=query]").fill("없는 공연");
  await page.getByText(words.noneFound("없는 공연")).waitFor();
  await page.getByRole("button", { name: words.clearSearch }).click();
  await page.locator(".event-card", { hasText: "찾을 수 있는 밤" }).waitFor();
  assert.equal(await page.locator(".finder input[name=query]").inputValue(), "");
  await context.close();
});

test("typing suggests artists and concerts, by keyboard and by initial consonants", async () => {
  const show = await world.show({ title: "달빛 아래의 밤", artist: "하늘소" });
  const { page, words, go, context } = await world.open();
  await go("/#/");
  await page.locator(".event-card", { hasText: "달빛 아래의 밤" }).waitFor();
  const field = page.locator(".finder input[name=query]");
  const options = page.locator("[role=option]");
  await field.pressSequentially("ㅎㄴㅅ");
  await options.filter({ hasText: "하늘소" }).waitFor();
  assert.deepEqual(await violations(page), [], "axe on the suggestions");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.equal(await field.inputValue(), "하늘소");
  await page.locator(".event-card", { hasText: "달빛 아래의 밤" }).waitFor();
  await field.fill("달빛");
  await options.filter({ hasText: "달빛 아래의 밤" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("[role=listbox]").waitFor({ state: "hidden" });
  await field.fill("달빛 ");
  await options.filter({ hasText: "달빛 아래의 밤" }).click();
  await page.waitForURL(new RegExp(`#/events/${show.eventId}$`));
  // A misspelt word finds nothing; the page offers the right one, and what opens next.
  await world.show({ title: "다음 주의 오픈", opensInMs: 3 * 86_400_000 });
  await go("/#/");
  await field.fill("하눌소");
  await page.getByText(words.didYouMean).waitFor();
  await page.locator("#next-openings + ul", { hasText: "다음 주의 오픈" }).waitFor();
  await page.locator(".nothing button.link", { hasText: "하늘소" }).click();
  await page.locator(".event-card", { hasText: "달빛 아래의 밤" }).waitFor();
  await context.close();
});

test("concerts are found by their price", async () => {
  await world.show({ title: "저렴한 밤", prices: { VIP: 60_000, S: 40_000 } });
  await world.show({ title: "비싼 밤", prices: { VIP: 260_000, S: 240_000 } });
  const { page, go, context } = await world.open();
  await go("/#/");
  await page.locator(".event-card", { hasText: "비싼 밤" }).waitFor();
  await page.locator("select[name=priceMax]").selectOption("50000");
  await page.locator(".event-card", { hasText: "비싼 밤" }).waitFor({ state: "detached" });
  await page.locator(".event-card", { hasText: "저렴한 밤" }).waitFor();
  await context.close();
});

test("a fan follows an artist at the event and stops on their page", async () => {
  const show = await world.show({ title: "구름의 밤", artist: "구름" });
  const fan = await world.fan();
  const { page, words, go } = fan;
  await go(`/#/events/${show.eventId}`);
  const follow = page.getByRole("button", { name: `구름: ${words.followOff}` });
  await follow.click();
  await page.getByRole("button", { name: `구름: ${words.followOn}`, pressed: true }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: `구름: ${words.followOn}`, pressed: true }).waitFor();
  await go("/#/me");
  await page.getByRole("heading", { name: words.artists }).waitFor();
  await page.getByRole("button", { name: `구름: ${words.followEnd}` }).click();
  await page.getByRole("button", { name: `구름: ${words.followEnd}` }).waitFor({ state: "detached" });
  await fan.context.close();
});

test("a long title stands beside its poster", async () => {
  const show = await world.show({ title: LONG });
  const { page, go, context } = await world.open({ width: 1440 });
  await go(`/#/events/${show.eventId}`);
  await page.locator(".hall-preview seat-map[drawn]").waitFor();
  const title = await page.locator(".billing h1").boundingBox();
  const poster = await page.locator(".poster.tall").boundingBox();
  assert.ok(poster.x + poster.width < title.x, "beside it");
  assert.ok(title.y < poster.y + poster.height, "not below it");
  await context.close();
});

test("the browser's language decides until the visitor does", async () => {
  for (const [locale, language] of [["en-US", "en"], ["ko-KR", "ko"], ["fr-FR", "en"], ["ja-JP", "ja"], ["zh-CN", "zh-Hans"], ["zh-TW", "zh-Hans"]]) {
    const context = await world.browser.newContext({ locale });
    const page = await context.newPage();
    watch(page, world.url, world.broken);
    await page.goto(`${world.url}/#/`);
    await page.locator("#nav a").first().waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), language, locale);
    if (language === "en") {
      // The view behind the frame loads its own scripts first.
      await page.waitForLoadState("networkidle");
      await page.locator("#languages").selectOption("ko");
      await page.getByRole("link", { name: "내 티켓" }).waitFor();
      await page.reload();
      await page.getByRole("link", { name: "내 티켓" }).waitFor();
      assert.equal(await page.evaluate(() => document.documentElement.lang), "ko", "the choice is kept");
    }
    await context.close();
  }
});

test("the waiting room keeps its foot inside the page", async () => {
  const show = await world.show({ queue: { mode: "PAUSED" } });
  for (const width of [1440, 390]) {
    const fan = await world.fan({ width, language: "en" });
    await fan.join(show);
    await fan.page.locator(".hero b").waitFor();
    const card = await fan.page.locator(".waiting .card").first().boundingBox();
    const leave = await fan.page.getByRole("button", { name: fan.words.leaveQueue }).boundingBox();
    const note = await fan.page.getByText(fan.words.updatesItself).boundingBox();
    assert.ok(card.y + card.height + 8 <= note.y, `${width}: the text has room below the card`);
    assert.ok(leave.x + leave.width <= card.x + card.width + 1, `${width}: the button ends with the card`);
    await fan.context.close();
  }
});

test("the draw is verified once it is made, without another visit", async () => {
  const show = await world.show({ opensInMs: 6_000, queue: { maxActive: 1, admitPerSecond: 1 } });
  const [first, second] = [await world.fan(), await world.fan()];
  for (const fan of [first, second]) {
    await fan.join(show);
    await fan.page.getByRole("heading", { name: fan.words.drawTitle }).waitFor();
  }
  // One of them is admitted at once; the other still waits and sees the result.
  const seen = [first, second].map(({ page, words }) => page.getByRole("heading", { name: words.drawVerified }).waitFor({ timeout: 30_000 }));
  await Promise.any(seen);
  await Promise.all([first.context.close(), second.context.close()]);
});

test("my page tells who is inside from who still waits", async () => {
  const [open, closed] = [await world.show({ title: "지금" }), await world.show({ title: "나중", queue: { mode: "PAUSED" } })];
  const fan = await world.fan();
  await fan.join(closed);
  await fan.page.locator(".hero b").waitFor();
  await fan.enter(open);
  await fan.go("/#/me");
  await fan.page.getByText(fan.words.stillInside("지금")).waitFor();
  await fan.page.getByText(fan.words.stillInLine("나중")).waitFor();
  await fan.context.close();
});

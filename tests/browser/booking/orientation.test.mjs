// Finding one's way on the map: names, rows, the hall in a corner; and tickets to swipe on a phone.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { blocks, openWorld } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

const MANY = { template: { ...blocks(192, 6, 8), stage: { x: 800, y: 0, width: 900, height: 60 } }, prices: { VIP: 150_000, S: 100_000 } };

/** The names on the map after its next frame, and which of them cover another. */
function labelsOf(page) {
  return page.evaluate(async () => {
    const map = document.querySelector("seat-map");
    map.redraw();
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const cover = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
    const covered = map.labels.filter((a, i) => map.labels.some((b, j) => j < i && cover(a, b)));
    return { names: map.labels.map(({ name }) => name), covered: covered.map(({ name }) => name) };
  });
}

for (const [width, height, shown] of [[1440, 900, 192], [390, 844, 60]]) {
  test(`the names of 192 sections never cover each other (${width})`, async () => {
    const show = await world.show(MANY);
    const fan = await world.fan({ width, height });
    await fan.enter(show);
    const { names, covered } = await labelsOf(fan.page);
    assert.deepEqual(covered, []);
    assert.ok(shown <= names.length, `${names.length} names`);
    // Every section has its name once the fan comes closer.
    const missing = await fan.page.evaluate(async () => {
      const map = document.querySelector("seat-map");
      const found = [];
      for (const index of [0, 57, 95, 191]) {
        map.openSection(index);
        map.look((view) => view.zoomAt(view.width / 2, view.height / 2, 8 / (view.scale * 10)));
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        const { name } = map.plan.sections[index];
        if (!map.labels.some((label) => label.name === name)) found.push(name);
      }
      return found;
    });
    assert.deepEqual(missing, []);
    await fan.context.close();
  });
}

test("the heat map of the control room names 192 sections without a collision", async () => {
  const show = await world.show(MANY);
  const { page, context } = await world.room(`#/live/${show.scheduleId}`, { width: 1440, height: 1000, language: "en" });
  await page.locator("seat-map[drawn]").waitFor();
  const { names, covered } = await labelsOf(page);
  assert.deepEqual(covered, []);
  assert.ok(100 < names.length, `${names.length} names`);
  await context.close();
});

test("a row has its label at both ends", async () => {
  const show = await world.show({ template: blocks(1, 3, 12), prices: { VIP: 150_000 } });
  const fan = await world.fan({ width: 1280 });
  await fan.enter(show);
  const ends = await fan.page.evaluate(async () => {
    const map = document.querySelector("seat-map");
    const drawn = [];
    const pen = map.ground;
    const fillText = pen.fillText.bind(pen);
    pen.fillText = (text, x, y) => {
      drawn.push([text, x / map.dpr]);
      fillText(text, x, y);
    };
    map.openSection(0);
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const row = drawn.filter(([text]) => text === "2").map(([, x]) => x);
    return { row, first: map.plan.x[12] * map.view.scale + map.view.left, last: map.plan.x[23] * map.view.scale + map.view.left };
  });
  assert.equal(ends.row.length, 2);
  assert.ok(Math.min(...ends.row) < ends.first && ends.last < Math.max(...ends.row), JSON.stringify(ends));
  await fan.context.close();
});

test("the hall in a corner shows where the fan looks, and leads elsewhere", async () => {
  const show = await world.show(MANY);
  const fan = await world.fan({ width: 390, height: 844, language: "en" });
  const { page } = fan;
  await fan.enter(show);
  const corner = page.locator(".minimap");
  assert.ok(await corner.isHidden(), "the whole hall is in sight");
  await page.evaluate(() => document.querySelector("seat-map").openSection(0));
  await corner.waitFor();
  const middle = () => page.evaluate(() => {
    const { view } = document.querySelector("seat-map");
    return view.under(view.width / 2, view.height / 2);
  });
  const before = await middle();
  const box = await corner.boundingBox();
  await page.mouse.click(box.x + box.width * 0.9, box.y + box.height * 0.8);
  const after = await middle();
  assert.ok(before[0] + 500 < after[0] && before[1] < after[1], `${before} to ${after}`);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/minimap-390.png` });
  await page.getByRole("button", { name: fan.words.zoomAll }).click();
  await corner.waitFor({ state: "hidden" });
  await fan.context.close();
});

test("the tickets of a booking are a stack to swipe on a phone, in the order of their seats", async () => {
  const show = await world.show();
  const bought = await world.buy(show, [8, 9, 10]);
  const tab = await world.open({ width: 390, height: 844, language: "en" });
  const { page } = tab;
  await tab.go("/livez");
  await page.evaluate(async (credentials) => {
    const response = await fetch("/api/auth/login", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(credentials) });
    sessionStorage.setItem("podo.user", JSON.stringify((await response.json()).user));
    localStorage.setItem("podo.known", "yes");
  }, { email: bought.account.email, password: bought.account.password });
  await tab.go("/#/tickets");
  const stack = page.locator("ul.tickets");
  await stack.locator(".code svg").nth(2).waitFor({ state: "attached" });
  assert.deepEqual(await stack.locator(".stub b").allTextContents(), ["101-1-9", "101-1-10", "101-2-1"].map(tab.words.seatName));
  const [one, two] = [await stack.locator("li").nth(0).boundingBox(), await stack.locator("li").nth(1).boundingBox()];
  assert.ok(Math.abs(one.y - two.y) < 2 && one.x + one.width <= two.x, "beside each other");
  await page.locator(".swipe", { hasText: "1 of 3" }).waitFor();
  await stack.evaluate((it) => it.scrollTo({ left: it.scrollWidth }));
  await page.locator(".swipe", { hasText: "3 of 3" }).waitFor();
  assert.deepEqual(await violations(page), []);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/tickets-stack-390.png` });
  await tab.context.close();
});

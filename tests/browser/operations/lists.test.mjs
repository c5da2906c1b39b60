// Lists of the control room: people instead of ids, a panel beside the list, order, period, and search.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { openWorld } from "../support/world.mjs";

let world;
let show;
let buyers;
before(async () => {
  world = await openWorld();
  show = await world.show({ title: "Listed night" });
  buyers = [await world.buy(show, [0]), await world.buy(show, [1, 2]), await world.buy(show, [12])];
});
after(() => world.close());

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}/;

test("rows show people, seats and methods as people say them, and no ids", async () => {
  const { page, context } = await world.room("#/reservations");
  await page.locator("tbody tr").nth(2).waitFor();
  const row = page.locator("tbody tr", { hasText: "Section" }).first();
  await row.locator(".who b", { hasText: "박포도" }).waitFor();
  await row.locator(".who small", { hasText: /^qu\*\*\*@podo.kr$/ }).waitFor();
  for (const path of ["reservations", "payments", `live/${show.scheduleId}/admissions`, "audit", "users", "mailbox"]) {
    await page.goto(`${world.url}/admin#/${path}`);
    await page.locator("tbody tr .who b").first().waitFor();
    const text = await page.locator("tbody").innerText();
    assert.doesNotMatch(text, UUID, path);
    assert.ok(!buyers.some(({ account }) => text.includes(account.email)) || path === "users", `${path}: a whole address`);
  }
  await page.goto(`${world.url}/admin#/payments`);
  await page.locator("tbody tr", { hasText: "Wallet" }).first().waitFor();
  await context.close();
});

test("a row opens a panel with an address; arrows walk the list, Escape closes, Back returns", async () => {
  const { page, context } = await world.room("#/reservations");
  await page.locator("tbody tr").nth(2).waitFor();
  const seats = (at) => page.locator("tbody tr").nth(at).locator("td").nth(1).innerText();
  const [first, second] = [await seats(0), await seats(1)];
  const panel = page.locator(".side-panel");
  await page.locator("tbody .lead").first().focus();
  await page.keyboard.press("Enter");
  await panel.getByText(first).waitFor();
  await panel.getByText("1 of 3").waitFor();
  assert.match(page.url(), /#\/reservations\/[0-9a-f-]{36}$/);
  assert.equal(Math.round((await panel.boundingBox()).width), 420);
  assert.deepEqual(await violations(page), [], "axe on the panel");
  await page.keyboard.press("ArrowDown");
  await panel.getByText(second).waitFor();
  await panel.getByText("2 of 3").waitFor();
  const named = page.url();
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  assert.match(page.url(), /#\/reservations$/);
  assert.ok(await page.locator("tbody tr").nth(1).locator(".lead").evaluate((it) => it === document.activeElement), "the focus is back");
  // The address leads back to the same row, also in a new tab.
  await page.goto(`${world.url}/livez`);
  await page.goto(named);
  await panel.getByText(second).waitFor();
  // Without room beside the list, the panel is the page.
  await page.setViewportSize({ width: 1000, height: 800 });
  assert.ok(await page.locator("main table").isHidden());
  assert.ok(await panel.isVisible());
  await page.setViewportSize({ width: 320, height: 640 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "not wider than a phone");
  await page.getByRole("button", { name: "Close" }).click();
  assert.ok(await page.locator("main table").isVisible());
  await context.close();
});

test("a list turns around, keeps a period, and remembers both in its address", async () => {
  const { page, context } = await world.room("#/payments");
  await page.locator("tbody tr").nth(2).waitFor();
  const amounts = () => page.locator("tbody tr td:nth-child(4)").allInnerTexts();
  const newest = await amounts();
  await page.locator("thead .order").click();
  await page.locator("th[aria-sort=ascending]").waitFor();
  await page.waitForFunction((first) => document.querySelector("tbody tr td:nth-child(4)")?.innerText === first, newest.at(-1));
  assert.deepEqual(await amounts(), newest.toReversed());
  await page.locator("input[name=to]").fill("2001-01-01");
  await page.locator(".nothing:not([hidden])").waitFor();
  assert.match(page.url(), /to=2001-01-01/);
  assert.match(page.url(), /order=OLDEST/);
  await page.reload();
  await page.locator(".nothing:not([hidden])").waitFor();
  assert.equal(await page.locator("input[name=to]").inputValue(), "2001-01-01");
  await page.locator("input[name=to]").fill("");
  await page.locator("input[name=from]").fill("2001-01-01");
  await page.locator("tbody tr").nth(2).waitFor();
  await context.close();
});

test("people are found by how their name and address begin, and the page says what isn't searchable", async () => {
  const { page, context } = await world.room("#/users");
  await page.getByText("not by the middle of a word").waitFor();
  const find = page.locator("input[name=query]");
  const { email } = buyers[0].account;
  const search = async (text) => {
    await find.fill(text);
    await find.press("Enter");
    await find.blur();
  };
  await world.admin.call("POST", "/api/admin/jobs/names/run", {});
  for (const text of [email.slice(0, 5), "박포", "@podo.kr"]) {
    await search(text);
    await page.locator("tbody tr").first().waitFor();
  }
  await search(email.slice(2, 9));
  await page.locator(".nothing:not([hidden])").waitFor();
  await search("q");
  await page.locator("main [role=alert]:not([hidden])").waitFor();
  await context.close();
});

test("events say when they play and how much is sold, also at 1,024 pixels", async () => {
  const { page, context } = await world.room("#/events", { language: "en", width: 1024, height: 800 });
  const row = page.locator("tbody tr", { hasText: "Listed night" });
  await row.waitFor();
  for (let i = 0; i < 40 && !(await row.getByText("4 / 120").count()); i += 1) {
    await page.waitForTimeout(500);
    await page.reload();
    await row.waitFor();
  }
  await row.getByText("3%").waitFor();
  for (const path of ["events", "reservations", "payments", "audit"]) {
    await page.goto(`${world.url}/admin#/${path}`);
    await page.locator("tbody tr").first().waitFor();
    // Nothing of the list scrolls away, and no word breaks.
    const { inner, outer } = await page.locator("main .scroll").evaluate((it) => ({ inner: it.scrollWidth, outer: it.clientWidth }));
    assert.ok(inner <= outer, `${path}: ${inner} in ${outer} px`);
  }
  await context.close();
});

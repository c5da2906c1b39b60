// Without scripts: find a concert, make an account, log in, wait in line, stand by, look at tickets.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { blocks, openWorld, watch } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

/**
 * A browser that runs no scripts. axe is one, so `look` shows the very same page in another browser:
 * without our scripts, and with what stands there for browsers without them.
 */
async function openPlain(locale) {
  const context = await world.browser.newContext({ javaScriptEnabled: false, locale });
  const page = await context.newPage();
  watch(page, world.url, world.broken);
  const mirror = await world.browser.newPage();
  let html = "";
  await mirror.route(`${world.url}/mirror`, (route) => route.fulfill({ contentType: "text/html; charset=utf-8", body: html }));
  const found = [];
  const look = async (name) => {
    html = (await page.content())
      .replace(/<script[^>]*><\/script>|<link rel="modulepreload"[^>]*>|<meta http-equiv="refresh"[^>]*>|<\/?noscript>/g, "");
    await mirror.goto(`${world.url}/mirror`);
    for (const theme of ["light", "dark"]) {
      await mirror.emulateMedia({ colorScheme: theme });
      found.push(...(await violations(mirror)).map((words) => `${name} (${theme}): ${words}`));
    }
  };
  return { page, look, found, context, close: () => Promise.all([context.close(), mirror.close()]) };
}

test("a browser without scripts goes from the list to its place in line", async () => {
  const show = await world.show({ queue: { mode: "PAUSED" } });
  const { page, look, found, context, close } = await openPlain("en-GB");
  await page.goto(`${world.url}/`);
  await look("list");
  await page.locator(`a[href="/events/${show.eventId}"]`).click();
  await look("event");
  await page.locator("main a", { hasText: "Book" }).click();
  await look("please log in");
  await page.locator("main a", { hasText: "Sign up" }).click();
  const account = { email: `plain.${Date.now()}@podo.kr`, password: "12345678", name: "김포도" };
  for (const name of Object.keys(account)) await page.locator(`input[name=${name}]`).fill(account[name]);
  await page.locator("form button").click();
  await page.getByRole("alert").filter({ hasText: "too common" }).waitFor();
  await look("sign up");
  account.password = "green-grapes-2026";
  await page.locator("input[name=password]").fill(account.password);
  await page.locator("form button").click();
  await page.waitForURL(new RegExp(`/queue/${show.scheduleId}`));
  await look("the way in");
  await page.getByRole("button", { name: "Join the queue" }).click();
  await page.locator(".hero").waitFor();
  assert.equal(await page.locator(".hero").textContent(), "1");
  await look("in the queue");
  await show.setQueue({ mode: "AUTO" });
  // The page looks again by itself.
  await page.locator("main", { hasText: "It's your turn" }).waitFor({ timeout: 15_000 });
  await page.goto(`${world.url}/tickets`);
  await page.locator("h1", { hasText: "My tickets" }).waitFor();
  await look("tickets");

  await context.clearCookies();
  await page.goto(`${world.url}/enter?next=/tickets`);
  await page.locator("input[name=email]").fill(account.email);
  await page.locator("input[name=password]").fill("something else");
  await page.locator("form button").click();
  await page.getByRole("alert").waitFor();
  await look("log in");
  await page.locator("input[name=password]").fill(account.password);
  await page.locator("form button").click();
  await page.waitForURL(/\/tickets$/);
  assert.deepEqual(found, []);
  await close();
});

test("a forgotten password is set again without scripts", async () => {
  const { account, context: first } = await world.fan();
  await first.close();
  const { page, look, found, close } = await openPlain("en-GB");
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${world.url}/enter`);
  await page.locator("main a", { hasText: "Forgot your password?" }).click();
  await look("forgotten");
  await page.locator("input[name=email]").fill(account.email);
  await page.locator("form button").click();
  await page.locator("input[name=token]").waitFor();
  const [newest] = await mailbox("Set a new password");
  await page.locator("input[name=token]").fill(newest.body.trim().split(/\s+/).at(-1));
  await page.locator("input[name=password]").fill("12345678");
  await page.locator("form button").click();
  await page.getByRole("alert").filter({ hasText: "too common" }).waitFor();
  await look("reset");
  if (process.env.SCREENS) await page.screenshot({ path: `${process.env.SCREENS}/plain-reset.png` });
  await page.locator("input[name=password]").fill("purple-grapes-2027");
  await page.locator("form button").click();
  await page.locator("h1", { hasText: "Your password was changed" }).waitFor();
  await look("changed");
  await page.locator("main a", { hasText: "Log in" }).click();
  await page.locator("input[name=email]").fill(account.email);
  await page.locator("input[name=password]").fill("purple-grapes-2027");
  await page.locator("form button").click();
  await page.waitForURL(/\/tickets$|\/$/);
  assert.deepEqual(found, []);
  await close();
});

/** The notifications with this subject, once there is one. */
async function mailbox(subject) {
  for (let tries = 0; tries < 100; tries += 1) {
    const { items } = await world.admin.call("GET", "/api/admin/mailbox?limit=100");
    const found = items.filter((it) => it.subject === subject);
    if (found.length) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no notification "${subject}"`);
}

for (const [locale, words] of [["ko-KR", ["모든 좌석이 팔렸어요.", "취소표 대기", "VIP 1석을 기다리고 있어요"]], ["en-GB", ["Sold out.", "Join the standby list", "On the standby list for 1 × VIP, 0 ahead"]]]) {
  test(`without scripts too, a late fan sees that everything is sold and may stand by (${locale})`, async () => {
    const show = await world.show({ template: blocks(1, 1, 2), prices: { VIP: 150_000 } });
    const { account } = await world.buy(show, [0, 1]);
    await show.setQueue({ mode: "PAUSED" });
    const { page, look, found, close } = await openPlain(locale);
    await page.goto(`${world.url}/enter?next=/queue/${show.scheduleId}`);
    await page.locator("input[name=email]").fill(account.email);
    await page.locator("input[name=password]").fill(account.password);
    await page.locator("form button").click();
    await page.waitForURL(new RegExp(`/queue/${show.scheduleId}`));
    await page.locator("main form button").click();
    await page.getByRole("heading", { name: words[0] }).waitFor();
    await look("full");
    await page.locator("main a", { hasText: words[1] }).click();
    await look("standby");
    await page.locator("main form button").click();
    await page.getByText(words[2]).waitFor();
    await look("standing by");
    await page.goto(`${world.url}/tickets`);
    await page.locator(".code svg").nth(1).waitFor();
    await look("two tickets");
    assert.deepEqual(found, []);
    await close();
  });
}

for (const [locale, tag, words] of [["ja-JP", "ja", ["公演", "予約する", "ログイン", "会員登録", "列に並ぶ"]], ["zh-CN", "zh-Hans", ["演出", "购票", "登录", "注册", "加入队列"]]]) {
  test(`the pages without scripts speak the reader's language (${locale})`, async () => {
    const show = await world.show({ queue: { mode: "PAUSED" } });
    const { page, look, found, close } = await openPlain(locale);
    const [concerts, book, logIn, signUp, join] = words;
    await page.goto(`${world.url}/`);
    assert.equal(await page.locator("html").getAttribute("lang"), tag);
    await page.getByRole("heading", { level: 1, name: concerts }).waitFor();
    await page.getByText("Machine translation, not yet reviewed").waitFor();
    await page.locator(`a[href="/events/${show.eventId}"]`).click();
    await look("event");
    await page.locator("main a", { hasText: book }).click();
    await page.locator("main a", { hasText: logIn }).waitFor();
    await page.locator("main a", { hasText: signUp }).click();
    const account = { email: `plain.${tag}.${Date.now()}@podo.kr`, password: "green-grapes-2026", name: "김포도" };
    for (const name of Object.keys(account)) await page.locator(`input[name=${name}]`).fill(account[name]);
    await look("sign up");
    await page.locator("form button").click();
    await page.getByRole("button", { name: join }).click();
    await page.locator(".hero").waitFor();
    await look("in the queue");
    // The organiser's texts and what the server refuses are English for them; the page itself isn't.
    assert.doesNotMatch(await page.locator("main").innerText(), /Your place|Join|Waiting room/);
    assert.deepEqual(found, []);
    await close();
  });
}

// An account from the phone, in Korean: another address, a forgotten password, and a first one for an
// account of another service.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { CLIENT, openIdentityProvider } from "../support/identity_provider.mjs";
import { openWorld } from "../support/world.mjs";

const PHONE = { language: "ko", width: 390, height: 844 };
const RESET = "비밀번호를 다시 설정해 주세요";
const NEW_PASSWORD = "purple-grapes-2027";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

const allMailed = async (subject) =>
  (await world.admin.call("GET", "/api/admin/mailbox?limit=100")).items.filter((it) => it.subject === subject);

/** The newest of at least `n` notifications with this subject. */
async function mailed(subject, n = 1) {
  for (let tries = 0; tries < 100; tries += 1) {
    const found = await allMailed(subject);
    if (n <= found.length) return found[0].body;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no notification "${subject}"`);
}

async function logIn({ page, go }, { email, password }) {
  await go(`/#/login?next=${encodeURIComponent("#/me")}`);
  await page.locator("input[name=email]").fill(email);
  await page.locator("input[name=password]").fill(password);
  await page.locator("form button.primary").click();
}

async function fitsAndIsAccessible(page) {
  assert.deepEqual(await violations(page), []);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= PHONE.width);
}

test("an address is changed with the password and a code, and only the new one logs in", async () => {
  await world.restart({ PODO_CONFIRM_EMAIL: "off" });
  const { account, context: first } = await world.fan(PHONE);
  await first.close();
  await world.restart({ PODO_CONFIRM_EMAIL: "on" });
  const fan = await world.open(PHONE);
  const { page, words } = fan;
  await logIn(fan, account);
  await page.getByRole("button", { name: words.emailChange }).click();
  const dialog = page.locator("dialog");
  const email = `moved.${Date.now()}@podo.kr`;
  await dialog.locator("input[name=email]").fill(email);
  await dialog.locator("input[name=password]").fill("not the password");
  await dialog.getByRole("button", { name: words.next }).click();
  await dialog.locator("[role=alert]").filter({ hasText: /\S/ }).waitFor();
  await dialog.locator("input[name=password]").fill(account.password);
  await fitsAndIsAccessible(page);
  await dialog.getByRole("button", { name: words.next }).click();
  const code = (await mailed("이메일 변경 확인 코드")).match(/\d{6}/)[0];
  await dialog.locator("input[name=code]").fill(code);
  await fitsAndIsAccessible(page);
  await dialog.getByRole("button", { name: words.emailChange }).click();
  await page.getByText(email).first().waitFor();
  await mailed("계정의 이메일이 바뀌었어요");
  const other = await world.open(PHONE);
  await logIn(other, account);
  await other.page.locator("[role=alert]").filter({ hasText: /\S/ }).waitFor();
  await logIn(other, { ...account, email });
  await other.page.getByText(email).first().waitFor();
  await Promise.all([fan.context.close(), other.context.close()]);
});

test("a forgotten password is set again by the link, which works once", async () => {
  await world.restart({ PODO_CONFIRM_EMAIL: "off" });
  const { account, context: first } = await world.fan(PHONE);
  await first.close();
  const asked = [];
  const fan = await world.open(PHONE);
  const { page, words } = fan;
  page.on("request", (request) => asked.push(request.url(), request.headers().referer ?? ""));
  await fan.go("/#/login");
  await page.getByRole("link", { name: words.forgotPassword }).click();
  await page.locator("input[name=email]").fill(account.email);
  await fitsAndIsAccessible(page);
  await page.getByRole("button", { name: words.resetSend }).click();
  await page.getByRole("status").filter({ hasText: account.email }).waitFor();
  const token = (await mailed(RESET)).trim().split(/\s+/).at(-1).split("/").at(-1);
  await fan.go(`/#/reset/${token}`);
  const password = page.locator("input[name=password]");
  await password.fill(NEW_PASSWORD);
  await page.getByRole("button", { name: words.passwordShow }).click();
  assert.equal(await password.getAttribute("type"), "text");
  await fitsAndIsAccessible(page);
  await page.getByRole("button", { name: words.saveIt }).click();
  await page.waitForURL(/#\/login/);
  assert.ok(!asked.some((it) => it.includes(token)), "the token is in no address and no Referer");
  await logIn(fan, { ...account, password: NEW_PASSWORD });
  await page.getByText(account.email).first().waitFor();
  await fan.go("/#/nowhere");
  await fan.go(`/#/reset/${token}`);
  await password.fill("another-grape-2028");
  await page.getByRole("button", { name: words.saveIt }).click();
  await page.locator("[role=alert]").filter({ hasText: /\S/ }).waitFor();
  await fan.context.close();
});

test("an account of another service gets a password by the link for a forgotten one", async () => {
  const email = `kakao.${Date.now()}@podo.kr`;
  const person = { sub: "42", email, email_verified: true, nickname: "포도팬", kakao_account: { email, is_email_valid: true, is_email_verified: true } };
  const provider = await openIdentityProvider(person);
  await world.restart({ PODO_CONFIRM_EMAIL: "off", PODO_PUBLIC_URL: world.url, PODO_KAKAO_ISSUER: provider.url, PODO_KAKAO_CLIENT_ID: CLIENT.id, PODO_KAKAO_CLIENT_SECRET: CLIENT.secret });
  const first = await world.open({ ...PHONE, mayAsk: provider.url });
  await first.go("/#/login");
  await first.page.getByRole("link", { name: first.words.loginkakao }).click();
  await first.page.waitForFunction(() => localStorage.getItem("podo.known") === "yes" && !location.pathname.startsWith("/api/") && location.hash !== "#/login");
  await first.go("/#/me");
  await first.page.getByText(email).first().waitFor();
  await first.context.close();

  const fan = await world.open(PHONE);
  const { page, words } = fan;
  await logIn(fan, { email, password: NEW_PASSWORD });
  await page.locator("[role=alert]").filter({ hasText: /\S/ }).waitFor();
  await page.getByRole("link", { name: words.forgotPassword }).click();
  await page.locator("input[name=email]").fill(email);
  const nBefore = (await allMailed(RESET)).length;
  await page.getByRole("button", { name: words.resetSend }).click();
  await page.getByRole("status").filter({ hasText: email }).waitFor();
  const token = (await mailed(RESET, nBefore + 1)).trim().split(/\s+/).at(-1).split("/").at(-1);
  await fan.go(`/#/reset/${token}`);
  await page.locator("input[name=password]").fill(NEW_PASSWORD);
  await fitsAndIsAccessible(page);
  await page.getByRole("button", { name: words.saveIt }).click();
  await page.waitForURL(/#\/login/);
  await logIn(fan, { email, password: NEW_PASSWORD });
  await page.getByText(email).first().waitFor();
  const again = await world.open({ ...PHONE, mayAsk: provider.url });
  await again.go("/#/login");
  await again.page.getByRole("link", { name: again.words.loginkakao }).click();
  await again.page.waitForFunction(() => localStorage.getItem("podo.known") === "yes" && !location.pathname.startsWith("/api/") && location.hash !== "#/login");
  await again.go("/#/me");
  await again.page.getByText(email).first().waitFor();
  await Promise.all([fan.context.close(), again.context.close()]);
  provider.close();
});

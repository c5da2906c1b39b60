// The team: invitations, roles and what they see, API keys, forgotten passwords, legal pages, and a
// session that ends in the middle of work.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { openWorld, read } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

const PASSWORD = "green-grapes-2026";
const INVITED = "You are invited to the team";
const INVITED_KO = "포도 운영팀에 초대받았어요";

const mailed = async (subject) =>
  (await world.admin.call("GET", "/api/admin/mailbox?limit=100")).items.filter((it) => it.subject === subject);

/** The token in the newest of `n` notifications with this subject; no e-mail is configured, so it is there. */
async function tokenOf(subject, n = 1) {
  for (let tries = 0; tries < 100; tries += 1) {
    const found = await mailed(subject);
    if (n <= found.length) return found[0].body.trim().split(/\s+/).at(-1).split("/").at(-1);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no notification "${subject}"`);
}

for (const { device, email, ...size } of [
  { device: "a phone", email: "gate@podo.kr", width: 390, height: 800 },
  { device: "a desktop", email: "desk@podo.kr", width: 1280, height: 860 },
]) {
  test(`an invited gate accepts, scans a ticket, and sees the check-in and nothing else, on ${device}`, async () => {
    const show = await world.show({ days: 1.2, title: `오늘의 공연 ${email}` });
    const { tickets: [ticket], code } = await world.buy(show, [0]);
    const before = await mailed(INVITED);
    const { page, context } = await world.room("#/team");
    await page.getByRole("button", { name: "Invite" }).click();
    await page.locator("dialog input[name=email]").fill(email);
    await page.locator("dialog select[name=role]").selectOption("GATE");
    assert.deepEqual(await violations(page), [], "axe on the dialog");
    await page.locator("dialog .btn.brand").click();
    await page.locator(".rows li", { hasText: email }).waitFor();
    await context.close();
    const token = await tokenOf(INVITED, before.length + 1);
    const guest = await world.open({ language: "en", ...size });
    await guest.go(`/admin#/invitation/${token}`);
    await guest.page.getByText(`${email} is invited as Gate.`).waitFor();
    assert.deepEqual(await violations(guest.page), [], "axe on the invitation");
    await guest.page.locator("input[name=name]").fill("게이트");
    await guest.page.locator("input[name=password]").fill(PASSWORD);
    await guest.page.getByRole("button", { name: "Show" }).click();
    assert.equal(await guest.page.locator("input[name=password]").getAttribute("type"), "text");
    await guest.page.getByRole("button", { name: "Accept the invitation" }).click();
    await guest.page.getByRole("heading", { name: "Choose the show and the gate" }).waitFor();
    await guest.page.locator("section.card", { hasText: `오늘의 공연 ${email}` }).locator("input[name=gate]").fill("동문");
    await guest.page.locator("section.card", { hasText: `오늘의 공연 ${email}` }).getByRole("button", { name: "Open" }).click();
    await guest.page.getByText("1 tickets on this device").waitFor();
    await guest.page.locator("input.scan").fill(await read(guest.page, await code(ticket)));
    await guest.page.keyboard.press("Enter");
    await guest.page.locator(".verdict.ok", { hasText: ticket.seatNumber }).waitFor();
    const reached = await guest.page.evaluate(async (paths) => {
      const statuses = await Promise.all(paths.map(async (path) => (await fetch(path)).status));
      return paths.filter((_, i) => statuses[i] !== 403);
    }, ["users", "reservations", "payments", "team", "audit", "events", "venues", `schedules/${show.scheduleId}/live`, `schedules/${show.scheduleId}/attendance.csv`]
      .map((path) => `/api/admin/${path}`));
    assert.deepEqual(reached, [], "a gate reaches nothing else");
    await guest.go("/admin#/nowhere");
    await guest.page.locator("#nav a[href='#/checkin']").waitFor();
    const menu = await guest.page.locator("#nav a[href^='#/']").allInnerTexts();
    assert.deepEqual(menu.map((it) => it.trim()), ["Check-in"]);
    await guest.go(`/admin#/invitation/${token}`);
    await guest.page.getByText("The invitation has expired or was already used.").waitFor();
    await guest.context.close();
  });
}

test("a steward who is removed from the team loses the list of the device", async () => {
  const show = await world.show({ days: 1.2, title: "내일의 공연" });
  await world.buy(show, [0]);
  const email = "leaving@podo.kr";
  const before = await mailed(INVITED_KO);
  await world.admin.call("POST", "/api/admin/team/invitations", { email, role: "GATE" });
  const token = await tokenOf(INVITED_KO, before.length + 1);
  const { userId } = await world.admin.call("POST", "/api/auth/invitation/accept", { token, name: "게이트", password: PASSWORD });
  const { page, context, go } = await world.open({ language: "en", width: 390, height: 800 });
  await go(`/gate/#/login?next=${encodeURIComponent(`#/scan/${show.scheduleId}?gate=1`)}`);
  await page.locator("input[name=email]").fill(email);
  await page.locator("input[name=password]").fill(PASSWORD);
  await page.locator("form button.primary").click();
  await page.getByText("1 tickets on this device").waitFor();
  await world.admin.call("DELETE", `/api/admin/team/${userId}`);
  await page.getByText("You are logged out.").waitFor({ timeout: 30_000 });
  await page.reload();
  await page.locator("input[name=email]").waitFor();
  await page.waitForTimeout(500);
  const kept = await page.evaluate(async () => {
    const database = await new Promise((resolve) => (indexedDB.open("podo-gate").onsuccess = ({ target }) => resolve(target.result)));
    return new Promise((resolve) => (database.transaction("tickets").objectStore("tickets").count().onsuccess = ({ target }) => resolve(target.result)));
  });
  assert.equal(kept, 0);
  await context.close();
});

test("an owner changes a member's role, removes them and withdraws an invitation by clicks", async () => {
  const email = "changing@podo.kr";
  const before = await mailed(INVITED_KO);
  await world.admin.call("POST", "/api/admin/team/invitations", { email, role: "GATE" });
  const token = await tokenOf(INVITED_KO, before.length + 1);
  await world.admin.call("POST", "/api/auth/invitation/accept", { token, name: "바뀌는이", password: PASSWORD });
  await world.admin.call("POST", "/api/admin/team/invitations", { email: "never@podo.kr", role: "VIEWER" });
  const { accessToken } = await (await fetch(`${world.url}/api/auth/login`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ email, password: PASSWORD }) })).json();
  const status = async () => (await fetch(`${world.url}/api/admin/gate/shows`, { headers: { Authorization: `Bearer ${accessToken}` } })).status;
  assert.equal(await status(), 200);

  const { page, context } = await world.room("#/team");
  const row = page.locator(".rows li", { hasText: email });
  const dialog = page.locator("dialog");
  await row.getByText("Gate").waitFor();
  await row.getByRole("button", { name: "Role" }).click();
  await dialog.locator("select[name=role]").selectOption("SUPPORT");
  assert.deepEqual(await violations(page), [], "axe on the dialog");
  await dialog.locator(".btn.stop").click();
  await row.getByText("Support").waitFor();
  assert.ok([401, 403].includes(await status()), "the old role's session is over");

  await row.getByRole("button", { name: "Remove" }).click();
  await dialog.getByText(email).waitFor();
  // Closing the dialog changes nothing.
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await row.getByRole("button", { name: "Remove" }).click();
  await dialog.locator(".btn.stop").click();
  await row.waitFor({ state: "detached" });

  const invited = page.locator(".rows li", { hasText: "never@podo.kr" });
  await invited.getByRole("button").click();
  await dialog.locator(".btn.stop").click();
  await invited.waitFor({ state: "detached" });
  const team = await world.admin.call("GET", "/api/admin/team");
  assert.ok(!team.members.some((it) => it.email === email) && !team.invitations.some((it) => it.email === "never@podo.kr"));
  assert.deepEqual(await violations(page), [], "axe on the page");
  await context.close();
});

test("a key is shown once and can be revoked", async () => {
  const { page, context } = await world.room("#/keys");
  await page.getByRole("button", { name: "New key" }).click();
  await page.locator("dialog input[name=name]").fill("Data warehouse");
  await page.locator("dialog select[name=role]").selectOption("CUSTOM");
  await page.locator("dialog").getByLabel("View sales").check();
  assert.deepEqual(await violations(page), [], "axe on the dialog");
  await page.locator("dialog .btn.brand").click();
  const key = await page.locator("dialog .secret").innerText();
  assert.match(key, /^podo_live_[\w-]{43}$/);
  await page.locator("dialog .btn.brand").click();
  const row = page.locator(".rows li", { hasText: "Data warehouse" });
  await row.waitFor();
  assert.ok(!(await page.content()).includes(key), "the key is gone");
  const use = async () => (await fetch(`${world.url}/api/admin/reconciliation?day=2026-01-01`, { headers: { Authorization: `Bearer ${key}` } })).status;
  assert.equal(await use(), 200);
  await row.getByRole("button", { name: "Revoke" }).click();
  await page.locator("dialog .btn.stop").click();
  await row.getByText("Revoked").waitFor();
  assert.equal(await use(), 401);
  await context.close();
});

test("a session that ends asks for the login in place, and nothing typed is lost", async () => {
  const { page, context } = await world.room("#/venues");
  await page.goto(`${world.url}/admin#/pages`);
  await page.locator("textarea[name=ko]").first().fill("# 이용약관");
  await page.locator("textarea[name=en]").first().fill("# Terms");
  await context.clearCookies();
  await page.getByRole("button", { name: "Publish a new version" }).first().click();
  await page.locator("dialog input[name=email]").fill(world.admin.email);
  await page.locator("dialog input[name=password]").fill(world.admin.password);
  await page.locator("dialog .btn.brand").click();
  await page.getByText("Version 1").waitFor();
  assert.equal(await page.locator("textarea[name=ko]").first().inputValue(), "# 이용약관");
  await context.close();
});

test("published pages are in the footer and have to be agreed to", async () => {
  const { page, context, go } = await world.open({ language: "en" });
  await go("/#/");
  await page.locator("#footer a", { hasText: "Terms of use" }).click();
  await page.locator("article h2", { hasText: "Terms" }).waitFor();
  assert.deepEqual(await violations(page), [], "axe on the terms");
  for (const [language, words] of [["ko", "이용약관"], ["en", "Terms"]]) {
    for (const theme of ["light", "dark"]) {
      const tab = await world.open({ language, theme, width: 390, height: 844 });
      await tab.go(new URL(page.url()).pathname + new URL(page.url()).hash);
      await tab.page.locator("article h2", { hasText: words }).waitFor();
      assert.deepEqual(await violations(tab.page), [], `axe on the terms, ${language} ${theme}`);
      assert.ok(await tab.page.evaluate(() => document.documentElement.scrollWidth) <= 390);
      await tab.go("/#/login?new=yes");
      await tab.page.locator("input[name=terms]").waitFor();
      assert.deepEqual(await violations(tab.page), [], `axe on the boxes, ${language} ${theme}`);
      await tab.context.close();
    }
  }
  await go("/#/login?new=yes");
  await page.locator("input[name=terms]").waitFor();
  const account = { email: `consent.${Date.now()}@podo.kr`, password: PASSWORD, name: "김동의" };
  for (const name of ["email", "password", "name"]) await page.locator(`input[name=${name}]`).fill(account[name]);
  await page.locator("form button.primary").click();
  await page.getByText("Please agree to all required items.").waitFor();
  const boxes = page.locator("input[name=all], input[name=terms], input[name=age], input[name=marketing]");
  const checked = () => boxes.evaluateAll((all) => all.map((it) => it.checked));
  await page.locator("input[name=all]").check();
  assert.ok((await checked()).every(Boolean), "one press agrees to everything");
  await page.locator("input[name=marketing]").uncheck();
  assert.deepEqual((await checked())[0], false, "and follows the single boxes");
  assert.deepEqual(await violations(page), [], "axe on the boxes");
  await page.locator("form button.primary").click();
  await page.waitForURL(/#\/$/);
  await context.close();
});

test("a forgotten password is set again by the link of the e-mail", async () => {
  const { page, context, go } = await world.open({ language: "en" });
  await go("/#/login");
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await page.locator("input[name=email]").fill("gate@podo.kr");
  await page.getByRole("button", { name: "Send a link" }).click();
  await page.getByRole("status").filter({ hasText: "We sent an email to gate@podo.kr" }).waitFor();
  const token = await tokenOf("Set a new password");
  await page.locator("input[name=token]").fill(token);
  await page.getByRole("button", { name: "Next" }).click();
  await page.locator("input[name=password]").fill("purple-grapes-2027");
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForURL(/#\/login/);
  await go("/gate/");
  await page.locator("input[name=email]").fill("gate@podo.kr");
  await page.locator("input[name=password]").fill("purple-grapes-2027");
  await page.locator("form button.primary").click();
  await page.getByRole("heading", { name: "Choose the show and the gate" }).waitFor();
  await context.close();
});

// The gate: scans with and without a network, and what a device knows of other gates.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { blocks, enterRoom, openTab, openWorld, read } from "../support/world.mjs";

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 860 };

/** Near enough to its start to be offered at the gate. */
const TONIGHT = { days: 1.2, schedule: { seatsPerOrder: 10, seatsPerPerson: 10 } };

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

/** A device of a steward that has the list. */
async function device(show, gate, n, size = PHONE) {
  const tab = await openTab(world, { language: "en", ...size });
  await enterRoom(tab, world.admin, "#/team");
  await tab.page.locator(".rows li").first().waitFor();
  await tab.go(`/gate/#/scan/${show.scheduleId}?gate=${gate}`);
  await tab.page.getByText(`${n} tickets on this device`).waitFor();
  return tab;
}

/** Tickets with their codes: `{ seatNumber, text }`. */
async function buyAll(show, { page }, orders) {
  const found = [];
  for (const seats of orders) {
    const { tickets, code } = await world.buy(show, seats);
    for (const ticket of tickets) found.push({ id: ticket.id, seatNumber: ticket.seatNumber, text: await read(page, await code(ticket)) });
  }
  return found;
}

async function type(page, text) {
  await page.locator("input.scan").fill(text);
  await page.keyboard.press("Enter");
}

const admitted = ({ page }, { seatNumber }) => page.locator(".verdict.ok", { hasText: seatNumber }).waitFor();
const refused = ({ page }, words) => page.locator(".verdict.no", { hasText: words }).waitFor();

/** Once the page has what it needs for a reload without a network. */
const keptPage = ({ page }) => page.waitForFunction(async () =>
  (await caches.match("/gate/")) && (await (await caches.open("podo-gate-1")).keys()).some(({ url }) => url.endsWith("/gate/scan/screen.js")) && (await navigator.serviceWorker.ready).active);

/** What the device keeps: tickets, lists and scans to send. */
const kept = ({ page }) => page.evaluate(async () => {
  const database = await new Promise((resolve) => (indexedDB.open("podo-gate").onsuccess = ({ target }) => resolve(target.result)));
  const count = (name) => new Promise((resolve) => (database.transaction(name).objectStore(name).count().onsuccess = ({ target }) => resolve(target.result)));
  const found = [await count("tickets"), await count("lists"), await count("scans")];
  database.close();
  return found;
});

async function undo({ page }, reason) {
  await page.getByRole("button", { name: "Undo the last check-in" }).click();
  await page.locator("dialog input[name=reason]").fill(reason);
  await page.locator("dialog .btn.brand").click();
  await page.locator(".verdict", { hasText: "Check-in undone" }).waitFor();
}

test("a phone and a desktop without a network admit 200 guests, also after a reload, and the double is reported", async () => {
  const show = await world.show({ ...TONIGHT, template: blocks(2, 10, 10), prices: { VIP: 1_000, S: 1_000 } });
  const blank = await openTab(world, {});
  await blank.go("/");
  const tickets = await buyAll(show, blank, Array.from({ length: 20 }, (_, fan) => Array.from({ length: 10 }, (_, seat) => fan * 10 + seat)));
  await blank.context.close();
  const [east, west] = [await device(show, "east", 200), await device(show, "west", 200, DESKTOP)];
  await Promise.all([east, west].map(keptPage));
  await east.context.setOffline(true);
  await west.context.setOffline(true);
  for (const [index, ticket] of tickets.entries()) {
    const tab = index % 2 ? east : west;
    await type(tab.page, ticket.text);
    await admitted(tab, ticket);
    if (index === 120) await Promise.all([east, west].map(({ page }) => page.reload()));
  }
  await type(west.page, tickets[0].text);
  await refused(west, "Already used");
  await type(west.page, "PODO1.AAAA");
  await refused(west, "Unknown code");
  // This ticket was admitted at the other gate, which this device can't know.
  await type(east.page, tickets[0].text);
  await admitted(east, tickets[0]);
  // Taken back and admitted again, both without a network.
  const last = tickets.at(-1);
  await type(east.page, tickets[2].text);
  await undo(east, "다른 사람이에요");
  await type(east.page, last.text);
  await refused(east, "Already used");
  await west.page.getByText(/Offline · 100 scans to send/).waitFor();

  await west.context.setOffline(false);
  await west.page.getByText("Online", { exact: true }).waitFor({ timeout: 20_000 });
  await east.context.setOffline(false);
  await east.page.getByRole("alert").filter({ hasText: /1 tickets were admitted twice/ }).waitFor({ timeout: 20_000 });
  const found = await world.admin.call("GET", `/api/admin/schedules/${show.scheduleId}/attendance`);
  assert.equal(found.admitted, 200);
  assert.deepEqual(found.gates.map(({ gate, admitted, undone, doubles }) => [gate, admitted, undone, doubles]), [["east", 100, 0, 1], ["west", 100, 0, 0]]);
  assert.deepEqual(found.sections.map(({ section, admitted }) => [section, admitted]), [["101", 100], ["102", 100]]);
  await west.page.locator("summary", { hasText: "Counts" }).click();
  await west.page.locator(".counts tr", { hasText: "102" }).filter({ hasText: "100 of 100" }).waitFor({ timeout: 20_000 });
  await Promise.all([east, west].map(({ context }) => context.close()));
});

test("a ticket of a type with a proof tells the steward what to check, also without a network", async () => {
  const show = await world.show(TONIGHT);
  const ticketTypes = [{ name: "장애인", nameEn: "Disabled", percent: 50, proof: "복지카드", proofEn: "Disability card" }];
  await world.admin.call("PUT", `/api/admin/schedules/${show.scheduleId}/price-options`, { ticketTypes });
  const made = await world.admin.call("GET", `/api/admin/schedules/${show.scheduleId}/price-options`);
  const codes = [];
  const blank = await openTab(world, {});
  await blank.go("/");
  for (const seat of [0, 1]) {
    const { tickets: [ticket], code } = await world.buy(show, [seat], { ticketTypeId: made.ticketTypes[0].id });
    codes.push({ seatNumber: ticket.seatNumber, text: await read(blank.page, await code(ticket)) });
  }
  await blank.context.close();
  const tab = await device(show, "1", 2);
  const asks = ({ seatNumber }) => tab.page.locator(".verdict.proof", { hasText: "Check: Disability card" }).filter({ hasText: seatNumber }).waitFor();
  await type(tab.page, codes[0].text);
  await asks(codes[0]);
  assert.deepEqual(await violations(tab.page), [], "axe on the proof");
  await tab.context.setOffline(true);
  await type(tab.page, codes[1].text);
  await asks(codes[1]);
  await type(tab.page, codes[1].text);
  await refused(tab, "Already used");
  await tab.context.close();
});

test("what was admitted and taken back online is so without a network", async () => {
  const show = await world.show(TONIGHT);
  const gate = await device(show, "1", 0);
  const [one, two] = await buyAll(show, gate, [[0], [1]]);
  const other = await device(show, "2", 2);
  await type(other.page, two.text);
  await admitted(other, two);
  // The list is brought up to date: both tickets, one of them used at the other gate.
  await gate.page.getByText("2 tickets on this device").waitFor({ timeout: 40_000 });
  await type(gate.page, one.text);
  await admitted(gate, one);
  await gate.context.setOffline(true);
  await type(gate.page, one.text);
  await refused(gate, "Already used");
  await gate.context.setOffline(false);
  await gate.page.getByText("Online", { exact: true }).waitFor({ timeout: 20_000 });
  await type(gate.page, one.text);
  await refused(gate, "Already used");
  await undo(gate, "한 사람 더 왔어요");
  await gate.context.setOffline(true);
  await type(gate.page, one.text);
  await admitted(gate, one);
  await gate.context.setOffline(false);
  await Promise.all([gate, other].map(({ context }) => context.close()));
});

test("a busy server, and a session that ends, stop no guest, and nothing is lost", async () => {
  const show = await world.show(TONIGHT);
  const setUp = await openTab(world, {});
  await setUp.go("/");
  const tickets = await buyAll(show, setUp, [[0], [1], [2]]);
  await setUp.context.close();
  const gate = await device(show, "1", 3);
  const { page, context } = gate;
  const busy = (route) => route.fulfill({ status: 429, headers: { "Retry-After": "1" }, contentType: "application/problem+json", body: JSON.stringify({ code: "TOO_MANY_REQUESTS" }) });
  await page.route("**/api/admin/checkin", busy);
  await type(page, tickets[0].text);
  await admitted(gate, tickets[0]);
  await page.unroute("**/api/admin/checkin", busy);
  await page.getByText("Online", { exact: true }).waitFor({ timeout: 20_000 });
  await page.waitForTimeout(200);

  await context.clearCookies();
  await page.evaluate(() => sessionStorage.removeItem("podo.access"));
  await type(page, tickets[1].text);
  await admitted(gate, tickets[1]);
  await page.locator("dialog input[name=email]").waitFor();
  assert.deepEqual(await violations(page), [], "axe on the dialog");
  await page.locator("dialog").getByRole("button", { name: "Close" }).click();
  await page.getByText("You are logged out.").waitFor();
  await type(page, tickets[2].text);
  await admitted(gate, tickets[2]);
  await page.locator(".note").getByRole("button", { name: "Log in" }).click();
  await page.locator("dialog input[name=email]").fill(world.admin.email);
  await page.locator("dialog input[name=password]").fill(world.admin.password);
  await page.locator("dialog .btn.brand").click();
  await page.getByText("Online", { exact: true }).waitFor({ timeout: 20_000 });
  const found = await world.admin.call("GET", `/api/admin/schedules/${show.scheduleId}/attendance`);
  assert.deepEqual(found.gates.map(({ gate, admitted, doubles }) => [gate, admitted, doubles]), [["1", 3, 0]]);
  await context.close();
});

test("a ticket of another date, a list that was tampered with, and a list after log-out", async () => {
  const [show, tomorrow] = [await world.show(TONIGHT), await world.show({ ...TONIGHT, title: "내일의 밤" })];
  const gate = await device(tomorrow, "1", 0);
  const { page, context } = gate;
  const [other] = await buyAll(tomorrow, gate, [[0]]);
  const [own, changed] = await buyAll(show, gate, [[0], [1]]);
  await page.getByText("1 tickets on this device").waitFor({ timeout: 40_000 });
  await page.goto(`${world.url}/gate/#/scan/${show.scheduleId}?gate=1`);
  await page.getByText("2 tickets on this device").waitFor();
  await type(page, other.text);
  await refused(gate, "Another date");
  assert.deepEqual(await violations(page), [], "axe on a refusal");
  await context.setOffline(true);
  await type(page, other.text);
  await page.locator(".verdict.no", { hasText: "Another date" }).filter({ hasText: "내일의 밤" }).waitFor();
  await type(page, own.text);
  await admitted(gate, own);
  // An edited record in the browser's store admits no guest.
  await page.evaluate(async ([scheduleId, ticketId]) => {
    const database = await new Promise((resolve) => (indexedDB.open("podo-gate").onsuccess = ({ target }) => resolve(target.result)));
    const store = database.transaction("tickets", "readwrite").objectStore("tickets");
    const record = await new Promise((resolve) => (store.get([scheduleId, ticketId]).onsuccess = ({ target }) => resolve(target.result)));
    store.put({ ...record, line: { ...record.line, seatNumber: "VIP-1" } });
    await new Promise((resolve) => (store.transaction.oncomplete = resolve));
    database.close();
  }, [show.scheduleId, changed.id]);
  await type(page, changed.text);
  await refused(gate, "List was changed");
  await context.setOffline(false);
  await page.getByText("Online", { exact: true }).waitFor({ timeout: 20_000 });
  await page.getByRole("button", { name: "Log out" }).click();
  await page.locator("input[name=email]").waitFor();
  assert.deepEqual(await kept(gate), [0, 0, 0]);
  await context.close();
});

test("the gates that an organiser sets are offered, refuse other sections, and appear in the monitor", async () => {
  const show = await world.show({ ...TONIGHT, title: "입구가 있는 밤" });
  const { page, context } = await world.room("#/venues");
  const { items } = await world.admin.call("GET", "/api/admin/venues?limit=100");
  await page.goto(`${world.url}/admin#/halls/${items[0].halls[0].id}/gates`);
  for (const [name, section] of [["동문", "101"], ["서문", "102"]]) {
    await page.getByRole("button", { name: "Add a gate" }).click();
    const row = page.locator("fieldset.gate").last();
    await row.locator("input[name=name]").fill(name);
    await row.getByLabel(section).check();
  }
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The gates are saved.").waitFor();
  const gate = await openTab(world, { language: "en", ...PHONE });
  await enterRoom(gate, world.admin, "#/team");
  await gate.page.locator(".rows li").first().waitFor();
  const [east, west] = await buyAll(show, gate, [[0], [60]]);
  await gate.go("/gate/");
  await gate.page.locator("section.card", { hasText: "입구가 있는 밤" }).getByRole("button", { name: "동문" }).click();
  await gate.page.getByText("2 tickets on this device").waitFor();
  const toWest = () => gate.page.locator(".verdict.no", { hasText: "Another gate" }).filter({ hasText: "서문" }).waitFor();
  await type(gate.page, west.text);
  await toWest();
  await type(gate.page, east.text);
  await admitted(gate, east);
  await gate.context.setOffline(true);
  await type(gate.page, west.text);
  await toWest();
  await gate.context.close();
  await page.goto(`${world.url}/admin#/live/${show.scheduleId}`);
  const card = page.locator("section.card", { hasText: "Attendance" });
  await card.getByText("1 / 2 (50.0%)").waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), card.getByRole("button", { name: "Export CSV" }).click()]);
  assert.match(await readFile(await file.path(), "utf8"), /section,"101",1,1,,/);
  await context.close();
});

test("codes that rotate are checked by the server's clock, not the device's, also after a reload", async () => {
  const rotating = await openWorld({ env: { PODO_TICKET_CODES: "rotating" } });
  try {
    const show = await rotating.show(TONIGHT);
    const { tickets: [ticket], code } = await rotating.buy(show, [0]);
    const gate = await openTab(rotating, { language: "en", ...PHONE });
    await gate.context.addInitScript(() => {
      const now = Date.now.bind(Date);
      Date.now = () => now() + 600_000;
    });
    await enterRoom(gate, rotating.admin, "#/team");
    await gate.page.locator(".rows li").first().waitFor();
    await gate.go(`/gate/#/scan/${show.scheduleId}?gate=1`);
    await gate.page.getByText("1 tickets on this device").waitFor();
    await gate.page.getByText("Online", { exact: true }).waitFor();
    await keptPage(gate);
    const text = await read(gate.page, await code(ticket));
    await gate.context.setOffline(true);
    await gate.page.reload();
    await gate.page.locator("input.scan").waitFor();
    await type(gate.page, text);
    await admitted(gate, ticket);
    await gate.context.close();
  } finally {
    await rotating.close();
  }
});

test("a gate that is left alone for longer than an idle session lives goes on scanning", async () => {
  const strict = await openWorld({ env: { PODO_ADMIN_IDLE_MINUTES: "1" } });
  try {
    const show = await strict.show(TONIGHT);
    const { tickets: [ticket], code } = await strict.buy(show, [0]);
    const gate = await openTab(strict, { language: "en", ...PHONE });
    await enterRoom(gate, strict.admin, "#/team");
    await gate.page.locator(".rows li").first().waitFor();
    await gate.go(`/gate/#/scan/${show.scheduleId}?gate=1`);
    await gate.page.getByText("1 tickets on this device").waitFor();
    const text = await read(gate.page, await code(ticket));
    const begunAt = Date.now();
    // No guest comes; the page's only calls are its own.
    while (Date.now() - begunAt < 70_000) await gate.page.waitForResponse(/api\/auth\/refresh/, { timeout: 40_000 });
    await type(gate.page, text);
    await admitted(gate, ticket);
    await gate.page.getByText("Online", { exact: true }).waitFor();
    assert.equal(await gate.page.locator("input[name=password]").count(), 0, "no login in between");
    assert.equal((await kept(gate))[2], 0, "the server admitted the guest, so nothing is to send");
    await gate.context.close();
  } finally {
    await strict.close();
  }
});

test("the list of a show that isn't near is not given to a device, and one that it has is deleted", async () => {
  const far = await world.show({ days: 3 });
  await world.buy(far, [0]);
  const gate = await openTab(world, { language: "en", ...PHONE });
  await enterRoom(gate, world.admin, "#/team");
  await gate.page.locator(".rows li").first().waitFor();
  await gate.go(`/gate/#/scan/${far.scheduleId}?gate=1`);
  await gate.page.getByText("from 36 hours before its start").waitFor();
  assert.deepEqual(await violations(gate.page), [], "axe on the refusal");
  assert.deepEqual(await kept(gate), [0, 0, 0]);
  await gate.context.close();

  // A show that is put off while the device has its list.
  const show = await world.show(TONIGHT);
  await world.buy(show, [0]);
  const other = await device(show, "1", 1);
  assert.deepEqual(await kept(other), [1, 1, 0]);
  const { startsAt, endsAt } = await world.admin.call("GET", `/api/schedules/${show.scheduleId}`);
  const later = (at) => new Date(Date.parse(at) + 3 * 86_400_000).toISOString();
  await world.admin.call("PATCH", `/api/admin/schedules/${show.scheduleId}`, { startsAt: later(startsAt), endsAt: later(endsAt) });
  await other.page.getByText("from 36 hours before its start").waitFor({ timeout: 40_000 });
  assert.deepEqual(await kept(other), [0, 0, 0]);
  await other.context.close();
});

test("a list whose show has no known end is deleted without a network", async () => {
  const show = await world.show(TONIGHT);
  await world.buy(show, [0]);
  const gate = await device(show, "1", 1);
  await keptPage(gate);
  await gate.context.setOffline(true);
  // As an earlier version of the page stored it, half a day ago.
  await gate.page.evaluate(async (scheduleId) => {
    const database = await new Promise((resolve) => (indexedDB.open("podo-gate").onsuccess = ({ target }) => resolve(target.result)));
    const store = database.transaction("lists", "readwrite").objectStore("lists");
    store.put({ scheduleId, cursor: "", currentAt: Date.now() - 13 * 3_600_000, endsAt: null });
    await new Promise((resolve) => (store.transaction.oncomplete = resolve));
    database.close();
  }, show.scheduleId);
  await gate.page.reload();
  await gate.page.locator("input.scan").waitFor();
  for (let tries = 0; tries < 100 && (await kept(gate))[0]; tries += 1) await gate.page.waitForTimeout(100);
  assert.deepEqual(await kept(gate), [0, 0, 0]);
  await gate.context.setOffline(false);
  await gate.context.close();
});

test("the gate is an app that a phone installs", async () => {
  const { page, context, go } = await openTab(world, { language: "en", ...PHONE });
  await go("/gate/");
  await page.locator("input[name=email]").waitFor();
  await page.evaluate(async () => (await navigator.serviceWorker.ready).active);
  await page.reload();
  await page.locator("input[name=email]").waitFor();
  const session = await context.newCDPSession(page);
  const { url, errors, data } = await session.send("Page.getAppManifest");
  assert.match(new URL(url).pathname, /\/gate\/manifest\.webmanifest$/);
  assert.deepEqual(errors, []);
  const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
  assert.deepEqual(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== "in-incognito"), []);
  const { icons } = JSON.parse(data);
  for (const size of [192, 512]) {
    const { src } = icons.find(({ type, sizes }) => type === "image/png" && sizes === `${size}x${size}`);
    const drawn = await page.evaluate(async (src) => {
      const picture = await createImageBitmap(await (await fetch(src)).blob());
      return [picture.width, picture.height];
    }, src);
    assert.deepEqual(drawn, [size, size]);
  }
  await context.close();
});

/** A call with a key of its own, as the pages make it. */
async function act(path, body) {
  const headers = { Authorization: `Bearer ${world.admin.token}`, "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() };
  const response = await fetch(world.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  assert.ok(response.ok, await response.clone().text());
  return response.json();
}

async function seatsOf(show) {
  const { sections } = await world.admin.call("GET", `/api/admin/schedules/${show.scheduleId}/layout`);
  return sections.flatMap(({ seats }) => seats);
}

test("a ticket that was moved while its gate had no network is admitted once, and the gate names the new seat", async () => {
  const show = await world.show(TONIGHT);
  const seats = await seatsOf(show);
  const setUp = await openTab(world, {});
  await setUp.go("/");
  const [ticket] = await buyAll(show, setUp, [[0]]);
  await setUp.context.close();
  const gate = await device(show, "1", 1);
  await gate.context.setOffline(true);
  const { items } = await world.admin.call("GET", `/api/admin/reservations?status=CONFIRMED&scheduleId=${show.scheduleId}`);
  await act(`/api/admin/reservations/${items[0].id}/reseat`, { moves: [{ from: seats[0].id, to: seats[7].id }], reason: "camera" });
  await type(gate.page, ticket.text);
  await admitted(gate, ticket);
  await gate.context.setOffline(false);
  const moved = gate.page.getByRole("alert").filter({ hasText: `${seats[0].number} → ${seats[7].number}` });
  await moved.waitFor({ timeout: 20_000 });
  const { admitted: n } = await world.admin.call("GET", `/api/admin/schedules/${show.scheduleId}/attendance`);
  assert.equal(n, 1);
  await gate.context.close();
});

test("the gate finds a guest of the box office by name, with and without a network", async () => {
  const show = await world.show(TONIGHT);
  const seats = await seatsOf(show);
  await act(`/api/admin/schedules/${show.scheduleId}/box-office`, { seats: [{ seatId: seats[3].id }], tender: "CASH", name: "Kim Podo" });
  const gate = await device(show, "1", 1);
  const search = gate.page.locator("details", { has: gate.page.locator("input[type=search]") });
  await search.locator("summary").click();
  for (const isOffline of [false, true]) {
    await gate.context.setOffline(isOffline);
    for (const [text, hits] of [["lee", 0], ["kim p", 1]]) {
      await search.locator("input[type=search]").fill(text);
      await gate.page.keyboard.press("Enter");
      await search.locator("li", { hasText: hits ? "Kim Podo" : "Nothing found" }).waitFor();
    }
  }
  await gate.context.setOffline(false);
  await gate.context.close();
});

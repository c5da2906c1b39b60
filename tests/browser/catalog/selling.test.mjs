// A whole sale: a member buys in the presale, and an organiser sets up such a sale from nothing by
// hand.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openWorld, pick, pressPay } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

const MEMBERS = "membershipNumber,name\nP-1,김포도\n";
const MINUTE_MS = 60_000;

/** A show with a presale for members from its opening on, a ticket type, a fee and a code. */
async function presale(opensInMs) {
  const show = await world.show({ opensInMs });
  const { schedules } = await world.admin.call("GET", `/api/admin/events/${show.eventId}`);
  const { saleStartsAt: startsAt, saleEndsAt: endsAt } = schedules[0];
  const path = `/api/admin/schedules/${show.scheduleId}`;
  const phase = { name: "팬클럽 선예매", nameEn: "Fan club presale", startsAt, endsAt, audience: "MEMBERS", seatsPerPerson: 2 };
  const { items } = await world.admin.call("PUT", `${path}/phases`, { phases: [phase] });
  await fetch(`${world.url}/api/admin/phases/${items[0].id}/members`, {
    method: "POST", headers: { Authorization: `Bearer ${world.admin.token}`, "Content-Type": "text/csv" }, body: MEMBERS });
  await world.admin.call("PUT", `${path}/price-options`, {
    ticketTypes: [{ name: "청소년", nameEn: "Youth", percent: 20, proof: "학생증", proofEn: "Student card" }],
    fees: { booking: { amount: 2_000, refund: "NEVER" } } });
  await world.admin.call("POST", `${path}/promotions`, { code: "GRAPES", percent: 10, usesMax: 5 });
  return { ...show, phaseId: items[0].id };
}

/** Proves the membership on the event page. */
async function verify({ page, words, go }, { eventId }) {
  await go(`/#/events/${eventId}`);
  await page.locator(".phases form input").first().fill("p1");
  await page.locator(".phases form input").nth(1).fill("김 포도");
  await page.getByRole("button", { name: words.phaseVerify }).click();
  await page.locator(".badge", { hasText: words.phaseVerified }).waitFor();
}

/** Through the lobby and its draw to the seats, without another word. */
async function toSeats(fan, show) {
  await fan.join(show);
  await fan.page.locator(".hero").first().waitFor();
  await fan.page.locator("seat-map canvas").first().waitFor({ timeout: 180_000 });
  await fan.page.locator(".chip em").first().filter({ hasText: /\d/ }).waitFor();
}

/** Chooses a seat, the type and the code, and pays; returns what the order cost at each step. */
async function buy({ page, words }, seat, code) {
  await pick(page, seat);
  await page.getByRole("button", { name: words.hold, exact: true }).click();
  const total = page.locator(".order .sum b");
  const won = async () => Number((await total.textContent()).replace(/\D/g, ""));
  await total.waitFor();
  const costs = [await won()];
  const changed = async () => {
    await page.waitForFunction(([selector, last]) => Number(document.querySelector(selector)?.textContent.replace(/\D/g, "")) !== last, [".order .sum b", costs.at(-1)]);
    costs.push(await won());
  };
  await page.locator(".order select").first().selectOption("1");
  await changed();
  const field = page.getByLabel(words.promoCode);
  if (!(await field.isVisible())) await page.getByText(words.promoHave).click();
  await field.fill(code);
  await page.getByRole("button", { name: words.promoApply }).click();
  await changed();
  await page.locator("input[value=CARD]").check();
  await pressPay(page);
  await page.locator("[aria-describedby=how-APPROVE]").click();
  await page.getByRole("heading", { name: words.paidTitle }).waitFor();
  return costs;
}

for (const [language, width] of [["ko", 390], ["en", 1280]]) {
  test(`a member verifies, waits in the lobby, is drawn, chooses seat, type and code, pays and has a ticket (${language}, ${width})`, async () => {
    const show = await presale(20_000);
    const fan = await world.fan({ language, width });
    await verify(fan, show);
    await toSeats(fan, show);
    const { seed } = await world.admin.call("GET", `/api/queue/${show.phaseId}/draw`);
    assert.match(seed, /^[0-9a-f]{64}$/, "the lobby was drawn");
    // 150,000 with a fee of 2,000; a fifth less for a youth; a tenth less with the code.
    assert.deepEqual(await buy(fan, 3, "gra-pes"), [152_000, 122_000, 110_000]);
    await fan.go("/#/tickets");
    const ticket = fan.page.locator("li.ticket", { hasText: language === "en" ? "Youth" : "청소년" });
    await ticket.locator(".code svg").waitFor();
    await fan.context.close();
  });
}

test("an organiser sets up a whole sale by hand from an empty system, and a member buys", async () => {
  const empty = await openWorld();
  try {
    const { page, context } = await empty.room("#/events/new");
    const opensAt = await makeConcert(page);
    await page.getByRole("link", { name: "Sale phases" }).click();
    await addPresale(page);
    await page.getByRole("link", { name: "To the event" }).click();
    await page.getByRole("link", { name: "Prices, types and codes" }).click();
    await setPrices(page);
    await page.getByRole("link", { name: "To the event" }).click();
    await page.getByRole("link", { name: "Kept seats" }).click();
    const kept = await keepSeats(page);
    assert.ok(Date.now() < opensAt, "everything is ready before the opening");
    const { items } = await empty.admin.call("GET", "/api/admin/events");
    const eventId = items[0].id;
    const { schedules } = await empty.admin.call("GET", `/api/admin/events/${eventId}`);
    await context.close();

    const fan = await empty.fan({ language: "en", width: 1280 });
    const show = { eventId, scheduleId: schedules[0].id };
    await verify(fan, show);
    await toSeats(fan, show);
    const letters = await fan.page.evaluate(() => [...document.querySelector("seat-map").status]);
    assert.ok(kept.every((i) => letters[i] !== 0), "kept seats aren't for sale");
    const costs = await buy(fan, letters.indexOf(0, kept[1]), "GRAPES-10");
    const { fees, ticketTypes } = await empty.admin.call("GET", `/api/admin/schedules/${show.scheduleId}/price-options`);
    assert.deepEqual([fees.booking.amount, ticketTypes[0].percent], [2_000, 20]);
    const list = costs[0] - 2_000;
    assert.deepEqual(costs.slice(1), [list * 0.8 + 2_000, list * 0.8 * 0.9 + 2_000]);
    await fan.go("/#/tickets");
    await fan.page.locator("li.ticket", { hasText: "Youth" }).locator(".code svg").waitFor();
    await fan.context.close();
  } finally {
    await empty.close();
  }
});

/** Hall, concert and date in the wizard; returns the moment at which the sale opens. */
async function makeConcert(page) {
  await page.locator("input[name=title]").fill("First night");
  await page.locator("input[name=artist]").fill("The Grapes");
  await page.getByRole("button", { name: "Next" }).click();
  for (const [name, value] of [["name", "Vineyard"], ["address", "Road 3"], ["city", "Seoul"], ["hall", "Big hall"]]) {
    await page.locator(`input[name=${name}]`).fill(value);
  }
  await page.getByRole("button", { name: "Next" }).click();
  await page.locator("input[name=saleStartsAt]").waitFor();
  // The field has minutes, in Korean time.
  const opensAt = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + 2 * MINUTE_MS;
  await page.locator("input[name=saleStartsAt]").fill(new Date(opensAt + 9 * 60 * MINUTE_MS).toISOString().slice(0, 16));
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByText("Vineyard · Big hall").waitFor();
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "First night" }).waitFor();
  return opensAt;
}

async function addPresale(page) {
  await page.getByRole("button", { name: "Add a phase" }).click();
  await page.locator("input[name=name]").fill("팬클럽 선예매");
  await page.locator("input[name=nameEn]").fill("Fan club presale");
  await page.locator("select[name=audience]").selectOption("MEMBERS");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "팬클럽 선예매" }).waitFor();
  await page.locator("input[type=file]").setInputFiles({ name: "members.csv", mimeType: "text/csv", buffer: Buffer.from(MEMBERS) });
  await page.getByRole("button", { name: "Upload the list" }).click();
  await page.getByText("1 lines read: 1 new").waitFor();
}

async function setPrices(page) {
  await page.getByRole("button", { name: "Add a ticket type" }).click();
  const type = page.locator("fieldset", { hasText: "New ticket type" });
  await type.locator("input[name=name]").fill("청소년");
  await type.locator("input[name=nameEn]").fill("Youth");
  await type.locator("input[name=value]").fill("20");
  await page.locator("fieldset", { hasText: "Booking fee per ticket" }).locator("input[name=amount]").fill("2000");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("legend", { hasText: "청소년" }).waitFor();
  const form = page.getByRole("form", { name: "Add the code" });
  await form.locator("input[name=code]").fill("grapes-10");
  await form.getByRole("button", { name: "Add the code" }).click();
  await page.getByText("GRAPES10").waitFor();
}

/** Keeps two seats of a block on the map. */
async function keepSeats(page) {
  await page.locator("seat-map[drawn]").waitFor();
  const first = await page.evaluate(() => document.querySelector("seat-map").plan.sections.find((it) => !it.isStanding && 10 < it.count).first);
  const kept = [first + 4, first + 5];
  for (const seat of kept) await pick(page, seat);
  await page.getByText("2 seats selected", { exact: true }).first().waitFor();
  const form = page.getByRole("form", { name: "Create allocation" });
  await form.getByLabel("Name").fill("Friends");
  await form.getByRole("button", { name: "Create allocation" }).click();
  await page.getByText("2 kept · 0 with an order").waitFor();
  return kept;
}

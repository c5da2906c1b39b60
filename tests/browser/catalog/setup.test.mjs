// The steps after a concert was created: how it is sold and what it costs whom, and what another date
// or a copy takes along.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { openWorld } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

const phasesOf = async (id) => (await world.admin.call("GET", `/api/admin/schedules/${id}/phases`)).items;
const optionsOf = (id) => world.admin.call("GET", `/api/admin/schedules/${id}/price-options`);
const eventOf = async (title) => {
  const { items } = await world.admin.call("GET", "/api/admin/events?limit=50");
  return world.admin.call("GET", `/api/admin/events/${items.find((it) => it.title === title).id}`);
};

for (const [device, options, words] of [
  ["a desktop in English", { width: 1440, height: 1000, language: "en" }, { next: "Next", create: "Create", setup: "Then set up phases", preset: "Fan-club presale, then general sale", save: "Save", addType: "Add a ticket type", finish: "Finish", upload: "Upload the list" }],
  ["a phone in Korean", { width: 390, height: 844, language: "ko" }, { next: "다음", create: "만들기", setup: "이어서 판매 단계", preset: "팬클럽 선예매 후 일반예매", save: "저장", addType: "권종 추가", finish: "마치기", upload: "명단 올리기" }],
]) {
  test(`a concert is created and its sale is set up, on ${device}`, async () => {
    await world.show();
    const title = `Set up on ${device}`;
    const { page, context } = await world.room("#/events/new", options);
    const button = (name) => page.getByRole("button", { name, exact: true });
    await page.locator("input[name=title]").fill(title);
    await page.locator("input[name=artist]").fill("The Grapes");
    for (let step = 0; step < 3; step += 1) await button(words.next).click();
    await page.getByText(words.setup).click();
    await button(words.create).click();

    await button(words.preset).click();
    const boxes = page.locator("fieldset[data-id], fieldset:has(select[name=audience])");
    assert.equal(await boxes.count(), 2);
    await page.locator("input[name=seatsPerPerson]").first().fill("49");
    await button(words.save).click();
    await page.locator("[role=alert]", { hasText: "phases[0].seatsPerPerson" }).waitFor();
    assert.equal(await page.locator("input[name=seatsPerPerson]").first().inputValue(), "49", "what was typed stays");
    await page.locator("input[name=seatsPerPerson]").first().fill("2");
    await button(words.next).click();
    await page.locator("[role=alert]").last().waitFor();
    await button(words.save).click();
    await button(words.upload).waitFor();
    assert.deepEqual(await violations(page), [], "axe on the phases");
    await shot(page, `setup-phases-${options.width}`);
    await button(words.next).click();

    await button(words.addType).click();
    await page.locator("input[name=name]").fill("청소년");
    await page.locator("input[name=nameEn]").fill("Youth");
    await page.locator("form:has(input[name=nameEn])").getByRole("button", { name: words.save, exact: true }).click();
    await page.locator("legend", { hasText: "청소년" }).waitFor();
    assert.deepEqual(await violations(page), [], "axe on the prices");
    await shot(page, `setup-prices-${options.width}`);
    await button(words.finish).click();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();

    const event = await eventOf(title);
    assert.equal(event.status, "OPEN", "published at the end");
    const phases = await phasesOf(event.schedules[0].id);
    assert.deepEqual(phases.map((it) => it.audience), ["MEMBERS", "EVERYBODY"]);
    assert.equal(phases[0].endsAt, phases[1].startsAt);
    assert.equal((await optionsOf(event.schedules[0].id)).ticketTypes[0].nameEn, "Youth");
    await context.close();
  });
}

test("another date and a copy take phases, draws, types and fees along, moved with the opening", async () => {
  const show = await world.show({ opensInMs: 86_400_000, title: "Taken along" });
  const { schedules: [first] } = await world.admin.call("GET", `/api/admin/events/${show.eventId}`);
  const at = (time, ms) => new Date(Date.parse(time) + ms).toISOString();
  const hour = 3_600_000;
  const phase = (name, audience, startsAt, endsAt) => ({ name, nameEn: name, audience, startsAt, endsAt, seatsPerPerson: 2 });
  const { items } = await world.admin.call("PUT", `/api/admin/schedules/${first.id}/phases`, { phases: [
    phase("Draw", "DRAWN", first.saleStartsAt, at(first.saleStartsAt, hour)),
    phase("General", "EVERYBODY", at(first.saleStartsAt, 2 * hour), first.saleEndsAt),
  ] });
  await world.admin.call("PUT", `/api/admin/phases/${items[0].id}/draw`, {
    applyFrom: at(first.saleStartsAt, -2 * hour), applyUntil: at(first.saleStartsAt, -hour), seatsMax: 2, offerMinutes: 60, quantities: { VIP: 3 } });
  await world.admin.call("PUT", `/api/admin/schedules/${first.id}/price-options`, {
    ticketTypes: [{ name: "청소년", nameEn: "Youth", percent: 10 }], fees: { booking: { amount: 2_000, refund: "NEVER" } } });

  const check = async (date) => {
    const phases = await phasesOf(date.id);
    const shift = Date.parse(date.saleStartsAt) - Date.parse(first.saleStartsAt);
    assert.deepEqual(phases.map((it) => it.name), ["Draw", "General"]);
    assert.equal(Date.parse(phases[1].startsAt), Date.parse(first.saleStartsAt) + 2 * hour + shift);
    assert.equal(phases[1].endsAt, date.saleEndsAt, "until the end of the new sale");
    assert.deepEqual(phases[0].draw.quantities, { VIP: 3 });
    assert.equal(Date.parse(phases[0].draw.applyUntil), Date.parse(first.saleStartsAt) - hour + shift);
    const { ticketTypes, fees } = await optionsOf(date.id);
    assert.equal(ticketTypes[0].percent, 10);
    assert.equal(fees.booking.amount, 2_000);
  };

  const { page, context, go } = await world.room(`#/events/${show.eventId}`);
  await page.getByRole("button", { name: "Add a date" }).click();
  const dialog = page.locator("dialog");
  await dialog.getByText("Take its sale phases").click();
  await dialog.getByRole("button", { name: "Add a date" }).click();
  await page.locator("tbody tr").nth(1).waitFor();
  const { schedules } = await world.admin.call("GET", `/api/admin/events/${show.eventId}`);
  await check(schedules[1]);

  await go(`/admin#/events/new?from=${show.eventId}`);
  await page.locator("input[name=title]").fill("The copy");
  for (let step = 0; step < 3; step += 1) await page.getByRole("button", { name: "Next" }).click();
  assert.ok(await page.getByText("Take its sale phases").isVisible());
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "The copy" }).waitFor();
  await check((await eventOf("The copy")).schedules[0]);
  await context.close();
});

/** Pictures for those who want to look: `SHOTS` names their folder. */
async function shot(page, name) {
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png`, fullPage: true });
}

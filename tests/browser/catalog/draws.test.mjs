// Draw sales: an organiser sets one up by hand, fans apply, and a winner buys what is held for them.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openWorld, pressPay } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

/** A show whose sale opens in `opensInMs`, with a phase for winners of a draw from then on. */
async function drawn(opensInMs) {
  const show = await world.show({ opensInMs });
  const { schedules } = await world.admin.call("GET", `/api/admin/events/${show.eventId}`);
  const { saleStartsAt: startsAt, saleEndsAt: endsAt } = schedules[0];
  const phase = { name: "팬클럽 추첨", nameEn: "Fan club draw", startsAt, endsAt, audience: "DRAWN", seatsPerPerson: 2 };
  const { items } = await world.admin.call("PUT", `/api/admin/schedules/${show.scheduleId}/phases`, { phases: [phase] });
  return { show, phase: items[0] };
}

/** Fans can apply at once, until `applyMs` from now. */
function setDraw(phase, applyMs, quantities) {
  const at = (ms) => new Date(Date.now() + ms).toISOString();
  return world.admin.call("PUT", `/api/admin/phases/${phase.id}/draw`, {
    applyFrom: at(-1_000), applyUntil: at(applyMs), seatsMax: 2, offerMinutes: 60, quantities });
}

test("an organiser sets up a draw and sees the applications", async () => {
  const { show, phase } = await drawn(3_600_000);
  const { page, context } = await world.room(`#/schedules/${show.scheduleId}/phases?event=${show.eventId}`);
  const form = page.getByRole("form", { name: "팬클럽 추첨: Draw" });
  await form.locator("input[name=seatsMax]").fill("3");
  await form.locator("input[data-grade=VIP]").fill("4");
  await form.getByRole("button", { name: "Save the draw" }).click();
  await form.locator("[role=alert]", { hasText: "seatsMax" }).waitFor();
  await form.locator("input[name=seatsMax]").fill("2");
  await form.getByRole("button", { name: "Save the draw" }).click();
  await page.getByText("0 applications so far").waitFor();
  const draw = await world.admin.call("GET", `/api/booking/draws/${phase.id}`);
  assert.deepEqual([draw.quantities, draw.seatsMax, draw.offerMinutes], [{ VIP: 4 }, 2, 1_440]);
  assert.equal(draw.seed, undefined, "secret until the draw");

  const fan = await world.fan();
  await fan.go(`/#/events/${show.eventId}`);
  await fan.page.getByRole("button", { name: fan.words.drawApply }).click();
  await fan.page.locator(".draw [role=status]", { hasText: fan.words.drawAPPLIED }).waitFor();
  await fan.page.getByRole("button", { name: fan.words.drawWithdraw }).click();
  await fan.page.locator(".draw [role=status]", { hasText: fan.words.drawWITHDRAWN }).waitFor();
  await fan.page.getByRole("button", { name: fan.words.drawApply }).click();
  await fan.page.locator(".draw [role=status]", { hasText: fan.words.drawAPPLIED }).waitFor();
  await fan.context.close();
  await page.reload();
  await page.getByText("1 applications so far").waitFor();
  await page.getByRole("row", { name: "VIP 4 1 1" }).waitFor();
  await context.close();
});

for (const [language, width] of [["ko", 390], ["en", 1280]]) {
  test(`a fan applies, changes the application, wins and buys (${language}, ${width})`, async () => {
    const { show, phase } = await drawn(25_000);
    const fan = await world.fan({ language, width });
    await setDraw(phase, 20_000, { VIP: 2 });
    const { page, words } = fan;
    await fan.go(`/#/events/${show.eventId}`);
    await page.getByRole("button", { name: words.drawApply }).click();
    const status = page.locator(".draw [role=status]");
    await status.filter({ hasText: words.seatCount(1) }).waitFor();
    await page.locator(".draw select[name=count]").selectOption("2");
    await page.getByRole("button", { name: words.drawChange }).click();
    await status.filter({ hasText: words.seatCount(2) }).waitFor();
    await fan.go(`/#/queue/${show.scheduleId}`);
    await page.getByRole("button", { name: words.joinQueue }).click();
    await page.getByText(words.drawOnlyWords).waitFor();
    await page.getByRole("link", { name: words.toEvent }).click();
    // The page finds out by itself.
    await status.filter({ hasText: words.drawWon }).waitFor({ timeout: 40_000 });
    await status.filter({ hasText: words.drawOFFERED }).waitFor({ timeout: 40_000 });
    await page.getByText(words.drawProof).click();
    await page.locator(".draw code").nth(1).filter({ hasText: /^[0-9a-f]{64}$/ }).waitFor();
    await page.locator(".draw a[href^='#/checkout/']").click();
    await page.locator("form button.primary").waitFor();
    await page.locator("input[value=CARD]").check();
    await pressPay(page);
    await page.locator("[aria-describedby=how-APPROVE]").click();
    await page.getByRole("heading", { name: words.paidTitle }).waitFor();
    await fan.go(`/#/events/${show.eventId}`);
    await status.filter({ hasText: words.drawTAKEN }).waitFor({ timeout: 20_000 });
    await fan.context.close();
  });
}

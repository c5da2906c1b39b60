// Ticket types, fees and promotion codes: an organiser sets them up by hand, and a fan uses them at
// checkout.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openWorld, pick, pressPay } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

const OPTIONS = {
  ticketTypes: [{ name: "청소년", nameEn: "Youth", percent: 20, proof: "학생증", proofEn: "Student card" }],
  fees: { booking: { amount: 2_000, refund: "NEVER" }, order: { amount: 3_000, refund: "ALWAYS" } },
};

/** A show with a type, fees and these codes. */
async function priced(...codes) {
  const show = await world.show();
  const path = `/api/admin/schedules/${show.scheduleId}`;
  await world.admin.call("PUT", `${path}/price-options`, OPTIONS);
  for (const code of codes) await world.admin.call("POST", `${path}/promotions`, code);
  return show;
}

async function toCheckout(fan, show, seats) {
  await fan.enter(show);
  for (const seat of seats) await pick(fan.page, seat);
  await fan.page.locator(".fee-note").waitFor();
  await fan.page.getByRole("button", { name: fan.words.hold, exact: true }).click();
  await fan.page.waitForURL(/#\/checkout\//);
  await fan.page.locator("form button.primary").waitFor();
}

async function useCode({ page, words }, code) {
  const field = page.getByLabel(words.promoCode);
  if (!(await field.isVisible())) await page.getByText(words.promoHave).click();
  await field.fill(code);
  await page.getByRole("button", { name: words.promoApply }).click();
}

test("an organiser sets up a type, a fee and a code by hand", async () => {
  const show = await world.show({ opensInMs: 3_600_000 });
  const { page, context } = await world.room(`#/events/${show.eventId}`);
  await page.getByRole("link", { name: "Prices, types and codes" }).click();
  await page.getByRole("heading", { name: "Prices, types and codes", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Add a ticket type" }).click();
  const type = page.locator("fieldset", { hasText: "New ticket type" });
  await type.locator("input[name=name]").fill("청소년");
  await type.locator("input[name=nameEn]").fill("Youth");
  await type.locator("input[name=value]").fill("101");
  await page.locator("fieldset", { hasText: "Booking fee per ticket" }).locator("input[name=amount]").fill("2000");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("[role=alert]", { hasText: "ticketTypes[0].percent" }).waitFor();
  await type.locator("input[name=value]").fill("20");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("legend", { hasText: "청소년" }).waitFor();
  const prices = page.getByRole("form", { name: "Change prices" });
  await prices.locator("input[name^='price ']").first().fill("123000");
  await page.getByRole("button", { name: "Change prices" }).click();
  await page.getByRole("cell", { name: "₩123,000" }).waitFor();
  const form = page.getByRole("form", { name: "Add the code" });
  await form.locator("input[name=code]").fill("grapes-10");
  await page.getByRole("button", { name: "Add the code" }).click();
  await page.getByText("GRAPES10").waitFor();
  await page.getByText("0 of 100").waitFor();
  const { ticketTypes, fees } = await world.admin.call("GET", `/api/admin/schedules/${show.scheduleId}/price-options`);
  assert.deepEqual([ticketTypes[0].percent, fees.booking.amount, fees.order], [20, 2_000, undefined]);
  await page.getByRole("button", { name: "Delete" }).last().click();
  await page.getByText("No promotion codes yet.").waitFor();
  await context.close();
});

for (const [language, width] of [["en", 1280], ["ko", 390]]) {
  test(`a fan chooses a type and a code, pays the sum and gets a ticket with the proof (${language}, ${width})`, async () => {
    const show = await priced({ code: "GRAPES", percent: 10, usesMax: 5 });
    const fan = await world.fan({ language, width });
    const { page, words } = fan;
    await toCheckout(fan, show, [3, 4]);
    const total = page.locator(".order .sum b");
    const won = (amount) => (language === "en" ? `₩${amount}` : `${amount}원`);
    await total.filter({ hasText: won("307,000") }).waitFor();
    await page.locator(".order select").nth(1).selectOption("1");
    await total.filter({ hasText: won("277,000") }).waitFor();
    await useCode(fan, "NONE");
    await page.locator(".order [role=alert]").filter({ hasText: /./ }).waitFor();
    await total.filter({ hasText: won("277,000") }).waitFor();
    await useCode(fan, "gra-pes");
    await total.filter({ hasText: won("250,000") }).waitFor();
    await page.locator(".order li", { hasText: words.lineCODE_DISCOUNT("GRAPES") }).filter({ hasText: `−${won("27,000")}` }).waitFor();
    await page.reload();
    await total.filter({ hasText: won("250,000") }).waitFor();
    assert.equal(await page.locator(".order select").nth(1).inputValue(), "1", "the choice is kept");
    await pressPay(page);
    await page.locator("[aria-describedby=how-APPROVE]").click();
    await page.getByRole("heading", { name: words.paidTitle }).waitFor();
    await page.locator(".stub-card", { hasText: words.lineBOOKING_FEE }).waitFor();
    await fan.go("/#/tickets");
    const youth = page.locator("li.ticket", { hasText: language === "en" ? "Youth" : "청소년" });
    await youth.getByRole("link", { name: words.ticketFull }).click();
    await page.getByText(words.proofBring(language === "en" ? "Student card" : "학생증")).waitFor();
    await fan.context.close();
  });
}

test("a free order is confirmed without a gateway", async () => {
  const show = await priced({ code: "FREE", percent: 100, usesMax: 1 });
  const fan = await world.fan({ language: "en" });
  const { page, words } = fan;
  await toCheckout(fan, show, [5]);
  await useCode(fan, "FREE");
  const pay = page.getByRole("button", { name: words.payFree });
  await pay.waitFor();
  assert.ok(await page.locator("fieldset", { hasText: words.howToPay }).isHidden());
  await page.locator("input[name=terms]").check();
  await pay.click();
  await page.getByRole("heading", { name: words.paidTitle }).waitFor();
  await fan.context.close();
});

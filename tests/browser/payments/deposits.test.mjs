// A virtual account: where to pay and until when, paying at the practice bank, giving an order up, and
// the bank account for a refund.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openWorld, pick, pressPay } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

async function toAccount(fan, show, seat) {
  const { page, words } = fan;
  await fan.enter(show);
  await pick(page, seat);
  await page.getByRole("button", { name: words.hold, exact: true }).click();
  await page.waitForURL(/#\/checkout\//);
  await page.locator("input[value=VIRTUAL_ACCOUNT]").check();
  await pressPay(page);
  await page.locator("[aria-describedby=how-APPROVE]").click();
  await page.getByRole("heading", { name: words.depositTitle }).waitFor();
}

async function showWithAccounts() {
  const show = await world.show();
  await world.admin.call("PATCH", `/api/admin/events/${show.eventId}`, { paymentMethods: ["CARD", "VIRTUAL_ACCOUNT"], depositDeadline: { hours: 3 } });
  return show;
}

test("a fan gets an account, pays a part and the rest, and has the ticket", async () => {
  const fan = await world.fan({ language: "en" });
  const { page, words } = fan;
  await toAccount(fan, await showWithAccounts(), 3);
  await page.getByText(words.bankSHINHAN, { exact: true }).waitFor();
  await page.getByText("₩150,000").first().waitFor();
  assert.match(await page.locator(".deposit").innerText(), /562\d{11}/);
  await page.getByRole("timer").filter({ hasText: /\d/ }).waitFor();

  // The account is found again on the page of the fan's bookings.
  await page.getByRole("link", { name: words.depositLater }).click();
  await page.getByRole("link", { name: words.depositView }).click();
  await page.getByRole("link", { name: words.depositPractice }).click();
  await page.locator("[aria-describedby=how-SHORT]").click();
  await page.getByText("The money is on the account.").waitFor();
  await page.locator("[aria-describedby=how-REST]").click();
  await page.waitForTimeout(500);
  await page.getByRole("link", { name: "Back to podo" }).click();
  await page.getByRole("heading", { name: words.paidTitle }).waitFor();

  // What is canceled goes back to an account that the fan gives.
  await page.getByRole("link", { name: words.myTickets }).first().click();
  await page.getByRole("button", { name: words.cancelReservation }).click();
  await page.getByRole("button", { name: words.cancelYes }).click();
  await page.getByRole("button", { name: words.fine }).click();
  await page.getByRole("heading", { name: words.refundAccountTitle }).waitFor();
  await page.locator("select[name=bank]").selectOption("KAKAO");
  await page.locator("input[name=number]").fill("12");
  await page.locator("input[name=holder]").fill("Kim Podo");
  await page.getByRole("button", { name: words.refundAccountSave }).click();
  await page.getByRole("alert").filter({ hasText: /8 to 16 digits/ }).waitFor();
  await page.locator("input[name=number]").fill("3333-01-1234567");
  await page.getByRole("button", { name: words.refundAccountSave }).click();
  await page.getByText(words.refundAccountKnown(words.bankKAKAO, "4567", "Kim Podo")).waitFor();
  await fan.context.close();
});

test("a fan gives an order up before paying", async () => {
  const fan = await world.fan();
  const { page, words } = fan;
  const show = await showWithAccounts();
  await toAccount(fan, show, 4);
  await page.getByRole("button", { name: words.depositCancel }).click();
  await page.getByRole("dialog").getByRole("button", { name: words.depositCancel }).click();
  await page.waitForURL(/#\/me/);
  await page.getByText(words.bookingCANCELED, { exact: true }).waitFor({ state: "attached" });
  await fan.context.close();
});

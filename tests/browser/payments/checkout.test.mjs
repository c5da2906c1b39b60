// Checkout and what follows: the method, the terms, the time, a decline, and the booking.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openWorld, pick, pressPay, read } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

async function toCheckout(fan, show, seats) {
  await fan.enter(show);
  for (const seat of seats) await pick(fan.page, seat);
  await fan.page.getByRole("button", { name: fan.words.hold, exact: true }).click();
  await fan.page.waitForURL(/#\/checkout\//);
  await fan.page.locator("form button.primary").waitFor();
}

test("a new fan pays by card, after the terms, and a decline says why", async () => {
  const show = await world.show();
  const steps = [{ daysBefore: 9, feePercent: 10 }, { daysBefore: 1, feePercent: 30 }];
  await world.admin.call("PUT", `/api/admin/events/${show.eventId}/refund-policy`, { steps });
  const fan = await world.fan({ language: "en" });
  const { page, words } = fan;
  await toCheckout(fan, show, [3]);
  assert.ok(await page.locator("input[value=CARD]").isChecked(), "never a wallet that can't pay");
  assert.ok(await page.locator("input[value=WALLET]").isDisabled());
  await page.getByText(words.walletShort("₩0", "₩150,000")).waitFor();
  assert.equal(await page.locator(".terms tbody tr").count(), 4, "the cancellation table, with dates");
  const pay = page.getByRole("button", { name: words.payCARD("₩150,000") });
  await pay.click();
  await page.getByText(words.termsMissing).waitFor();
  assert.ok(await page.locator("input[name=terms]").evaluate((it) => it === document.activeElement));

  await pressPay(page);
  await page.locator("[aria-describedby=how-DECLINE]").click();
  await page.getByRole("heading", { name: words.declined }).waitFor();
  await page.getByText(words.declineOther).waitFor();
  await page.getByRole("link", { name: words.backToCheckout }).click();
  await page.getByRole("alert").filter({ hasText: words.declineOther }).waitFor();
  assert.ok(await page.locator("input[value=CARD]").isChecked(), "a retry keeps the method");
  await fan.context.close();
});

test("the last method that worked is chosen, unless the wallet is too small", async () => {
  const show = await world.show();
  const fan = await world.fan();
  const { page, words } = fan;
  await toCheckout(fan, show, [5]);
  await page.getByRole("button", { name: words.chargeWallet("150,000원") }).click();
  await page.locator("input[value=WALLET]:checked").waitFor();
  await pressPay(page);
  await page.getByRole("heading", { name: words.paidTitle }).waitFor();
  await toCheckout(fan, show, [6]);
  assert.ok(await page.locator("input[value=CARD]").isChecked());
  await page.getByRole("button", { name: words.chargeWallet("150,000원") }).click();
  await page.locator("input[value=WALLET]:checked").waitFor();
  await page.reload();
  await page.locator("input[value=WALLET]:checked").waitFor();
  await page.getByText(words.methodLast).waitFor();
  await fan.context.close();
});

test("an organiser chooses the methods, and checkout shows and remembers only those", async () => {
  const show = await world.show();
  const room = await world.room(`#/events/${show.eventId}`);
  await room.page.getByRole("button", { name: "Edit" }).first().click();
  const dialog = room.page.getByRole("dialog");
  const methods = dialog.locator("fieldset", { hasText: "Payment methods" });
  await methods.getByLabel("Card").uncheck();
  await methods.getByLabel("Wallet").uncheck();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("alert").filter({ hasText: /./ }).waitFor();
  await methods.getByLabel("Kakao Pay").check();
  await methods.getByLabel("Wallet").check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });

  const fan = await world.fan({ language: "en" });
  const { page, words } = fan;
  await toCheckout(fan, show, [3]);
  const values = () => page.locator("input[name=method]").evaluateAll((all) => all.map((it) => it.value));
  assert.deepEqual(await values(), ["KAKAO_PAY", "WALLET"]);
  assert.ok(await page.locator("input[value=KAKAO_PAY]").isChecked(), "never a wallet that can't pay");
  await page.getByRole("button", { name: words.payKAKAO_PAY("₩150,000") }).waitFor();
  await pressPay(page);
  await page.waitForURL(/\/pay\/sandbox/);
  await page.getByText(words.methodKAKAO_PAY, { exact: true }).waitFor();
  await page.locator("[aria-describedby=how-APPROVE]").click();
  await page.getByRole("heading", { name: words.paidTitle }).waitFor();
  await toCheckout(fan, show, [4]);
  await page.getByText(words.methodLast).waitFor();
  assert.ok(await page.locator("input[value=KAKAO_PAY]").isChecked());

  // What isn't offered any more is neither shown nor chosen.
  await world.admin.call("PATCH", `/api/admin/events/${show.eventId}`, { paymentMethods: ["TRANSFER"] });
  await page.waitForTimeout(2_500);
  await page.reload();
  await page.locator("input[value=TRANSFER]:checked").waitFor();
  assert.deepEqual(await values(), ["TRANSFER"]);
  await room.context.close();
  await fan.context.close();
});

test("the booking shows the concert, the seats, its number and what comes next", async () => {
  const show = await world.show({ title: "여름의 끝", artist: "청포도", venue: "포도 아레나" });
  const fan = await world.fan();
  const { page, words } = fan;
  await toCheckout(fan, show, [3, 4]);
  await pressPay(page);
  await page.locator("[aria-describedby=how-LATE]").click();
  await page.getByRole("heading", { name: "예매 완료! 청포도를 만나러 가요" }).waitFor({ timeout: 60_000 });
  await page.locator(".number b").filter({ hasText: /\S{6,}/ }).waitFor();
  await page.getByRole("heading", { name: "여름의 끝" }).waitFor();
  assert.deepEqual(await page.locator(".stub-card li b").allTextContents(), [words.seatName("101-1-4"), words.seatName("101-1-5")]);
  await page.getByText(words.nextGate).waitFor();
  await page.getByRole("button", { name: words.calendar }).waitFor();

  await page.getByRole("link", { name: words.receipt }).click();
  await page.getByRole("heading", { level: 1, name: words.receipt }).waitFor();
  const receipt = page.locator(".receipt");
  await receipt.getByText(words.receiptVat).waitFor();
  assert.equal(await receipt.locator(".sum b").textContent(), "300,000원");
  assert.equal(await receipt.locator(".figures dd").last().textContent(), "27,273원");
  await receipt.getByText(words.methodCARD).waitFor();
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: words.receiptPdf }).click()]);
  assert.match(saved.suggestedFilename(), /\.pdf$/);
  await page.emulateMedia({ media: "print" });
  assert.ok(await page.locator(".no-print").first().isHidden(), "paper has no buttons");
  await page.emulateMedia({ media: "screen" });

  await page.goto(`${world.url}/#/me`);
  await page.getByRole("heading", { level: 1, name: words.nextShow("김포도") }).waitFor();
  await page.locator(".next-show").getByRole("heading", { name: "여름의 끝" }).waitFor();
  const [bookings, wallet] = [await page.locator(".bookings").first().boundingBox(), await page.locator("input[name=phone]").boundingBox()];
  assert.ok(bookings.y < wallet.y + 400 && bookings.x < wallet.x, "bookings come before the settings");
  await page.getByRole("link", { name: words.openTickets }).click();
  await page.locator(".code svg").nth(1).waitFor();
  await fan.context.close();
});

test("a used ticket stays readable", async () => {
  const show = await world.show();
  const { account, tickets: [ticket], code } = await world.buy(show, [0]);
  const { page, words, go, context } = await world.open();
  await go("/#/");
  const text = await read(page, await code(ticket));
  await world.admin.call("POST", "/api/admin/checkin", { code: text, scheduleId: show.scheduleId, gate: "1" });
  await go(`/#/login?next=${encodeURIComponent("#/tickets")}`);
  await page.locator("input[name=email]").fill(account.email);
  await page.locator("input[name=password]").fill(account.password);
  await page.locator("form button.primary").click();
  await page.locator(".ticket .badge", { hasText: words.ticketUsed }).waitFor();
  const line = await page.locator(".ticket b").first().evaluate((it) => getComputedStyle(it).textDecorationLine);
  assert.equal(line, "none");
  await context.close();
});

test("the timer turns urgent, and the end stops the payment and shows a way back", async () => {
  const hasty = await openWorld({ env: { PODO_HOLD_SECONDS: "34" } });
  try {
    const show = await hasty.show();
    const fan = await hasty.fan({ language: "en" });
    const { page, words } = fan;
    await toCheckout(fan, show, [8]);
    await page.locator(".timer.soon").waitFor();
    await page.locator(".timer.urgent").waitFor({ timeout: 20_000 });
    const clock = await page.locator(".timer.urgent b").textContent();
    assert.ok(clock <= "00:30", `red from half a minute on: ${clock}`);
    await page.waitForFunction(() => document.querySelector(".timer.over") && document.querySelector("form button.primary").disabled, null, { polling: 50, timeout: 40_000 });
    await page.getByRole("link", { name: words.chooseAgain }).first().click();
    await page.waitForURL(/#\/(seats|queue)\//);
  } finally {
    await hasty.close();
  }
});

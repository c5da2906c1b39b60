// Support: a search, a person's page, a booking's page with its timeline, notes, and the confirmation
// again.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { openWorld } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

/** Waits until the job has made the fan's name searchable; other fans may have the same. */
async function nameIsFound(name, fan) {
  for (let tries = 0; tries < 100; tries += 1) {
    const { people } = await world.admin.call("GET", `/api/admin/support/search?${new URLSearchParams({ query: name })}`);
    if (people.some(({ id }) => id === fan)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${name} is not found`);
}

const WORDS = {
  ko: { find: "찾기", payment: "결제", noteAdd: "메모 남기기", resend: "예매 확인 다시 보내기", resent: "예매 확인" },
  en: { find: "Search", payment: "Payment", noteAdd: "Add note", resend: "Send the confirmation again", resent: "Confirmation" },
};

for (const options of [{ language: "ko", width: 1440 }, { language: "en", width: 390, height: 844 }]) {
  test(`support finds a fan and tells what happened (${options.language}, ${options.width})`, async () => {
    const show = await world.show();
    await world.buy(show, [0, 1]);
    const { items: [booking] } = await world.admin.call("GET", "/api/admin/reservations?status=CONFIRMED&limit=1");
    const { name } = await world.admin.call("GET", `/api/admin/support/people/${booking.userId}`);
    await nameIsFound(name, booking.userId);

    const { page, context } = await world.room("#/support", options);
    const words = WORDS[options.language];
    await page.locator("input[name=query]").fill(name.slice(0, 2));
    await page.getByRole("button", { name: words.find, exact: true }).click();
    await page.locator(`a[href='#/support/people/${booking.userId}']`).waitFor();
    assert.deepEqual(await violations(page), [], "axe on the hits");
    await page.locator("input[name=query]").fill("김");
    await page.keyboard.press("Enter");
    await page.locator("main [role=alert]").waitFor();
    assert.equal(await page.locator(".rows li").count(), 0, "a refused search shows no one");

    await page.locator("input[name=query]").fill(booking.bookingNumber.toLowerCase());
    await page.keyboard.press("Enter");
    await page.locator(`a[href='#/support/bookings/${booking.id}']`).click();
    await page.getByRole("heading", { name: booking.bookingNumber, level: 1 }).waitFor();
    await page.locator("tbody tr", { hasText: words.payment }).first().waitFor();
    await page.locator("textarea[name=text]").fill("전화로 문의하셨어요");
    await page.getByRole("button", { name: words.noteAdd }).click();
    await page.locator(".rows li", { hasText: "전화로 문의하셨어요" }).waitFor();
    assert.deepEqual(await violations(page), [], "axe on the booking");

    await page.getByRole("button", { name: words.resend }).click();
    await page.locator("dialog .btn.brand").click();
    await page.locator("tbody tr", { hasText: words.resent }).waitFor();

    await page.locator(`a[href='#/support/people/${booking.userId}']`).click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    await page.locator(".rows li", { hasText: "전화로 문의하셨어요" }).waitFor();
    await page.locator("tbody tr", { hasText: words.resent }).waitFor();
    assert.deepEqual(await violations(page), [], "axe on the person");
    await context.close();
  });
}

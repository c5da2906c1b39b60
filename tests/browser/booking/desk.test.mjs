// Kept seats and the box office: an organiser keeps seats on the map and from a file, the desk sells
// and gives away some of them and prints the tickets, and a booking moves to other seats.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { openWorld, pick } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

const WORDS = {
  en: {
    numbers: "Select by seat number", add: "Add to selection", create: "Create allocation", name: "Name", keep: "Keep selected seats",
    release: "Release selected seats", whole: "Release the whole allocation", counts: (kept, issued) => `${kept} kept · ${issued} with an order`,
    line: "Line 3:", chosen: (n) => `${n} seats selected`, upload: "Upload", released: /^Released /, customer: "Customer's name", phone: "Phone number",
    tender: "Paid by", sell: "Sell and issue", give: "Complimentary", issued: "Booking number B-", print: "Print tickets", cash: "Cash-up",
    sum: "Sum", move: "Move seats", reason: "Reason", customerOf: "Issued by", resend: "Send the confirmation again", moved: "Seats moved",
  },
  ko: {
    numbers: "좌석 번호로 고르기", add: "고르기에 더하기", create: "묶음 만들기", name: "이름", keep: "고른 좌석 보류",
    release: "고른 좌석 판매로 풀기", whole: "묶음 전체 판매로 풀기", counts: (kept, issued) => `보류 ${kept}석 · 발권 ${issued}석`,
    line: "3번째 줄:", chosen: (n) => `고른 좌석 ${n}석`, upload: "올리기", released: /판매로 풀림$/, customer: "고객 이름", phone: "전화번호",
    tender: "받은 방법", sell: "판매하고 발권", give: "초대권", issued: "예매번호 B-", print: "티켓 인쇄", cash: "정산",
    sum: "합계", move: "좌석 옮기기", reason: "이유", customerOf: "발권한 사람", resend: "예매 확인 다시 보내기", moved: "좌석 이동",
  },
};
const SIZES = [["en", 1440], ["ko", 390]];

async function numbersOf(show) {
  const { sections } = await world.admin.call("GET", `/api/admin/schedules/${show.scheduleId}/layout`);
  return sections.flatMap(({ seats }) => seats).map(({ number }) => number);
}

function openRoom(show, what, language, width) {
  return world.room(`#/schedules/${show.scheduleId}/${what}?event=${show.eventId}`, { language, width, height: 900 });
}

async function allocation(show) {
  const { items } = await world.admin.call("GET", `/api/admin/schedules/${show.scheduleId}/allocations`);
  return items[0];
}

/** On a phone the map is below the form. */
async function tap(page, seat) {
  await page.locator("seat-map").scrollIntoViewIfNeeded();
  await pick(page, seat);
}

/** A seat as fans read it. */
const seatName = { en: (seat) => `Section 101 Row 1 Seat ${seat}`, ko: (seat) => `101구역 1열 ${seat}번` };

for (const [language, width] of SIZES) {
  const words = WORDS[language];

  test(`seats are kept on the map and from a file, and go on sale in part and as a whole (${language}, ${width})`, async () => {
    const show = await world.show();
    const numbers = await numbersOf(show);
    const { page, context } = await openRoom(show, "allocations", language, width);
    await page.locator("seat-map[drawn]").waitFor();
    await tap(page, 3);
    await page.getByText(words.chosen(1), { exact: true }).first().waitFor();
    await tap(page, 3);
    await page.getByText(words.chosen(0), { exact: true }).first().waitFor();
    await tap(page, 3);
    await tap(page, 4);
    await page.getByText(words.chosen(2), { exact: true }).first().waitFor();
    await page.getByLabel(words.numbers).fill(`${numbers[0]}, no such seat`);
    await page.getByRole("button", { name: words.add }).click();
    await page.locator("[role=alert]", { hasText: "no such seat" }).waitFor();
    const form = page.getByRole("form", { name: words.create });
    await form.getByLabel(words.name).fill("Friends");
    await form.getByRole("button", { name: words.create }).click();
    await page.getByText(words.counts(3, 0)).waitFor();

    const upload = async (csv) => {
      await page.locator("input[type=file]").setInputFiles({ name: "seats.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
      await page.getByRole("button", { name: words.upload }).click();
    };
    await upload(`seat,memo\n${numbers[10]},\nZ-99,\n`);
    await page.locator("[role=alert]", { hasText: words.line }).waitFor();
    assert.equal((await allocation(show)).kept, 3, "nothing half done");
    await upload(`seat,memo\n${numbers[10]},camera\n${numbers[11]},\n`);
    await page.getByText(words.counts(5, 0)).waitFor();

    await page.locator("seat-map[drawn]").waitFor();
    await tap(page, 3);
    await page.getByRole("button", { name: words.release }).click();
    await page.getByText(words.counts(4, 0)).waitFor();
    await page.getByRole("button", { name: words.whole }).click();
    await page.locator("dialog").getByRole("button", { name: words.whole }).click();
    await page.getByText(words.released).first().waitFor();
    const { status } = await world.admin.call("GET", `/api/admin/schedules/${show.scheduleId}/allocations`);
    assert.ok(!status.includes("K"), status);
    await context.close();
  });

  test(`the desk sells and gives away seats, prints the tickets and counts the till (${language}, ${width})`, async () => {
    const show = await world.show();
    const numbers = await numbersOf(show);
    const { page, context } = await openRoom(show, "boxoffice", language, width);
    const choose = async (number) => {
      await page.getByLabel(words.numbers).fill(number);
      await page.getByRole("button", { name: words.add }).click();
    };
    await page.locator("seat-map[drawn]").waitFor();
    await choose(numbers[0]);
    await tap(page, 1);
    await page.getByLabel(words.tender).selectOption("TERMINAL");
    await page.getByLabel(words.customer).fill("Kim Podo");
    await page.getByLabel(words.phone).fill("010-1234-5678");
    await page.getByRole("button", { name: words.sell }).click();
    await page.locator(".note.ok", { hasText: words.issued }).waitFor();
    const print = page.locator("form").getByRole("button", { name: words.print });
    const [file] = await Promise.all([page.waitForEvent("download"), print.click()]);
    assert.equal(readFileSync(await file.path()).subarray(0, 5).toString(), "%PDF-");
    const till = page.getByRole("region", { name: words.cash });
    await till.getByRole("row", { name: words.sum }).filter({ hasText: "300,000" }).waitFor();

    await choose(numbers[2]);
    await page.getByLabel(words.customer).fill("Lee Podo");
    await page.getByRole("button", { name: words.give }).click();
    await page.getByRole("row", { name: "Lee Podo" }).waitFor();
    const { items } = await world.admin.call("GET", `/api/admin/schedules/${show.scheduleId}/issued-orders`);
    assert.deepEqual(items.map((it) => [it.name, it.channel, it.tender, it.paid]),
      [["Lee Podo", "COMPLIMENTARY", undefined, 0], ["Kim Podo", "BOX_OFFICE", "TERMINAL", 300_000]]);

    // Support knows the customer, and sends no mail to the organiser who issued the order.
    await page.goto(`${world.url}/admin#/support?query=${encodeURIComponent("Kim Podo")}`);
    await page.getByText("Kim Podo").first().waitFor();
    await page.locator("a[href^='#/support/bookings/']").first().click();
    await page.getByText(words.customerOf).waitFor();
    await page.getByText("+821012345678").waitFor();
    assert.equal(await page.getByRole("button", { name: words.resend }).count(), 0);
    await context.close();
  });

  test(`a booking moves to another seat, and the fan sees the new one (${language}, ${width})`, async () => {
    const show = await world.show();
    const numbers = await numbersOf(show);
    const named = (seat) => new RegExp(seatName[language](seat).replaceAll(" ", "\\s"));
    const fan = await world.fan({ language, width });
    await buyHere(fan, show, 4);
    await fan.go("/#/tickets");
    const before = fan.page.locator("li.ticket", { hasText: named(5) });
    await before.locator(".code svg").waitFor();
    const code = await before.locator(".code svg").innerHTML();
    const { items } = await world.admin.call("GET", `/api/admin/reservations?status=CONFIRMED&scheduleId=${show.scheduleId}`);

    const { page, context } = await world.room(`#/support/bookings/${items[0].id}`, { language, width, height: 900 });
    await page.getByRole("link", { name: words.move }).click();
    await page.locator("seat-map[drawn]").waitFor();
    await tap(page, 8);
    await page.getByLabel(words.reason).fill("A camera stands there");
    await page.getByRole("button", { name: words.move }).click();
    await page.waitForURL(/#\/support\/bookings\//);
    const line = page.getByRole("row", { name: words.moved });
    await line.filter({ hasText: `${numbers[4]} → ${numbers[8]} · A camera stands there` }).filter({ hasText: world.admin.email }).waitFor();
    await context.close();

    await fan.page.reload();
    const moved = fan.page.locator("li.ticket", { hasText: named(9) });
    await moved.locator(".code svg").waitFor();
    assert.notEqual(await moved.locator(".code svg").innerHTML(), code, "the ticket has another code");
    assert.equal(await fan.page.locator("li.ticket", { hasText: named(5) }).count(), 0);
    await fan.context.close();
  });
}

/** Through the pages, by card. */
async function buyHere(fan, show, seat) {
  const { page, words } = fan;
  await fan.enter(show);
  await pick(page, seat);
  await page.getByRole("button", { name: words.hold, exact: true }).click();
  await page.locator("input[value=CARD]").check();
  await page.locator("input[name=terms]").check();
  await page.locator("form button.primary").click();
  await page.locator("[aria-describedby=how-APPROVE]").click();
  await page.getByRole("heading", { name: words.paidTitle }).waitFor();
}

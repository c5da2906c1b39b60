// Every mail in both languages, as a phone and a desktop show it, and one that was really sent.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { openMailServer } from "../support/mail_server.mjs";
import { everyMail } from "./mails.mjs";
import { openWorld } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld({ env: { PODO_PUBLIC_URL: "https://tickets.podo.example", PODO_MAIL_REPLY_TO: "help@podo.example" } })));
after(() => world.close());

for (const width of [320, 1_280]) {
  test(`axe finds nothing in any mail, and none is wider than ${width}`, async () => {
    const n = await everyMail(world, { width }, async (page, name, mail) => {
      assert.deepEqual(await violations(page), [], name);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width, `${name} is too wide`);
      const heading = await page.locator("h1").innerText();
      assert.match(name.endsWith("-ko") ? heading : "가", /[가-힣]/, `${name} has a Korean heading`);
      assert.doesNotMatch(name.endsWith("-en") ? mail.text : "", /[가-힣]/, `${name} is English`);
    });
    assert.ok(n >= 27, `${n} kinds`);
  });
}

/** Waits for a mail with this subject that was received over SMTP. */
async function received(server, subject) {
  for (let tries = 0; tries < 150; tries += 1) {
    const found = server.mails().find((mail) => mail.subject.startsWith(subject));
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no mail "${subject}" among ${server.mails().map((mail) => mail.subject)}`);
}

test("a mail that was received over SMTP looks as it should, on a phone and a desktop", async () => {
  const server = await openMailServer();
  await world.restart({ PODO_SMTP_URL: server.url, PODO_SMTP_FROM: "Podo <tickets@podo.example>", PODO_CONFIRM_EMAIL: "off", PODO_PUBLIC_URL: "https://tickets.podo.example" });
  const show = await world.show({ title: "도착한 밤" });
  const { tickets: [ticket] } = await world.buy(show, [0]);
  const mail = await received(server, "예매가 완료되었어요");
  assert.deepEqual(mail.defects, []);
  assert.deepEqual(mail.files.map(([, kind]) => kind).sort(), ["application/pdf", "text/calendar"]);
  for (const part of [mail.html, mail.text]) assert.ok(part.includes("도착한 밤") && part.includes(ticket.seatNumber), part);
  for (const width of [320, 1_280]) {
    const tab = await world.open({ width, height: 800 });
    for (const theme of ["light", "dark"]) {
      await tab.page.emulateMedia({ colorScheme: theme });
      await tab.page.setContent(mail.html);
      assert.deepEqual(await violations(tab.page), [], `${width} ${theme}`);
      assert.ok(await tab.page.evaluate(() => document.documentElement.scrollWidth) <= width, "too wide");
      assert.match(await tab.page.locator("h1").innerText(), /예매 완료/);
    }
    await tab.context.close();
  }
  server.close();
});

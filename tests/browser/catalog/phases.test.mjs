// Sale phases: an organiser divides a sale, a fan proves their right before the phase opens and types
// nothing at the opening.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { openWorld } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld({ env: { PODO_WEBHOOK_ALLOW: "127.0.0.0/8" } })));
after(() => world.close());

const PHASES = (show) => `/api/admin/schedules/${show.scheduleId}/phases`;

/** A show whose sale opens in `opensInMs`, with a phase for this audience from then on. */
async function presale(opensInMs, audience) {
  const show = await world.show({ opensInMs });
  const { schedules } = await world.admin.call("GET", `/api/admin/events/${show.eventId}`);
  const { saleStartsAt: startsAt, saleEndsAt: endsAt } = schedules[0];
  const phase = { name: "팬클럽 선예매", nameEn: "Fan club presale", startsAt, endsAt, audience, seatsPerPerson: 2 };
  const { items } = await world.admin.call("PUT", PHASES(show), { phases: [phase] });
  return { show, phase: items[0] };
}

test("an organiser adds a phase with codes, and a fan verifies with one of them", async () => {
  const show = await world.show({ opensInMs: 3_600_000 });
  const { page, context } = await world.room(`#/events/${show.eventId}`);
  await page.getByRole("link", { name: "Sale phases" }).click();
  await page.getByRole("heading", { name: "Sale phases", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Add a phase" }).click();
  await page.locator("input[name=name]").fill("팬클럽 선예매");
  await page.locator("input[name=nameEn]").fill("Fan club presale");
  await page.locator("select[name=audience]").selectOption("CODE");
  await page.locator("input[name=seatsPerPerson]").fill("9");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("[role=alert]", { hasText: "phases[0].seatsPerPerson" }).waitFor();
  await page.locator("input[name=seatsPerPerson]").fill("2");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "팬클럽 선예매" }).waitFor();
  await page.locator("input[name=count]").fill("3");
  await page.getByRole("button", { name: "Add codes" }).click();
  const codes = (await page.locator("textarea[readonly]").inputValue()).split("\n");
  assert.equal(codes.length, 3);
  assert.match(codes[0], /^[0-9A-Z]{4}(-[0-9A-Z]{4}){2}$/);

  const fan = await world.fan();
  await fan.go(`/#/events/${show.eventId}`);
  await fan.page.getByText("팬클럽 선예매").waitFor();
  await fan.page.getByLabel(fan.words.phaseCode).fill("WRONG-CODE");
  await fan.page.getByRole("button", { name: fan.words.phaseVerify }).click();
  await fan.page.locator(".phases [role=alert]").waitFor();
  await fan.page.getByLabel(fan.words.phaseCode).fill(codes[0].toLowerCase());
  await fan.page.getByRole("button", { name: fan.words.phaseVerify }).click();
  await fan.page.locator(".badge", { hasText: fan.words.phaseVerified }).waitFor();
  await fan.context.close();
  await page.reload();
  await page.getByText("1 verified").waitFor();
  await context.close();
});

test("a member list is uploaded, wrong lines are named, and a member buys at the opening", async () => {
  const { show, phase } = await presale(20_000, "MEMBERS");
  const { page, context } = await world.room(`#/schedules/${show.scheduleId}/phases?event=${show.eventId}`);
  const csv = "membershipNumber,name\nP-1,김포도\nP-2,\n";
  await page.locator("input[type=file]").setInputFiles({ name: "members.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
  await page.getByRole("button", { name: "Upload the list" }).click();
  await page.getByText("2 lines read: 1 new, 0 known, 1 left out").waitFor();
  await page.getByText("Line 3, name: blank").waitFor();
  await context.close();

  const stranger = await world.fan();
  await stranger.join(show);
  await stranger.page.getByText(stranger.words.phaseVerifyWords).waitFor();
  await stranger.context.close();

  const fan = await world.fan({ language: "en" });
  await fan.go(`/#/events/${show.eventId}`);
  await fan.page.getByText("Fan club presale").waitFor();
  await fan.page.getByLabel("Number or address").fill("p1");
  await fan.page.getByLabel("Name", { exact: true }).fill("김 포도");
  await fan.page.getByRole("button", { name: "Verify" }).click();
  await fan.page.locator(".badge", { hasText: "Verified" }).waitFor();
  await fan.join(show);
  // The lobby, then the draw, then the seats: nothing is typed.
  await fan.page.locator("seat-map").waitFor({ timeout: 60_000 });
  await fan.context.close();
  const { items } = await world.admin.call("GET", PHASES(show));
  assert.equal(items.find(({ id }) => id === phase.id).verified, 1);
});

test("the organiser's own server says who is a member, and its secret is shown once", async () => {
  const asked = [];
  const club = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      asked.push({ headers: request.headers, body });
      const { membershipNumber } = JSON.parse(body).data;
      response.end(JSON.stringify(membershipNumber === "P-7" ? { eligible: true, membershipNumber } : { eligible: false }));
    });
  });
  await new Promise((resolve) => club.listen(0, "127.0.0.1", resolve));
  const { show } = await presale(3_600_000, "MEMBERS");
  const { page, context } = await world.room(`#/schedules/${show.scheduleId}/phases?event=${show.eventId}`);
  const form = page.getByRole("form", { name: "Ask your own server" });
  await form.locator("input[name=url]").fill("https://169.254.169.254/");
  await form.getByRole("button", { name: "Save" }).click();
  await form.locator("[role=alert]").waitFor();
  assert.equal(await form.locator("input[name=url]").inputValue(), "https://169.254.169.254/", "what was typed stays");
  await form.locator("input[name=url]").fill(`http://127.0.0.1:${club.address().port}/`);
  await form.getByRole("button", { name: "Save" }).click();
  const secret = await page.locator("dialog .secret").textContent();
  assert.match(secret, /^whsec_/);
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Stop asking it" }).waitFor();
  assert.equal(await page.locator("input[type=file]").count(), 0, "the list decides nothing");
  assert.ok(!(await page.content()).includes(secret), "it is never shown again");

  const fan = await world.fan({ width: 390, language: "ko" });
  await fan.go(`/#/events/${show.eventId}`);
  await fan.page.getByText(fan.words.phaseMemberWords).waitFor();
  const proof = async (number) => {
    await fan.page.getByLabel(fan.words.phaseValue).fill(number);
    await fan.page.getByLabel(fan.words.phaseName, { exact: true }).fill("김포도");
    await fan.page.getByRole("button", { name: fan.words.phaseVerify }).click();
  };
  await proof("P-8");
  await fan.page.locator(".phases [role=alert]").waitFor();
  await proof("P-7");
  await fan.page.locator(".badge", { hasText: fan.words.phaseVerified }).waitFor();
  await fan.context.close();
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  for (const { headers, body } of asked) {
    const tag = createHmac("sha256", key).update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`).digest("base64");
    assert.equal(headers["webhook-signature"], `v1,${tag}`);
  }
  assert.equal(asked.length, 2);
  await page.getByRole("button", { name: "Stop asking it" }).click();
  await page.locator("dialog .btn.stop").click();
  await page.locator("input[type=file]").waitFor();
  await context.close();
  club.close();
});

// Sale phases: an organiser divides a sale, a fan proves their right before the phase opens and types
// nothing at the opening.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openWorld } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
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

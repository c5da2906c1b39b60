// The control room: what it shows is a second old, what it changes happens within one.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { openWorld } from "./world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

test("a pause stops admission within a second, and those who wait see it", async () => {
  const show = await world.show({ queue: { admitPerSecond: 1, maxActive: 1 } });
  const { page, context } = await world.room(`#/live/${show.scheduleId}`);
  await page.locator(".kpi b").first().waitFor();
  const [inside, waiting] = [await world.fan(), await world.fan()];
  await inside.enter(show);
  await waiting.join(show);
  await waiting.page.locator(".hero b").waitFor();
  await page.locator(".kpi b").first().filter({ hasText: "1" }).waitFor();
  await page.getByRole("button", { name: "Pause admission" }).click();
  await page.locator("dialog .btn.stop").click();
  await page.getByRole("button", { name: "Resume admission" }).waitFor();
  await waiting.page.getByText(/순서는 그대로/).waitFor();
  const before = (await show.live()).admitted;
  await show.setQueue({ mode: "PAUSED", maxActive: 100, admitPerSecond: 50 });
  await page.waitForTimeout(1_500);
  assert.equal((await show.live()).admitted, before, "nobody was let in");
  await page.getByRole("button", { name: "Resume admission" }).click();
  await page.locator("dialog .btn.brand").click();
  await waiting.page.waitForURL(/#\/seats\//);
  await Promise.all([context, inside.context, waiting.context].map((it) => it.close()));
});

test("an organiser makes a hall and a concert without writing JSON", async () => {
  const venue = await world.admin.call("POST", "/api/admin/venues", { name: "New venue", address: "Road 2", city: "부산" });
  const { page, context } = await world.room(`#/halls/new?venue=${venue.id}`);
  await page.locator(".counts b").first().waitFor();
  await page.locator("input[name=name]").fill("Great hall");
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForURL(/#\/venues/);
  await page.goto(`${world.url}/admin#/events/new`);
  await page.locator("input[name=title]").fill("Wizard night");
  await page.locator("input[name=artist]").fill("The Grapes");
  for (const step of ["Details", "Venue", "When"]) await page.getByRole("button", { name: "Next" }).click({ timeout: 10_000 }).then(() => page.waitForTimeout(step === "Venue" ? 1_500 : 500));
  await page.getByRole("button", { name: "Create" }).click();
  await page.locator("h1").filter({ hasText: "Wizard night" }).waitFor();
  await page.getByRole("link", { name: "Monitor" }).click();
  await page.locator(".kpi b").first().waitFor();
  await context.close();
});

test("simulated fans are sent, watched, and leave a number", async () => {
  const show = await world.show({ queue: { admitPerSecond: 200 } });
  const { page, context } = await world.room(`#/simulation?schedule=${show.scheduleId}`);
  await page.locator("input[name=fans]").fill("20");
  await page.locator("input[name=seconds]").fill("1");
  await page.locator("input[name=thinkMs]").fill("0");
  await page.getByRole("button", { name: "Start simulation" }).click();
  await page.locator(".huge").waitFor({ timeout: 60_000 });
  assert.ok((await show.live()).sold > 0);
  await page.goto(`${world.url}/admin#/payments`);
  await page.getByRole("button", { name: "Export CSV" }).click();
  await page.locator("dialog input").fill("a test");
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
  assert.equal(file.suggestedFilename(), "payments.csv");
  const [heads, ...rows] = readFileSync(await file.path(), "utf8").trim().split(/\r?\n/).map((line) => line.replaceAll('"', "").split(","));
  const column = (name) => heads.indexOf(name);
  const sum = (name) => rows.filter((row) => row[column("status")] === "CAPTURED").reduce((all, row) => all + Number(row[column(name)]), 0);
  assert.equal(sum("captured"), (await show.live()).revenue, "the file and the ledger say the same");
  await context.close();
});

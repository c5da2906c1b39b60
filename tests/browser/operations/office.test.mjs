// What organisers do besides selling: watch jobs, mend messages, judge signals, tell other servers.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { enterRoom, openBrowser, openTab, openWorld } from "../support/world.mjs";

let world;
let show;
let tab;
before(async () => {
  // With limits that no test reaches, so that what looks like a robot is noted.
  world = await openWorld({ env: { PODO_LIMITS: "on", PODO_REQUESTS_PER_SECOND_PER_IP: "100000" } });
  show = await world.show();
  tab = await world.room("#/webhooks");
});
after(() => world.close());

const open = async (path, heading) => {
  await tab.go(`/admin${path}`);
  await tab.page.getByRole("heading", { name: heading, level: 1 }).waitFor();
};

test("a webhook is added, tells its secret once, is paused, and sends again", async () => {
  const { page } = tab;
  await page.getByText("No endpoints yet.").waitFor();
  await page.getByRole("button", { name: "Add endpoint" }).click();
  await page.locator("dialog input[name=url]").fill("https://hooks.podo.example/a");
  await page.getByRole("button", { name: "Save" }).click();
  const secret = await page.locator("dialog .secret").textContent();
  assert.match(secret, /^whsec_/);
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("heading", { name: "https://hooks.podo.example/a" }).waitFor();
  assert.ok(!(await page.content()).includes(secret), "it is never shown again");

  await page.getByRole("button", { name: "New secret" }).click();
  await page.locator("dialog .btn.stop").click();
  assert.notEqual(await page.locator("dialog .secret").textContent(), secret);
  await page.getByRole("button", { name: "Done" }).click();

  await page.getByRole("button", { name: "Pause" }).click();
  await page.locator(".badge", { hasText: "paused" }).waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.locator(".badge", { hasText: "active" }).waitFor();

  await world.buy(show, [0, 1]);
  await page.getByRole("link", { name: "Deliveries" }).click();
  const look = page.getByRole("button", { name: "Check again" });
  await look.waitFor();
  const sent = page.locator("tbody tr", { hasText: "ReservationConfirmed" });
  await until(async () => (await look.click(), (await sent.count()) === 1));
  await sent.getByRole("button", { name: "Send again" }).click();
  await sent.locator(".badge", { hasText: /pending|failed/ }).waitFor();

  await open("#/webhooks", "Webhooks");
  await page.getByRole("button", { name: "Delete" }).click();
  await page.locator("dialog .btn.stop").click();
  await page.getByText("No endpoints yet.").waitFor();
});

test("a job runs at a press, and its round is seen", async () => {
  const { page } = tab;
  await open("#/jobs", "Jobs");
  const row = page.locator("tbody tr", { hasText: "clean-queues" });
  await row.getByRole("button", { name: "Run now" }).click();
  await row.locator(".badge", { hasText: "ok" }).waitFor();
});

test("jobs are described in Korean on a Korean page, and every time has the same form", async () => {
  const room = await world.room("#/jobs", { language: "ko", width: 1400, height: 1000 });
  const rows = room.page.locator("tbody tr");
  await rows.nth(10).waitFor();
  for (const about of await rows.locator("th small").allInnerTexts()) assert.match(about, /[가-힣]/, about);
  for (const time of await rows.locator("td:nth-child(4)").allInnerTexts()) assert.match(time, /^(–|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)$/);
  await room.context.close();
});

// Beside an open panel a list of this width keeps two columns, and the state is not one of them.
test("a message that was given up is sent again or put away", async () => {
  const { page } = tab;
  setAside("one");
  setAside("two");
  await open("#/messages", "Messages");
  await page.locator("tbody tr").nth(1).waitFor();
  await page.locator("tbody tr", { hasText: "two" }).click();
  await page.locator(".side-panel").getByRole("button", { name: "Dismiss" }).click();
  await page.locator("tbody tr", { hasText: "two" }).locator(".badge", { hasText: "dismissed" }).waitFor({ state: "attached" });
  await page.locator("tbody tr", { hasText: "one" }).click();
  await page.locator(".side-panel").getByRole("button", { name: "Send again" }).click();
  await page.locator("tbody tr", { hasText: "one" }).locator(".badge", { hasText: /again/ }).waitFor({ state: "attached" });
});

test("a signal of a robot is seen and judged, and the fan is notified", async () => {
  const { page } = tab;
  await open("#/signals", "Bot signals");
  const row = page.locator("tbody tr").first();
  await row.locator(".who small", { hasText: "***@" }).waitFor();
  await row.click();
  await page.locator(".side-panel").getByRole("button", { name: "lifted" }).click();
  await page.locator("tbody .badge", { hasText: "lifted" }).waitFor({ state: "attached" });
});

test("the audit log names what was done here, and goes into a file", async () => {
  const { page } = tab;
  await open("#/audit", "Audit log");
  await page.getByLabel("Action").fill("webhook");
  await page.locator("tbody tr", { hasText: "webhook.add" }).waitFor();
  assert.equal(await page.locator("tbody tr", { hasText: "read" }).count(), 0);
  await page.getByRole("button", { name: "Export CSV" }).click();
  await page.locator("dialog input").fill("a test");
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
  assert.equal(file.suggestedFilename(), "audit.csv");
  await open("#/mailbox", "Mailbox");
  await page.locator("tbody tr").first().waitFor();
});

test("a ticket held to the camera opens the gate once, and a typed code is refused", async () => {
  const { tickets: [ticket], code } = await world.buy(show, [5]);
  const video = join(world.data, "ticket.y4m");
  writeFileSync(video, await film(await code(ticket)));
  const browser = await openBrowser(["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", `--use-file-for-fake-video-capture=${video}`]);
  const gate = await openTab({ ...world, browser }, { language: "en" });
  await enterRoom(gate, world.admin, "#/");
  await gate.go(`/gate/#/scan/${show.scheduleId}?gate=1`);
  await gate.page.getByRole("button", { name: "Turn on the camera" }).click();
  await gate.page.locator(".verdict.ok", { hasText: ticket.seatNumber }).waitFor();
  // The same ticket is still in sight.
  await gate.page.locator(".verdict.no", { hasText: "Already used" }).waitFor();
  await gate.page.locator(".scan").fill("nonsense");
  await gate.page.keyboard.press("Enter");
  await gate.page.locator(".log li").nth(2).waitFor();
  await browser.close();
});

const [WIDTH, HEIGHT] = [640, 480];

/** A film of a ticket's code, as a camera would send it: two frames of grey. */
async function film(drawing) {
  const page = await tab.context.newPage();
  const grey = await page.evaluate(async ([svg, width, height]) => {
    const picture = new Image(300, 300);
    picture.src = `data:image/svg+xml;utf8,${encodeURIComponent(svg)}`;
    await picture.decode();
    const canvas = new OffscreenCanvas(width, height).getContext("2d");
    canvas.fillStyle = "white";
    canvas.fillRect(0, 0, width, height);
    canvas.drawImage(picture, (width - 300) / 2, (height - 300) / 2, 300, 300);
    const { data } = canvas.getImageData(0, 0, width, height);
    return Array.from({ length: width * height }, (_, i) => data[4 * i]);
  }, [drawing, WIDTH, HEIGHT]);
  await page.close();
  const frame = Buffer.concat([Buffer.from("FRAME\n"), Buffer.from(grey), Buffer.alloc((WIDTH * HEIGHT) / 2, 128)]);
  return Buffer.concat([Buffer.from(`YUV4MPEG2 W${WIDTH} H${HEIGHT} F10:1 Ip A1:1 C420\n`), frame, frame]);
}

async function until(isSo) {
  for (let tries = 0; tries < 100; tries += 1) {
    if (await isSo()) return;
    await tab.page.waitForTimeout(100);
  }
  throw new Error("it did not happen");
}

/** No worker gives anything up when all is well, so the letter is put into the store by hand. */
function setAside(word) {
  const script = `
import sqlite3, sys, time, os
base = sqlite3.connect(sys.argv[1], timeout=10)
now = int(time.time() * 1000)
base.execute("insert into dead_letters values (?, ?, 'booking', 'notification', ?, 'k', '{}', 'cannot be read', 3, 'OPEN', ?, ?)",
             (os.urandom(16), os.urandom(16), sys.argv[2], now, now))
base.commit()`;
  execFileSync("python3", ["-c", script, join(world.data, "podo.db"), word]);
}

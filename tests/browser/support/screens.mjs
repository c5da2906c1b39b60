// Pictures of every page: light, dark and on a phone. `node screens.mjs FOLDER [VARIANT…]`.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { everyMail } from "../messaging/mails.mjs";
import { everyPage } from "./pages.mjs";
import { arena, setStage } from "./stage.mjs";
import { openWorld } from "./world.mjs";

const [folder = "screens", ...chosen] = process.argv.slice(2);
const README = "readme";
const MAILS = "mails";
const VARIANTS = {
  light: { theme: "light", width: 1280 },
  dark: { theme: "dark", width: 1280, language: "en" },
  phone: { theme: "light", width: 390, height: 844 },
};

const world = await openWorld();
const show = await setStage(world);
for (const name of chosen.length ? chosen : [...Object.keys(VARIANTS), README, MAILS]) {
  mkdirSync(join(folder, name), { recursive: true });
  const look = (page, title) => page.screenshot({ path: join(folder, name, `${title}.png`) });
  if (name === README) await theFourBest(look);
  else if (name === MAILS) await mails(folder);
  else await everyPage(world, { ...VARIANTS[name], show }, look);
}
await world.close();

/** Every mail in both languages, as a desktop and a phone show it. */
async function mails(folder) {
  const post = await openWorld({ env: { PODO_PUBLIC_URL: "https://tickets.podo.example", PODO_MAIL_REPLY_TO: "help@podo.example" } });
  for (const [device, width] of [["desktop", 1_280], ["phone", 390]]) {
    mkdirSync(join(folder, MAILS, device), { recursive: true });
    await everyMail(post, { width }, (page, title) => page.screenshot({ path: join(folder, MAILS, device, `${title}.png`), fullPage: true }));
  }
  await post.close();
}

/**
 * A sale while it happens: the control room, the line, the map, and the map on a phone; the map also
 * as people see it who see colours differently.
 */
async function theFourBest(look) {
  const sale = await world.show({
    title: "청포도 전국 투어: 여름의 끝", venue: "포도 아레나", hall: "1관", opensInMs: -90_000, days: 24,
    template: arena(), prices: { VIP: 198_000, R: 165_000, S: 132_000 }, queue: { admitPerSecond: 14, maxActive: 300 } });
  const room = await world.room(`#/live/${sale.scheduleId}`, { theme: "dark", width: 1180, height: 800 });
  const [fan, walker] = [await world.fan({ width: 1180, height: 780 }), await world.fan({ width: 390, height: 760, theme: "dark" })];
  await world.admin.call("POST", "/api/admin/simulation", { scheduleId: sale.scheduleId, fans: 900, seconds: 5, arrival: "RUSH", botPercent: 10, thinkMs: 1_500 });
  await until(async () => (await sale.live()).waiting > 500);
  for (const it of [fan, walker]) await it.join(sale);
  await until(async () => (await sale.live()).sold > 250);
  await look(room.page, "control-room");
  await look(fan.page, "waiting");
  await sale.setQueue({ admitPerSecond: 500, maxActive: 1_000 });
  for (const { page } of [fan, walker]) {
    await page.waitForURL(/#\/seats\//, { timeout: 60_000 });
    await page.locator(".chip em").first().filter({ hasText: /\d/ }).waitFor();
  }
  await look(walker.page, "phone");
  await fan.page.evaluate(() => {
    const map = document.querySelector("seat-map");
    const free = map.status.indexOf(0, 400);
    for (const seat of [free, map.status.indexOf(0, free + 1)]) map.dispatchEvent(new CustomEvent("seat", { detail: seat }));
  });
  await fan.page.waitForTimeout(700);
  await look(fan.page, "seats");
  await asOthersSee(fan, look, "seats");
  // One section, near enough to tell a seat under payment from one that is free.
  await fan.page.evaluate(() => {
    const map = document.querySelector("seat-map");
    const free = map.status.indexOf(0, 400);
    for (const [offset, state] of [[2, 1], [3, 1], [4, 2], [13, 1], [14, 2]]) map.set(free + offset, state);
    map.openSection(map.plan.section[free]);
  });
  await fan.page.waitForTimeout(700);
  await look(fan.page, "section");
  await asOthersSee(fan, look, "section");
}

/** The same for people who see colours differently, or none. */
async function asOthersSee(fan, look, name) {
  const eyes = await fan.context.newCDPSession(fan.page);
  for (const type of ["protanopia", "deuteranopia", "tritanopia", "achromatopsia"]) {
    await eyes.send("Emulation.setEmulatedVisionDeficiency", { type });
    await look(fan.page, `${name}-${type}`);
  }
  await eyes.send("Emulation.setEmulatedVisionDeficiency", { type: "none" });
}

async function until(isSo) {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 300));
}

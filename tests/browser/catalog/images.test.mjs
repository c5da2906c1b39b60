// Pictures: an organiser uploads and crops a poster with the keyboard alone, fans see it in the size
// they need, and nothing moves while it loads. Events without one have art of their own.

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { after, before, test } from "node:test";
import { figures } from "../support/figures.mjs";
import { openWorld } from "../support/world.mjs";

/** What the home page may cost without its pictures, compressed. */
const HOME_BYTES_MAX = 200 * 1024;

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

/** A picture whose halves differ in colour, made by the browser. */
async function photo(page, { width = 1600, height = 900, type = "image/jpeg" } = {}) {
  const url = await page.evaluate(([w, h, kind]) => {
    const canvas = Object.assign(document.createElement("canvas"), { width: w, height: h });
    const context = canvas.getContext("2d");
    context.fillStyle = "#c01f3a";
    context.fillRect(0, 0, w / 2, h);
    context.fillStyle = "#1a70c8";
    context.fillRect(w / 2, 0, w / 2, h);
    return canvas.toDataURL(kind, 0.9);
  }, [width, height, type]);
  return Buffer.from(url.split(",")[1], "base64");
}

async function uploadPoster(show, bytes, alt = "포스터") {
  const response = await fetch(`${world.url}/api/admin/events/${show.eventId}/poster?alt=${encodeURIComponent(alt)}`, {
    method: "PUT", body: bytes, headers: { Authorization: `Bearer ${world.admin.token}` } });
  assert.equal(response.status, 200, await response.clone().text());
  return response.json();
}

const colourOf = (page, url) => page.evaluate(async (address) => {
  const image = await createImageBitmap(await (await fetch(address)).blob());
  const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
  context.drawImage(image, 0, 0, 1, 1);
  const [red, , blue] = context.getImageData(0, 0, 1, 1).data;
  return red < blue ? "blue" : "red";
}, url);

test("an organiser uploads a poster, moves its crop with the keyboard, and removes it", async () => {
  const show = await world.show({ title: "사진이 있는 밤" });
  const { page, context } = await world.room(`#/events/${show.eventId}`);
  await page.getByRole("button", { name: "Upload a poster" }).click();
  const dialog = page.locator("dialog");
  await dialog.locator("input[type=file]").setInputFiles({ name: "a.jpg", mimeType: "image/jpeg", buffer: await photo(page) });
  await dialog.locator("canvas.crop").waitFor();
  const slider = dialog.getByLabel("Horizontal position");
  await slider.focus();
  await page.keyboard.press("End");
  assert.equal(await slider.inputValue(), "100");
  await dialog.getByLabel("Description").fill("두 가지 색");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  const poster = page.getByAltText("두 가지 색");
  await poster.waitFor();
  assert.equal(await colourOf(page, await poster.getAttribute("src")), "blue", "the right half was chosen");
  await page.getByRole("button", { name: "Replace the poster" }).click();
  await dialog.locator("input[type=file]").setInputFiles({ name: "b.jpg", mimeType: "image/jpeg", buffer: Buffer.from("not a picture") });
  await dialog.getByLabel("Description").fill("x");
  await page.keyboard.press("Enter");
  await dialog.getByText("Only JPEG, PNG and WebP images can be uploaded.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Add a picture" }).click();
  await dialog.locator("input[type=file]").setInputFiles({ name: "c.png", mimeType: "image/png", buffer: await photo(page, { type: "image/png" }) });
  await dialog.getByLabel("Description").fill("무대");
  await page.keyboard.press("Enter");
  await page.getByText("1 of 8").waitFor();
  await page.getByRole("button", { name: "Delete: 두 가지 색" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("No poster yet.", { exact: false }).waitFor();
  await context.close();
});

test("fans see the picture in the size they need, on every page of their way", async () => {
  const show = await world.show({ title: "작은 사진의 밤" });
  const { page, context } = await world.open({ width: 390 });
  await page.goto(`${world.url}/#/`);
  const { url, srcset } = await uploadPoster(show, await photo(page, { width: 1500, height: 2000 }), "포스터를 든 사람");
  await page.goto(`${world.url}/#/events/${show.eventId}`);
  await page.reload();
  const poster = page.getByAltText("포스터를 든 사람");
  await poster.waitFor();
  await page.waitForFunction(() => document.querySelector("img.poster.tall").complete);
  const shown = await poster.evaluate((image) => new URL(image.currentSrc).pathname);
  assert.match(shown, /-320\.jpg$/, "a phone loads the smallest");
  assert.ok(srcset.includes(shown) && url.endsWith("-1280.jpg"));
  await page.goto(`${world.url}/#/`);
  await page.locator(".event-card", { hasText: "작은 사진의 밤" }).locator("img").waitFor();
  await context.close();

  const bought = await world.buy(show, [0]);
  const fan = await world.open();
  await fan.go(`/#/login?next=${encodeURIComponent("#/me")}`);
  await fan.page.locator("input[name=email]").fill(bought.account.email);
  await fan.page.locator("input[name=password]").fill(bought.account.password);
  await fan.page.locator("form button.primary").click();
  await fan.page.locator(".next-show img").waitFor();
  await fan.go("/#/tickets");
  await fan.page.locator(".booking .head img").waitFor();
  await fan.context.close();
});

test("art without a picture differs by title and by genre", async () => {
  const shows = [];
  for (const [title, genre] of [["같은 밤", "JAZZ"], ["같은 밤", "ROCK"], ["다른 밤", "JAZZ"]]) {
    const show = await world.show({ title });
    await world.admin.call("PATCH", `/api/admin/events/${show.eventId}`, { genre });
    shows.push(show);
  }
  const { page, go, context } = await world.open();
  const drawn = [];
  for (const show of shows) {
    await page.goto(`${world.url}/livez`);
    await go(`/#/events/${show.eventId}`);
    const art = page.locator("svg.poster.tall[data-genre]");
    await art.waitFor();
    drawn.push(await art.evaluate((it) => it.innerHTML.replace(/shade\d+/g, "")));
    assert.match(await art.textContent(), /밤/, "the title is set in it");
  }
  assert.equal(new Set(drawn).size, 3);
  await context.close();
});

test("an opening is listed although newer events fill the first page", async () => {
  await world.show({ title: "오래전에 만든 공연", opensInMs: 26 * 3_600_000 });
  for (let i = 0; i < 25; i += 1) await world.show({ title: `새 공연 ${i}` });
  const { page, go, context } = await world.open();
  await go("/#/");
  await page.locator(".event-card").nth(19).waitFor();
  assert.equal(await page.locator(".event-card", { hasText: "오래전에 만든 공연" }).count(), 0, "not on the first page");
  await page.locator(".openings", { hasText: "오래전에 만든 공연" }).waitFor();
  await context.close();
});

test("the home page is light, and nothing moves while it loads", async () => {
  const { page, context } = await world.open({ width: 1440 });
  const show = await world.show({ title: "가벼운 밤" });
  await page.goto(`${world.url}/`);
  await uploadPoster(show, await photo(page));
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 860 });
    await page.goto(`${world.url}/livez`);
    await page.goto(`${world.url}/`);
    await page.locator(".event-card img").first().waitFor();
    const { bytes, shift } = await figures(page, "home page");
    assert.ok(bytes < HOME_BYTES_MAX, `${bytes} bytes`);
    assert.equal(Number(shift.toFixed(3)), 0, `layout shift ${shift}`);
  }
  await context.close();
});

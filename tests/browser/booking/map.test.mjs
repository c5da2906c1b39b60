// The map: standing zones, colours, what a live change repaints, and the fan's own seats.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { blocks, openWorld, pick } from "../support/world.mjs";

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

/** Taps a point of the plan. */
async function tap(page, [x, y]) {
  const at = await page.evaluate(([px, py]) => {
    const map = document.querySelector("seat-map");
    const box = map.getBoundingClientRect();
    return [box.left + px * map.view.scale + map.view.left, box.top + py * map.view.scale + map.view.top];
  }, [x, y]);
  await page.mouse.click(...at);
}

for (const options of [{ width: 1280 }, { width: 390, height: 844, language: "en" }]) {
  test(`a standing zone is an area, and gives its lowest numbers (${options.width})`, async () => {
    const template = blocks(1, 2, 10);
    template.sections.push({ name: "FLOOR", grade: "S", standing: { x: 0, y: 200, width: 200, height: 60, count: 50 } });
    const show = await world.show({ template });
    await world.buy(show, [20]);
    const fan = await world.fan(options);
    const { page, words } = fan;
    await fan.enter(show);
    // The plan is scaled, so that neighbours are ten units apart.
    const zone = await page.evaluate(() => document.querySelector("seat-map").plan.sections[1].box);
    assert.ok(100 < zone[2] - zone[0] && 40 < zone[3] - zone[1], `an area, not a dot: ${zone}`);
    // Away from the middle, where all places are.
    await tap(page, [zone[0] + 12, zone[1] + 12]);
    const bar = page.locator(".zone-bar");
    await bar.getByText(words.zoneName("FLOOR"), { exact: true }).waitFor();
    await bar.getByText(words.seatsLeft("49")).waitFor();
    const [cover, top] = [await bar.boundingBox(), await page.evaluate(() => {
      const map = document.querySelector("seat-map");
      return map.getBoundingClientRect().top + map.plan.sections[1].box[1] * map.view.scale + map.view.top;
    })];
    assert.ok(cover.y + cover.height <= top || 500 < options.width, "the bar doesn't cover its zone");
    for (const n of [1, 2]) {
      await bar.getByRole("button", { name: words.oneMore }).click();
      assert.equal(await bar.locator("output").textContent(), String(n));
    }
    await page.getByRole("button", { name: words.hold, exact: true }).click();
    await page.waitForURL(/#\/checkout\//);
    await page.locator(".lines li b").first().waitFor();
    const seats = await page.locator(".lines li b").allTextContents();
    assert.deepEqual(seats, [words.seatName("FLOOR-2"), words.seatName("FLOOR-3")]);
    await fan.context.close();
  });
}

test("eight grades have eight colours, in the legend and on the map, in both themes", async () => {
  const grades = ["VIP", "SR", "R", "S", "A", "B", "C", "D"];
  const template = blocks(8, 2, 4);
  template.sections.forEach((section, i) => (section.grade = grades[i]));
  const show = await world.show({ template, prices: Object.fromEntries(grades.map((grade, i) => [grade, 200_000 - i * 10_000])) });
  for (const theme of ["light", "dark"]) {
    const fan = await world.fan({ theme });
    await fan.enter(show);
    const dots = await fan.page.locator(".chip i").evaluateAll((all) => all.map((it) => getComputedStyle(it).backgroundColor));
    assert.equal(new Set(dots).size, 8, `${theme}: ${dots}`);
    const drawn = await fan.page.evaluate(() => document.querySelector("seat-map").theme.grades);
    assert.equal(new Set(drawn).size, 8, `${theme}: ${drawn}`);
    await fan.context.close();
  }
});

test("a seat that changes leaves its neighbours whole", async () => {
  const template = blocks(1, 30, 60);
  // Rows closer than seats are wide, as on an arc.
  template.sections[0].rows.forEach((row, i) => (row.line = { x: i * 4, y: 80 + i * 9, dx: 11, dy: 3 }));
  const show = await world.show({ template, prices: { VIP: 150_000 } });
  const fan = await world.fan();
  await fan.enter(show);
  const differences = await fan.page.evaluate(async () => {
    const map = document.querySelector("seat-map");
    map.isCalm = true;
    const frames = async () => {
      for (let i = 0; i < 3; i += 1) await new Promise(requestAnimationFrame);
    };
    const pixels = () => {
      const { canvas, pen } = map.layer;
      return new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    };
    const found = [];
    for (const [pitch, state] of [[12, 1], [20, 2]]) {
      map.zoomBy(pitch / 10 / map.view.scale);
      await frames();
      for (let i = 0; i < map.plan.n; i += 7) map.set(i, state);
      await frames();
      const live = pixels();
      map.redraw();
      await frames();
      const again = pixels();
      // Text that is drawn twice has darker edges; a missing piece of a seat is a missing pixel.
      const isSeen = (pixel) => pixel >>> 24 !== 0;
      found.push({ detail: map.detail, n: again.filter((pixel, i) => isSeen(pixel) !== isSeen(live[i])).length });
    }
    return found;
  });
  assert.deepEqual(differences, [{ detail: 2, n: 0 }, { detail: 3, n: 0 }]);
  await fan.context.close();
});

test("the panel knows the seats that the fan already has, and the limit", async () => {
  const show = await world.show();
  const fan = await world.fan();
  const { page, words, context } = fan;
  await fan.enter(show);
  await pick(page, 0);
  await pick(page, 1);
  await page.getByRole("button", { name: words.hold, exact: true }).click();
  await page.waitForURL(/#\/checkout\//);

  await fan.enter(show);
  await page.getByText(words.counter(2, 4), { exact: true }).waitFor();
  await page.getByText(words.ownNote(2, 4, 2)).waitFor();
  await page.waitForFunction(() => document.querySelector("seat-map").status[0] === 4);
  for (const seat of [2, 3, 4]) await pick(page, seat);
  await page.locator(".panel .note.danger").filter({ hasText: words.seatsMaxMore(4, 2) }).waitFor();
  assert.equal(await page.locator(".picks li b").count(), 2);
  // A press on an own seat changes nothing.
  await pick(page, 0);
  assert.equal(await page.locator(".picks li b").count(), 2);
  await context.close();
});

test("another tab's purchase is counted when the hold is refused", async () => {
  const show = await world.show();
  const fan = await world.fan();
  const { page, words, context } = fan;
  await fan.enter(show);
  for (const seat of [0, 1, 2, 3]) await pick(page, seat);
  // The same person holds three elsewhere meanwhile.
  const status = await page.evaluate(async (id) => {
    const entry = JSON.parse(sessionStorage.getItem(`podo.entry.${id}`));
    const ids = document.querySelector("seat-map").plan.seats.slice(20, 23).map((seat) => seat.id);
    const response = await fetch("/api/booking/seats/select", {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID(), "Entry-Token": entry.token },
      body: JSON.stringify({ scheduleId: id, seatIds: ids }) });
    return response.status;
  }, show.scheduleId);
  assert.equal(status, 201);
  await page.getByRole("button", { name: words.hold, exact: true }).click();
  await page.locator(".panel .note.danger").filter({ hasText: words.seatsMaxMore(4, 1) }).waitFor();
  await page.getByText(words.counter(4, 4), { exact: true }).waitFor();
  assert.equal(await page.locator(".picks li b").count(), 1);
  await context.close();
});

test("on a phone the way back hides no seat, and the list keeps its rows free", async () => {
  const show = await world.show({ template: blocks(12, 6, 10), prices: { VIP: 150_000, S: 100_000 } });
  const fan = await world.fan({ width: 390, height: 844, language: "en" });
  const { page, words } = fan;
  await fan.enter(show);
  await page.evaluate(() => document.querySelector("seat-map").dispatchEvent(new CustomEvent("section", { detail: 3 })));
  const crumb = await page.locator(".crumb").boundingBox();
  const front = await page.evaluate(() => {
    const map = document.querySelector("seat-map");
    return map.getBoundingClientRect().top + map.plan.sections[3].box[1] * map.view.scale + map.view.top;
  });
  assert.ok(crumb.y + crumb.height <= front, `the crumb ends at ${crumb.y + crumb.height}, the section begins at ${front}`);
  await page.getByRole("button", { name: words.listView }).click();
  const [list, tools] = [await page.locator(".list-view").boundingBox(), await page.locator(".map-tools").boundingBox()];
  assert.ok(list.y + list.height <= tools.y + 1, "the button stands below the list");
  const logo = await page.locator(".logo").evaluate((it) => {
    const text = document.createRange();
    text.selectNodeContents(it.lastChild);
    return new Set([...text.getClientRects()].filter(({ width }) => width).map(({ top }) => top)).size;
  });
  assert.equal(logo, 1, "the logo has one line");
  await fan.context.close();
});

test("every section has its name on a phone, however small", async () => {
  const show = await world.show({ template: blocks(15, 8, 10) });
  const { page, go, context } = await world.open({ width: 390, height: 844 });
  await page.addInitScript(() => {
    globalThis.written = new Set();
    const write = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function fillText(text, ...rest) {
      globalThis.written.add(text);
      return write.call(this, text, ...rest);
    };
  });
  await go(`/#/events/${show.eventId}`);
  await page.waitForFunction(() => globalThis.written.has("115"), null, { timeout: 10_000 });
  const missing = await page.evaluate(() => Array.from({ length: 15 }, (_, i) => String(101 + i)).filter((name) => !globalThis.written.has(name)));
  assert.deepEqual(missing, []);
  await context.close();
});

test("a fan whose time ran out sees why they came back to the map", async () => {
  const show = await world.show();
  const fan = await world.fan();
  const { page, words, context } = fan;
  await fan.enter(show);
  await pick(page, 9);
  // An entry that the server no longer accepts, as after a purchase in another tab.
  await page.evaluate((id) => {
    const key = `podo.entry.${id}`;
    sessionStorage.setItem(key, JSON.stringify({ ...JSON.parse(sessionStorage.getItem(key)), token: "gone" }));
  }, show.scheduleId);
  await page.getByRole("button", { name: words.hold, exact: true }).click();
  await page.locator(".panel .note.danger").filter({ hasText: words.entryAgain }).waitFor();
  assert.equal(await page.locator(".picks li b").count(), 1, "the seat stays picked");
  await page.getByRole("button", { name: words.hold, exact: true }).click();
  await page.waitForURL(/#\/checkout\//);
  await context.close();
});

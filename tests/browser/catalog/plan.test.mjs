// The seat plan editor: an arena drawn from nothing and sold, the keyboard, files, and a stadium.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { openWorld, pick, placeOf, pressPay } from "../support/world.mjs";

const DAY_MS = 86_400_000;

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

let venues = 0;
async function venue() {
  venues += 1;
  return (await world.admin.call("POST", "/api/admin/venues", { name: `Drawn venue ${venues}`, address: "Road 5", city: "서울" })).id;
}

/** The editor of a new hall, empty. */
async function openEditor(venueId, options) {
  const tab = await world.room(`#/halls/new?venue=${venueId}`, options);
  await tab.page.locator(".counts b").first().waitFor();
  await tab.page.getByRole("button", { name: "Start from nothing" }).click();
  await tab.page.getByText("There are no seats yet").waitFor();
  return { ...tab, ...handOf(tab.page) };
}

/** The pointer in units of the plan. */
function handOf(page) {
  const onScreen = ([x, y]) => page.evaluate(([px, py]) => {
    const map = document.querySelector("seat-map");
    const box = map.getBoundingClientRect();
    return [box.left + px * map.view.scale + map.view.left, box.top + py * map.view.scale + map.view.top];
  }, [x, y]);
  const drag = async (from, to) => {
    await page.mouse.move(...(await onScreen(from)));
    await page.mouse.down();
    await page.mouse.move(...(await onScreen([(from[0] + to[0]) / 2, (from[1] + to[1]) / 2])));
    await page.mouse.move(...(await onScreen(to)));
    await page.mouse.up();
  };
  return {
    drag,
    click: async (at) => page.mouse.click(...(await onScreen(at))),
    tool: (name) => page.locator(`[data-tool=${name}]`).click(),
    set: async (name, value) => {
      await page.locator(`.panel [name=${name}]`).fill(String(value));
      await page.keyboard.press("Tab");
    },
    pickOption: (name, value) => page.locator(`.panel [name=${name}]`).selectOption(value),
    total: async () => Number((await page.locator(".counts b").first().textContent()).replace(/\D/g, "")),
  };
}

const halls = async (venueId) => (await world.admin.call("GET", "/api/admin/venues?limit=100")).items.find(({ id }) => id === venueId).halls;
const templateOf = (hallId) => world.admin.call("GET", `/api/admin/halls/${hallId}/template`);

test("an arena is drawn from nothing, numbered and painted, and a fan buys a seat of it", async () => {
  const venueId = await venue();
  const editor = await openEditor(venueId, { language: "en", width: 1440, height: 1000 });
  const { page, drag, click, tool, set, pickOption, total } = editor;

  await tool("stage");
  await drag([-120, -80], [120, -30]);
  await tool("section");
  await drag([-120, 40], [-20, 110]);
  assert.equal(await total(), 88, "eleven seats in eight rows");
  await set("sectionName", "101");
  await set("firstRow", "A");
  await pickOption("fromRight", "yes");
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  assert.equal(await page.locator(".panel [name=sectionName]").inputValue(), "102");

  await tool("section");
  await drag([-120, 160], [120, 210]);
  await set("sectionName", "201");
  await set("sectionGrade", "S");
  await page.locator(".panel input[type=range]").fill("60");
  await page.locator(".panel output").filter({ hasText: "60°" }).waitFor();
  assert.ok(25 < Number(await page.locator(".panel [name=lastSeats]").inputValue()), "an arc is wider behind");
  await set("firstSeat", 1);
  await pickOption("step", "2");

  await tool("standing");
  await drag([-120, -20], [120, 20]);
  await set("count", 50);
  await set("sectionName", "ST");
  const before = await total();

  // Painted by mistake, undone, and done again; then a grade that the plan did not know.
  await tool("paint");
  const seatsOf = (grade, n) => page.locator(".counts span", { hasText: new RegExp(`^${grade} ${n}$`) }).waitFor();
  await page.locator(".grade", { hasText: "R" }).click();
  await click([-70, 70]);
  await seatsOf("R", 88);
  await page.keyboard.press("Control+z");
  await seatsOf("R", 0);
  await page.keyboard.press("Control+Shift+z");
  await seatsOf("R", 88);
  await page.locator("[name=newGrade]").fill("Premium");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await pickOption("brush", "row");
  await click([40, 40]);
  await seatsOf("Premium", 11);

  // One seat is blocked and one is gone: the numbers know the difference.
  await tool("seats");
  const seatOf = (number) => page.evaluate((it) => {
    const { plan } = document.querySelector("seat-map");
    const i = plan.seats.findIndex((seat) => seat.number === it);
    return [plan.x[i], plan.y[i]];
  }, number);
  await click(await seatOf("201-1-1"));
  await page.getByRole("button", { name: "Block", exact: true }).click();
  await click(await seatOf("101-A-11"));
  await page.getByRole("button", { name: "Delete seats" }).click();
  assert.equal(await total(), before - 2);
  assert.deepEqual(await violations(page), [], "axe on the editor");
  await shot(page, "plan-drawn-1440");

  await page.locator("input[name=name]").fill("Drawn hall");
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForURL(/#\/venues/);
  const [hall] = await halls(venueId);
  assert.equal(hall.capacity, before - 2);
  const { sections, stage } = await templateOf(hall.id);
  const rowsOf = (name) => sections.find((it) => it.name === name).rows.map(({ label, seats, count, firstNumber = 1 }) =>
    ({ label, numbers: seats?.map(({ number }) => number) ?? Array.from({ length: count }, (_, i) => String(firstNumber + i)) }));
  assert.ok(stage.width > 0);
  assert.deepEqual(rowsOf("101")[0], { label: "A", numbers: ["10", "9", "8", "7", "6", "5", "4", "3", "2", "1"] }, "from the right, without the deleted seat");
  assert.equal(rowsOf("101")[1].numbers.length, 11);
  assert.equal(rowsOf("201")[0].numbers[0], "3", "the blocked seat keeps its number");
  assert.deepEqual(rowsOf("102").map(({ label }) => label), ["A", "B", "C", "D", "E", "F", "G", "H"]);

  // Drawn once, it can be changed as it was drawn.
  await page.goto(`${world.url}/admin#/halls/${hall.id}`);
  await page.locator(".counts b").first().waitFor();
  const again = handOf(page);
  assert.equal(await again.total(), before - 2);
  await page.locator("summary", { hasText: "4 sections" }).click();
  await page.locator(".sections button", { hasText: "201" }).click();
  assert.equal(await page.locator(".panel input[type=range]").inputValue(), "60");
  await again.set("rows", 7);
  // The badge says "Saved" until the change arrives, so the answer is what counts.
  const [saved] = await Promise.all([
    page.waitForResponse((answer) => answer.request().method() !== "GET" && answer.url().includes("/api/admin/")),
    page.getByRole("button", { name: "Save" }).click(),
  ]);
  assert.ok(saved.ok());
  const changed = (await templateOf(hall.id)).sections.find((it) => it.name === "201");
  assert.equal(changed.rows.length, 7);
  await editor.context.close();

  await sellAndBuy(venueId, hall.id);
});

/** A concert in the hall, and a fan who takes the second seat of the arc. */
async function sellAndBuy(venueId, hallId) {
  const at = (ms) => new Date(Date.now() + ms).toISOString();
  const event = await world.admin.call("POST", "/api/admin/events", { title: "In the drawn hall", artist: "청포도", description: "첫 공연", venueId, hallId });
  const schedule = await world.admin.call("POST", `/api/admin/events/${event.id}/schedules`, {
    startsAt: at(30 * DAY_MS), endsAt: at(30 * DAY_MS + 7_200_000), saleStartsAt: at(-1_000), saleEndsAt: at(29 * DAY_MS), prices: { Premium: 200_000, VIP: 150_000, R: 120_000, S: 90_000 } });
  await world.admin.call("POST", `/api/admin/events/${event.id}/open`, {});
  await world.admin.call("PUT", `/api/admin/schedules/${schedule.id}/queue`, { mode: "AUTO", maxActive: 1_000, admitPerSecond: 500, entryTtlSeconds: 600 });
  const layout = await world.admin.call("GET", `/api/schedules/${schedule.id}/layout`);
  assert.ok(!JSON.stringify(layout).includes("numbering"), "fans get seats, no drawing");
  const fan = await world.fan({ language: "en", width: 390, height: 844 });
  const { page, words } = fan;
  await fan.enter({ scheduleId: schedule.id });
  const number = "201-1-5";
  const index = layout.sections.flatMap(({ seats }) => seats).findIndex((seat) => seat.number === number);
  await pick(page, index);
  await page.locator(".picks li b").first().waitFor();
  await shot(page, "plan-fan-390");
  await page.getByRole("button", { name: words.hold, exact: true }).click();
  await page.waitForURL(/#\/checkout\//);
  await page.locator("input[value=CARD]").check();
  await pressPay(page);
  await page.locator("[aria-describedby=how-APPROVE]").click();
  await page.getByRole("heading", { name: words.paidTitle }).waitFor();
  const { items: [booking] } = await world.admin.call("GET", "/api/admin/reservations?status=CONFIRMED&limit=1");
  assert.deepEqual(booking.seats.map((seat) => seat.number ?? seat.seatNumber ?? seat), [number]);
  await fan.context.close();
}

test("a plan is drawn with the keyboard alone", async () => {
  const { page, context, total } = await openEditor(await venue());
  await page.locator(".board").focus();
  await page.keyboard.press("s");
  await page.keyboard.press("Enter");
  assert.equal(await total(), 120);
  const first = () => page.evaluate(() => {
    const { plan } = document.querySelector("seat-map");
    return [plan.x[0], plan.y[0], plan.x[1] - plan.x[0]];
  });
  const [x, y] = await first();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowDown");
  assert.deepEqual((await first()).slice(0, 2), [x + 20, y + 1]);
  await page.keyboard.press("Control+z");
  assert.deepEqual((await first()).slice(0, 2), [x, y], "held arrows are one step");
  for (let i = 0; i < 18; i += 1) await page.keyboard.press("]");
  assert.ok(Math.abs((await first())[2]) < 0.01, "a quarter turn");
  await page.keyboard.press("Control+d");
  assert.equal(await total(), 240);
  // Tab goes through the sections, and then leaves the plan.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  await page.locator("#live", { hasText: "Section 101" }).waitFor();
  await page.keyboard.press("Tab");
  await page.locator("#live", { hasText: "Section 102" }).waitFor();
  // Into the seats: one is blocked, one is deleted.
  await page.keyboard.press("Enter");
  await page.locator("#live", { hasText: "102-1-1" }).waitFor();
  await page.keyboard.press("b");
  await page.locator(".counts span", { hasText: "blocked" }).waitFor();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.locator("#live", { hasText: "102-2-2" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Delete");
  assert.equal(await total(), 120, "the section that was selected is gone");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  assert.ok(await page.evaluate(() => document.activeElement !== document.querySelector(".board")), "no trap");
  await context.close();
});

test("a plan from elsewhere is opened, turned, laid out anew, and comes out as a file", async () => {
  const { page, context, total } = await openEditor(await venue());
  const seats = (y) => Array.from({ length: 9 }, (_, i) => ({ seat_number: String(i + 1), seat_guid: `g${y}${i}`, category: "Stalls", position: { x: i * 20, y: 0 } }));
  const pretix = { name: "Theatre", size: { width: 100, height: 100 }, categories: [{ name: "Stalls", color: "#000" }],
    zones: [{ name: "Left", position: { x: 0, y: 0 }, rows: [1, 2, 3].map((row) => ({ row_number: String(row), position: { x: 0, y: row * 20 }, seats: seats(row) })), areas: [] }] };
  await page.locator("summary", { hasText: "Files and source" }).click();
  await page.locator("input[type=file][accept*=json]").setInputFiles({ name: "plan.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(pretix)) });
  await page.locator(".counts span", { hasText: "Stalls" }).waitFor();
  assert.equal(await total(), 27);
  await page.locator("summary", { hasText: "1 section" }).click();
  await page.locator(".sections button", { hasText: "Left" }).click();
  await page.getByText("drawn one by one").first().waitFor();
  await page.getByRole("button", { name: "Lay out anew" }).click();
  assert.equal(await page.locator(".panel [name=rows]").inputValue(), "3");
  assert.equal(await page.locator(".panel [name=seats]").inputValue(), "9");
  await page.getByRole("button", { name: "Mirror" }).click();
  assert.equal(await total(), 54);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download the plan" }).click()]);
  const chunks = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  const template = JSON.parse(Buffer.concat(chunks).toString());
  const preview = await world.admin.call("POST", "/api/admin/layouts/preview", { seatTemplate: template });
  assert.equal(preview.seats, 54, "the API takes what came out");
  await page.locator("summary", { hasText: "Source of the plan" }).click();
  await page.waitForFunction(() => document.querySelector("textarea[name=source]").value.includes("sections"));
  await page.locator("textarea[name=source]").fill("{");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("This is not JSON").waitFor();
  await context.close();
});

test("a plan that the server would refuse says why, and what was not saved is still there", async () => {
  const venueId = await venue();
  const { page, context, tool, drag, set, total } = await openEditor(venueId);
  await tool("section");
  await drag([-100, 0], [0, 50]);
  await tool("section");
  await drag([20, 0], [120, 50]);
  await set("sectionName", "101");
  await page.locator(".problems", { hasText: "two sections 101" }).waitFor();
  await page.locator("input[name=name]").fill("Twice");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").filter({ hasText: "two sections 101" }).waitFor();
  assert.deepEqual(await halls(venueId), []);
  const n = await total();
  await page.locator("nav a[href='#/venues']").click();
  await page.locator(".halls, .card").first().waitFor();
  await page.goBack();
  await page.locator(".problems", { hasText: "two sections 101" }).waitFor();
  assert.equal(await total(), n);
  await context.close();
});

test("a picture is traced in the browser only", async () => {
  const { page, context } = await openEditor(await venue());
  const picture = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(300, 200);
    const pen = canvas.getContext("2d");
    pen.fillStyle = "#d00";
    pen.fillRect(0, 0, 300, 200);
    return [...new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())];
  });
  let sent = 0;
  page.on("request", (request) => (sent += Number(["POST", "PUT"].includes(request.method()))));
  await page.locator("input[name=background]").setInputFiles({ name: "floor.png", mimeType: "image/png", buffer: Buffer.from(picture) });
  const strength = page.getByRole("slider", { name: "Strength of the picture" });
  await strength.waitFor();
  await strength.fill("100");
  const redness = () => page.evaluate(() => {
    const map = document.querySelector("seat-map");
    const [x, y] = [map.view.width / 2, map.view.height / 2].map((it) => Math.round(it * map.dpr) + 3);
    const [r, g] = map.ground.getImageData(x, y, 1, 1).data;
    return r - g;
  });
  await page.waitForFunction(() => !document.querySelector("seat-map").frame);
  assert.ok(150 < await redness(), "the picture lies below the plan");
  await page.reload();
  await page.getByRole("slider", { name: "Strength of the picture" }).waitFor();
  await page.getByRole("button", { name: "Remove the picture" }).click();
  await page.waitForFunction(() => !document.querySelector("seat-map").frame);
  assert.ok(await redness() < 50);
  assert.equal(sent, 0, "nothing was sent");
  await page.locator("input[name=background]").setInputFiles({ name: "no.png", mimeType: "image/png", buffer: Buffer.from("no picture") });
  await page.getByText("could not be opened as a picture").waitFor();
  await context.close();
});

test("a stadium of sixty thousand seats is moved without stutter", async () => {
  const { page, context, drag, total } = await openEditor(await venue(), { language: "en", width: 1440, height: 1000 });
  const sections = Array.from({ length: 120 }, (_, i) => ({
    name: String(101 + i), grade: i % 3 ? "S" : "R",
    rows: Array.from({ length: 20 }, (_, row) => ({ label: String(row + 1), count: 25, line: { x: (i % 15) * 300, y: Math.floor(i / 15) * 260 + row * 10, dx: 10, dy: 0 } })) }));
  await page.locator("summary", { hasText: "Files and source" }).click();
  await page.locator("input[type=file][accept*=json]").setInputFiles({ name: "plan.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify({ layoutType: "sections", sections })) });
  await page.locator(".counts b", { hasText: "60,000" }).waitFor();
  // A tool's work for one movement of the pointer, without the driver's own time.
  await page.evaluate(() => {
    window.took = [];
    window.addEventListener("pointermove", () => (window.begun ||= performance.now()), { capture: true });
    const map = document.querySelector("seat-map");
    const draw = map.draw.bind(map);
    map.draw = (now) => {
      draw(now);
      if (window.begun) window.took.push(performance.now() - window.begun);
      window.begun = 0;
    };
  });
  const from = await page.evaluate(() => {
    const { plan } = document.querySelector("seat-map");
    return [plan.sections[0].cx, plan.sections[0].cy];
  });
  // Everything in view as shapes, then close enough to draw every seat of thirty sections.
  for (const zoom of [1, 3.2]) {
    await page.evaluate((factor) => {
      window.took = [];
      const map = document.querySelector("seat-map");
      map.look((view) => view.zoomAt(0, 0, factor));
    }, zoom);
    const at = await page.evaluate(() => {
      const { plan } = document.querySelector("seat-map");
      return [plan.sections[0].cx, plan.sections[0].cy];
    });
    for (let i = 0; i < 12; i += 1) await drag([at[0] + i * 20, at[1] + i * 20], [at[0] + (i + 1) * 20, at[1] + (i + 1) * 20]);
    const took = (await page.evaluate(() => window.took)).sort((a, b) => a - b);
    console.log(`60,000 seats at ${zoom}: ${took.length} frames, median ${took[took.length >> 1].toFixed(1)} ms, 95th ${took[Math.floor(took.length * 0.95)].toFixed(1)} ms`);
    assert.ok(6 <= took.length && took[took.length >> 1] < 100, `${took}`);
  }
  const moved = await page.evaluate(() => document.querySelector("seat-map").plan.sections[0].cx);
  assert.ok(100 < moved - from[0], `${moved - from[0]} units to the right`);
  assert.equal(await total(), 60_000);
  await context.close();
});

test("the editor fits a phone: review, a tap, the panel below", async () => {
  const show = await world.show({ venue: "Phone venue" });
  const { hallName } = await world.admin.call("GET", `/api/admin/events/${show.eventId}`);
  const hall = (await world.admin.call("GET", "/api/admin/venues?limit=100")).items.find(({ name }) => name === "Phone venue").halls.find(({ name }) => name === hallName);
  const { page, context } = await world.room(`#/halls/${hall.id}`, { language: "ko", width: 390, height: 844 });
  await page.locator(".counts b").first().waitFor();
  await page.waitForFunction(() => document.querySelector("seat-map[drawn]"));
  const { x, y } = await placeOf(page, 5);
  await page.touchscreen.tap(x, y);
  await page.locator(".panel [name=sectionName]").waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the phone");
  assert.deepEqual(await violations(page), []);
  await shot(page, "plan-phone-390");
  await context.close();
});

async function shot(page, name) {
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png`, fullPage: true });
}

// A world for one test file: the real binary on a free port, a concert on sale, real Chromium.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const ADMIN = { email: "organiser@podo.kr", password: "grapes-in-the-sun" };
const DAY_MS = 86_400_000;
const LOCALES = { ko: "ko-KR", en: "en-US", ja: "ja-JP", zh: "zh-CN" };

/**
 * Starts everything; `close()` ends it and fails when a page broke a rule. `env` are settings of the
 * server, `port` is for those that must know its address before.
 */
export async function openWorld({ env = {}, port = 0 } = {}) {
  const data = mkdtempSync(join(tmpdir(), "podo-browser-"));
  let server = await startServer(data, env, port);
  const browser = await openBrowser();
  const broken = [];
  const world = { url: server.url, data, browser, broken, admin: await organiser(server.url) };
  return Object.assign(world, {
    show: (plan) => makeShow(world, plan),
    open: (options) => openTab(world, options),
    fan: (options) => openFan(world, options),
    room: (path, options) => openRoom(world, path, options),
    buy: (show, seats, options) => buy(world, show, seats, options),
    /** The same data and the same address under other settings. */
    async restart(settings) {
      server.process.kill("SIGTERM");
      await server.ended;
      server = await startServer(data, settings, new URL(world.url).port);
    },
    async close() {
      await browser.close();
      server.process.kill("SIGTERM");
      await server.ended;
      rmSync(data, { recursive: true, force: true });
      if (broken.length) throw new Error(`pages broke rules:\n${broken.join("\n")}`);
    },
  });
}

export function openBrowser(args = []) {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", ...args] });
}

function startServer(data, settings, port) {
  const binary = process.env.PODO ?? new URL("../../../target/debug/podo", import.meta.url).pathname;
  const env = {
    ...process.env,
    PODO_LIMITS: "off",
    PODO_ADMIN_EMAIL: ADMIN.email,
    PODO_ADMIN_PASSWORD: ADMIN.password,
    ...settings,
  };
  const child = spawn(binary, ["serve", "--listen", `127.0.0.1:${port}`, "--data", data], { env, stdio: ["ignore", "pipe", process.env.SHOW_LOG ? "inherit" : "ignore"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  return new Promise((resolve, reject) => {
    child.stdout.once("data", (line) => resolve({ process: child, ended, url: String(line).trim().split("\n")[0] }));
    child.once("exit", (code) => reject(new Error(`podo ended with ${code}`)));
  });
}

async function call(url, method, path, { token, body, headers } = {}) {
  const response = await fetch(url + path, {
    method,
    headers: { ...(body ? { "Content-Type": "application/json" } : {}), ...(token ? { Authorization: `Bearer ${token}` } : {}), ...headers },
    body: body ? JSON.stringify(body) : undefined,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return /json/.test(response.headers.get("content-type") ?? "") ? JSON.parse(text) : text;
}

async function organiser(url) {
  const { accessToken: token } = await call(url, "POST", "/api/auth/login", { body: ADMIN });
  return { ...ADMIN, token, call: (method, path, body) => call(url, method, path, { token, body }) };
}

let made = 0;

/** A concert on sale. `plan`: opensInMs, queue settings, template, prices, what it is called, where, and in which currency. */
async function makeShow({ admin }, { opensInMs = -1_000, queue = {}, template, prices = { VIP: 150_000, S: 100_000 }, days = 30, schedule: more = {}, ...names } = {}) {
  made += 1;
  const venue = await admin.call("POST", "/api/admin/venues", { name: names.venue ?? `Arena ${made}`, address: "Road 1", city: names.city ?? "서울", ...(names.timeZone ? { timeZone: names.timeZone } : {}) });
  const seatTemplate = template ?? blocks(2, 6, 10);
  const hall = await admin.call("POST", `/api/admin/venues/${venue.id}/halls`, { name: names.hall ?? "Hall", seatTemplate });
  const event = await admin.call("POST", "/api/admin/events", {
    title: names.title ?? `포도의 밤 ${made}`, artist: names.artist ?? "청포도", description: names.description ?? "첫 공연", venueId: venue.id, hallId: hall.id, ...(names.currency ? { currency: names.currency } : {}) });
  const now = Date.now();
  const at = (ms) => new Date(now + ms).toISOString();
  const schedule = await admin.call("POST", `/api/admin/events/${event.id}/schedules`, {
    startsAt: at(days * DAY_MS), endsAt: at(days * DAY_MS + 7_200_000), saleStartsAt: at(opensInMs), saleEndsAt: at((days - 1) * DAY_MS), prices, ...more });
  await admin.call("POST", `/api/admin/events/${event.id}/open`, {});
  const settings = { mode: "AUTO", maxActive: 1_000, admitPerSecond: 500, entryTtlSeconds: 600, ...queue };
  const setQueue = (changes) => admin.call("PUT", `/api/admin/schedules/${schedule.id}/queue`, { ...settings, ...changes });
  await setQueue({});
  return { eventId: event.id, scheduleId: schedule.id, setQueue, live: () => admin.call("GET", `/api/admin/schedules/${schedule.id}/live`) };
}

/** Blocks of seats beside each other, the first of them dearer. */
export function blocks(nBlocks, nRows, nSeats) {
  return {
    layoutType: "sections",
    stage: { x: 0, y: 0, width: nBlocks * (nSeats + 2) * 12, height: 40 },
    sections: Array.from({ length: nBlocks }, (_, block) => ({
      name: String(101 + block),
      grade: block ? "S" : "VIP",
      rows: Array.from({ length: nRows }, (_, row) => ({
        label: String(row + 1), count: nSeats, line: { x: (block % 20) * (nSeats + 3) * 12, y: 80 + Math.floor(block / 20) * (nRows + 3) * 12 + row * 12, dx: 12, dy: 0 } })),
    })),
  };
}

/** A tab that notes every broken rule: errors, policy violations, requests to other hosts. */
export async function openTab({ url, browser, broken }, { language = "ko", width = 1280, height = 860, theme = "light", keepsChoice, mayAsk, userAgent } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, hasTouch: width < 500, userAgent, locale: LOCALES[language] });
  if (!keepsChoice) await context.addInitScript((chosen) => localStorage.setItem("podo.language", chosen), language);
  const page = await context.newPage();
  watch(page, url, broken, mayAsk);
  const words = (await import(new URL(`../words/${language}.js`, import.meta.url))).default;
  return { context, page, words, go: (path) => page.goto(url + path) };
}

/** `mayAsk` are the addresses elsewhere that are part of a journey, or how they begin. */
export function watch(page, url, broken, mayAsk) {
  page.on("pageerror", (error) => broken.push(`${page.url()}: ${error.stack}`));
  page.on("console", (message) => {
    // A refused call is part of many journeys; anything else is a mistake.
    const isMistake = message.type() === "error" && !/Failed to load resource|net::ERR_INTERNET_DISCONNECTED/.test(message.text());
    if (isMistake) broken.push(`${page.url()}: ${message.text()}`);
  });
  page.on("request", (request) => {
    const isOurs = request.url().startsWith(url) || [mayAsk].flat().some((it) => it && request.url().startsWith(it)) || /^(data|blob):/.test(request.url());
    if (!isOurs) broken.push(`${page.url()} asked ${request.url()}`);
  });
}

let fans = 0;

/** A tab with a fan who just signed up: `signsUp` through the page, otherwise by the same calls. */
async function openFan(world, { signsUp, ...options } = {}) {
  fans += 1;
  const tab = await openTab(world, options);
  const account = { email: `fan${fans}.${Date.now()}@podo.kr`, password: "green-grapes-2026", name: "김포도" };
  await (signsUp ? signUp(tab, account) : begin(tab, account));
  return { ...tab, account, join: (show) => joinLine(tab, show), enter: (show, how) => enter(tab, show, how) };
}

async function signUp({ page, go }, account) {
  await go("/#/login?new=yes");
  for (const name of ["email", "password", "name"]) await page.locator(`input[name=${name}]`).fill(account[name]);
  await page.locator("form button.primary").click();
  await page.waitForURL(/#\/$/);
}

/** Leaves the browser as the page leaves it: with its cookies and what the tab knows. */
async function begin({ page, go }, { email, password, name }) {
  await go("/livez");
  await page.evaluate(async ([account, credentials]) => {
    const post = (path, body) => fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    await post("/api/auth/signup", account);
    const { user } = await (await post("/api/auth/login", credentials)).json();
    sessionStorage.setItem("podo.user", JSON.stringify(user));
    localStorage.setItem("podo.known", "yes");
  }, [{ email, password, name }, { email, password }]);
}

/** The control room with an organiser in it. */
async function openRoom(world, path, options = { language: "en", width: 1400, height: 1000 }) {
  const tab = await openTab(world, options);
  await enterRoom(tab, world.admin, path);
  return tab;
}

export async function enterRoom({ page, go }, { email, password }, path) {
  await go(`/admin#/login?next=${encodeURIComponent(path)}`);
  await page.locator("input[name=email]").fill(email);
  await page.locator("input[name=password]").fill(password);
  await page.locator("form button.primary").click();
  await page.locator("nav a[aria-current]").waitFor();
}

/** A fan who buys through the API, faster than any person could. */
async function buy({ url }, { scheduleId }, seats = [0], { ticketTypeId } = {}) {
  fans += 1;
  const account = { email: `quick${fans}.${Date.now()}@podo.kr`, password: "green-grapes-2026", name: "박포도" };
  await call(url, "POST", "/api/auth/signup", { body: account });
  const { accessToken: token } = await call(url, "POST", "/api/auth/login", { body: { email: account.email, password: account.password } });
  const headers = {};
  const act = (path, body) => call(url, "POST", path, { token, body, headers: { ...headers, "Idempotency-Key": crypto.randomUUID() } });
  let place = await call(url, "POST", "/api/queue/enter", { token, body: { scheduleId } });
  headers["Queue-Token"] = place.token;
  while (!place.entryToken) place = await call(url, "GET", `/api/queue/status?scheduleId=${scheduleId}`, { token, headers });
  headers["Entry-Token"] = place.entryToken;
  const { sections } = await call(url, "GET", `/api/schedules/${scheduleId}/layout`);
  const ids = sections.flatMap((section) => section.seats.map(({ id }) => id));
  await act("/api/wallet/charge", { amount: 1_000_000 });
  const seatIds = seats.map((i) => ids[i]);
  const held = await act("/api/booking/seats/select", { scheduleId, seatIds });
  const { reservationId } = held;
  const types = { seats: seatIds.map((seatId) => ({ seatId, ticketTypeId })) };
  const { amount } = ticketTypeId === undefined ? held : await call(url, "PUT", `/api/booking/reservations/${reservationId}/order`, { token, body: types, headers });
  const { paymentId } = await act("/api/payment/request", { reservationId, method: "WALLET" });
  const { tickets } = await act("/api/payment/confirm", { paymentId, amount });
  return { account, token, tickets, code: (ticket) => call(url, "GET", `/api/tickets/${ticket.id}/qr.svg`, { token }) };
}

/** Joins the queue as a fan who followed a link. A fan with a place in this tab is not asked again. */
async function joinLine({ page, words, go }, { scheduleId }) {
  await go(`/#/queue/${scheduleId}`);
  const hasPlace = await page.evaluate((id) => sessionStorage.getItem(`podo.place.${id}`) !== null, scheduleId);
  if (!hasPlace) await page.getByRole("button", { name: words.joinQueue }).click();
}

/** Through the waiting room to the map. */
async function enter(tab, show, { isBlind } = {}) {
  const { page } = tab;
  await joinLine(tab, show);
  await page.waitForURL(/#\/seats\//);
  await page.locator("seat-map canvas").first().waitFor();
  if (!isBlind) await page.locator(".chip em").first().filter({ hasText: /\d/ }).waitFor();
}

/** Where a seat is on the screen. */
export function placeOf(page, seat) {
  return page.evaluate((i) => {
    const map = document.querySelector("seat-map");
    const box = map.getBoundingClientRect();
    const { plan, view } = map;
    return { x: box.left + plan.x[i] * view.scale + view.left, y: box.top + plan.y[i] * view.scale + view.top };
  }, seat);
}

/** Opens a seat's section and taps the seat. */
export async function pick(page, seat) {
  await page.evaluate((i) => {
    const map = document.querySelector("seat-map");
    map.openSection(map.plan.section[i]);
    // On a small screen a section may be larger than the room for it.
    const [top, right, bottom, left] = map.insets;
    map.look((view) => view.panBy(
      left + (view.width - left - right) / 2 - (map.plan.x[i] * view.scale + view.left),
      top + (view.height - top - bottom) / 2 - (map.plan.y[i] * view.scale + view.top)));
  }, seat);
  await page.waitForTimeout(100);
  const { x, y } = await placeOf(page, seat);
  await page.mouse.click(x, y);
}

/** Agrees to the terms and pays with the chosen method. */
export async function pressPay(page) {
  await page.locator("input[name=terms]").check();
  await page.locator("form button.primary").click();
}

/** The text of a drawn code. */
export async function read(page, drawing) {
  return page.evaluate(async (svg) => {
    const { decodeQR } = await import("/vendor/qr/decode.js");
    const picture = new Image(400, 400);
    picture.src = `data:image/svg+xml;utf8,${encodeURIComponent(svg)}`;
    await picture.decode();
    const canvas = new OffscreenCanvas(480, 480).getContext("2d");
    canvas.fillStyle = "white";
    canvas.fillRect(0, 0, 480, 480);
    canvas.drawImage(picture, 40, 40, 400, 400);
    return decodeQR(canvas.getImageData(0, 0, 480, 480));
  }, drawing);
}

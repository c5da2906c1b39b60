// An event on an organiser's own site: the page of `examples/embed`, served from another origin.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { openWorld } from "../support/world.mjs";

const EXAMPLE = readFileSync(new URL("../../../examples/embed/index.html", import.meta.url), "utf8");

let world;
let show;
let ours;
let theirs;

/** A site that shows the example; its origin is another than the server's. */
function openSite(fill) {
  const server = createServer((_, response) => response.writeHead(200, { "Content-Type": "text/html" }).end(fill()));
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve({ server, origin: `http://localhost:${server.address().port}` })));
}

before(async () => {
  const page = () => EXAMPLE.replaceAll("https://tickets.example", world.url).replaceAll("EVENT_ID", show.eventId);
  [ours, theirs] = await Promise.all([openSite(page), openSite(page)]);
  world = await openWorld({ env: { PODO_EMBED_ORIGINS: ours.origin } });
  show = await world.show({ title: "Embedded night", artist: "The Grapes" });
});
after(async () => {
  ours.server.close();
  theirs.server.close();
  await world.close();
});

/** A visitor of another site; what its console says is part of the test. */
async function visit(origin, options = {}) {
  const context = await world.browser.newContext({ locale: "en-US", viewport: { width: 900, height: 900 }, ...options });
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => (message.type() === "error" ? said.push(message.text()) : null));
  await page.goto(origin);
  return { context, page, said };
}

test("a listed site shows the event by script and in a frame, and a fan comes to the server", async () => {
  const { context, page, said } = await visit(ours.origin);
  const widget = page.frameLocator("iframe[title='Tickets of The Grapes']");
  await widget.getByRole("heading", { name: "Embedded night" }).waitFor();
  await page.frameLocator("iframe[title='Tickets, as a frame']").getByRole("heading", { name: "Embedded night" }).waitFor();
  await page.locator("#dates li", { hasText: "Embedded night" }).waitFor();
  // The widget is as high as what it shows.
  const heights = () => page.evaluate(() => document.querySelector("iframe[title='Tickets of The Grapes']").getBoundingClientRect().height);
  const inside = await page.frames().find((it) => it.url().includes("language=en")).evaluate(() => document.getElementById("main").getBoundingClientRect().bottom);
  await page.waitForFunction((high) => Math.abs(document.querySelector("iframe").getBoundingClientRect().height - high) <= 2, inside, { timeout: 5_000 }).catch(() => null);
  assert.ok(Math.abs(await heights() - inside) <= 2 && inside !== 220, `${await heights()} and ${inside}`);
  assert.deepEqual(await violations(page), [], "axe on the page with its frames");
  const [opened] = await Promise.all([context.waitForEvent("page"), widget.getByRole("link", { name: /Book/ }).click()]);
  await opened.getByRole("heading", { level: 1, name: "Embedded night" }).waitFor();
  assert.ok(opened.url().startsWith(world.url));
  assert.deepEqual(said, []);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/embed-900.png` });
  await context.close();
});

test("the frame follows the phone and the language", async () => {
  const { context, page } = await visit(ours.origin, { locale: "ja-JP", viewport: { width: 390, height: 844 } });
  const frame = page.frameLocator("iframe[title='Tickets, as a frame']");
  await frame.getByRole("link", { name: /予約する/ }).waitFor();
  await page.frameLocator("iframe[title='Tickets of The Grapes']").getByRole("link", { name: /Book/ }).waitFor();
  const widest = await page.frames().find((it) => it.url().includes("language=en")).evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(widest <= 0, "nothing is cut");
  await context.close();
});

test("a site that is not listed can neither frame the page nor read the API", async () => {
  const { context, page, said } = await visit(theirs.origin);
  await page.waitForTimeout(1_500);
  assert.equal(await page.frameLocator("iframe").first().getByRole("heading").count(), 0);
  assert.equal(await page.locator("#dates li").count(), 0);
  assert.ok(said.some((text) => /frame-ancestors|refused to connect|X-Frame-Options/i.test(text)), said.join("\n"));
  assert.ok(said.some((text) => /CORS/.test(text)), said.join("\n"));
  await context.close();
});

test("a listed site calls with an API key, and never with the cookies of a visitor", async () => {
  const { key } = await world.admin.call("POST", "/api/admin/keys", { name: "site", role: "VIEWER", events: [show.eventId], days: 7 });
  const { context, page } = await visit(ours.origin);
  const ask = (path, options = {}) => page.evaluate(async ([url, init]) => {
    const response = await fetch(url, init).catch((error) => ({ status: 0, headers: new Headers(), text: async () => String(error) }));
    return { status: response.status, limit: response.headers.get("ratelimit"), text: await response.text() };
  }, [world.url + path, options]);
  const headers = { Authorization: `Bearer ${key}` };
  const seen = await ask(`/api/admin/events/${show.eventId}`, { headers });
  assert.equal(seen.status, 200, seen.text);
  assert.match(seen.text, /Embedded night/);
  // A change reaches the permissions of the key, which has none for it.
  const changed = await ask(`/api/admin/events/${show.eventId}`, { method: "PATCH", headers: { ...headers, "Content-Type": "application/json" }, body: "{}" });
  assert.equal(changed.status, 403, changed.text);
  assert.doesNotMatch(changed.text, /ORIGIN_FORBIDDEN/);
  // Without a token of its own a page may change nothing, and cookies are not even sent along.
  const bare = await ask("/api/auth/logout", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
  assert.match(bare.text, /ORIGIN_FORBIDDEN/);
  const withCookies = await ask("/api/events", { credentials: "include" });
  assert.equal(withCookies.status, 0, "the browser keeps an answer that a cookie could have made");
  await context.close();
});

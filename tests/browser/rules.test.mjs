// Rules that hold on every page: axe finds nothing in either theme, nothing is wider than a phone,
// both languages say everything.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { everyPage } from "./pages.mjs";
import { openWorld } from "./world.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

for (const theme of ["light", "dark"]) {
  test(`axe finds nothing on any page (${theme})`, async () => {
    const found = [];
    await everyPage(world, { theme, width: 1280 }, async (page, name) => {
      // The page's own policy forbids what axe needs; the driver's world does not.
      const session = await page.context().newCDPSession(page);
      await session.send("Runtime.evaluate", { expression: AXE });
      const { violations } = await page.evaluate((tags) => globalThis.axe.run(document, { runOnly: tags, resultTypes: ["violations"] }), TAGS);
      for (const { id, nodes } of violations) found.push(`${name}: ${id}: ${nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ")}`);
    });
    assert.deepEqual(found, []);
  });
}

test("no page is wider than a small phone", async () => {
  const wide = [];
  await everyPage(world, { width: 320, height: 640 }, async (page, name) => {
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (over > 0) wide.push(`${name}: ${over} px too wide`);
  });
  assert.deepEqual(wide, []);
});

// Everybody gets in: axe finds nothing on any page in either theme, nothing is wider than a phone. The
// longest walk of all, named so that it begins first.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "../support/axe.mjs";
import { everyPage } from "../support/pages.mjs";
import { openWorld } from "../support/world.mjs";

const SIZE = { width: 1280, height: 860 };

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

test("axe finds nothing on any page in either theme, and none is wider than a small phone", async () => {
  const found = [];
  await everyPage(world, SIZE, async (page, name) => {
    for (const theme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: theme });
      found.push(...(await violations(page)).map((words) => `${name} (${theme}): ${words}`));
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 320, height: 640 });
    // The map follows the size of its window a moment later.
    const fits = () => document.documentElement.scrollWidth <= innerWidth;
    await page.waitForFunction(fits, null, { timeout: 3_000 }).catch(() => found.push(`${name}: too wide`));
    await page.setViewportSize(SIZE);
  });
  assert.deepEqual(found, []);
});

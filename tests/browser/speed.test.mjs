// What the map costs, counted in time of the processor: frames per second would measure the machine.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { blocks, openWorld } from "./world.mjs";

const CHANGES_PER_SECOND = 500;
const SECONDS = 4;

let world;
before(async () => (world = await openWorld()));
after(() => world.close());

for (const [seats, plan, shareMax] of [[20_000, blocks(40, 20, 25), 0.3], [50_000, blocks(100, 20, 25), 0.6]]) {
  test(`${seats} seats with ${CHANGES_PER_SECOND} changes a second leave most of a core idle`, async () => {
    const show = await world.show({ template: plan });
    const fan = await world.fan();
    await fan.enter(show);
    const { page } = fan;
    assert.equal(await page.evaluate(() => document.querySelector("seat-map").plan.n), seats);
    const firstMs = await page.evaluate(() => {
      const map = document.querySelector("seat-map");
      // Near enough that every seat is drawn, far enough that most are in sight.
      while (map.detail < 1) map.zoomBy(1.1);
      const from = performance.now();
      map.isOld = true;
      map.draw(from);
      return performance.now() - from;
    });
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    const busy = async () => {
      const { metrics } = await session.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "TaskDuration").value;
    };
    const before = await busy();
    await page.evaluate(([perSecond, seconds]) => new Promise((resolve) => {
      const map = document.querySelector("seat-map");
      const perBatch = perSecond / 10;
      let rounds = seconds * 10;
      const timer = setInterval(() => {
        for (let n = 0; n < perBatch; n += 1) {
          const i = Math.floor(Math.random() * map.plan.n);
          map.set(i, (map.status[i] + 1) % 3);
        }
        rounds -= 1;
        if (rounds > 0) return;
        clearInterval(timer);
        resolve();
      }, 100);
    }), [CHANGES_PER_SECOND, SECONDS]);
    const share = ((await busy()) - before) / SECONDS;
    console.log(`# ${seats} seats: ${(share * 100).toFixed(1)} % of a core, first drawing ${firstMs.toFixed(0)} ms`);
    assert.ok(share < shareMax, `${(share * 100).toFixed(1)} % of a core`);
    assert.ok(firstMs < 300, `first drawing took ${firstMs} ms`);
    await fan.context.close();
  });
}

// Pictures of every page: light, dark and on a phone. `node screens.mjs FOLDER`.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { everyPage } from "./pages.mjs";
import { openWorld } from "./world.mjs";

const folder = process.argv[2] ?? "screens";
const VARIANTS = [
  ["light", { theme: "light", width: 1280 }],
  ["dark", { theme: "dark", width: 1280 }],
  ["phone", { theme: "light", width: 390, height: 844 }],
];

const world = await openWorld();
for (const [name, options] of VARIANTS) {
  mkdirSync(join(folder, name), { recursive: true });
  await everyPage(world, options, (page, title) => page.screenshot({ path: join(folder, name, `${title}.png`) }));
}
await world.close();

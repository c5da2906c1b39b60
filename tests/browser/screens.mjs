// Pictures of every page: light, dark and on a phone. `node screens.mjs FOLDER [VARIANT…]`.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { everyPage } from "./pages.mjs";
import { setStage } from "./stage.mjs";
import { openWorld } from "./world.mjs";

const [folder = "screens", ...chosen] = process.argv.slice(2);
const VARIANTS = {
  light: { theme: "light", width: 1280 },
  dark: { theme: "dark", width: 1280, language: "en" },
  phone: { theme: "light", width: 390, height: 844 },
};

const world = await openWorld();
const show = await setStage(world);
for (const name of chosen.length ? chosen : Object.keys(VARIANTS)) {
  mkdirSync(join(folder, name), { recursive: true });
  await everyPage(world, { ...VARIANTS[name], show }, (page, title) => page.screenshot({ path: join(folder, name, `${title}.png`) }));
}
await world.close();

// A sale that wants to know who is in line: the certifier's window and the way back to the place.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { openWorld } from "../support/world.mjs";

const SDK = "https://cdn.portone.io/v2/browser-sdk.js";

let world;
let certifier;
before(async () => {
  certifier = await openCertifier();
  world = await openWorld({ env: {
    PODO_IDENTITY_URL: certifier.url,
    PODO_IDENTITY_STORE_ID: "store",
    PODO_IDENTITY_CHANNEL_KEY: "channel",
    PODO_IDENTITY_SECRET: "secret",
  } });
});
after(async () => {
  await world.close();
  certifier.server.close();
});

test("a fan who must verify their identity does so in the certifier's window and is then in line", async () => {
  const show = await world.show({ queue: { identityRequired: true } });
  const fan = await world.fan({ language: "en", mayAsk: SDK });
  const { page, words } = fan;
  // The certifier's script, played: what it opens is theirs, what it is asked for is ours.
  await page.route(SDK, (route) => route.fulfill({ contentType: "text/javascript", body: `
    window.PortOne = { requestIdentityVerification: async (asked) => {
      sessionStorage.setItem("asked", JSON.stringify(asked));
      return { identityVerificationId: asked.identityVerificationId };
    } };` }));
  await fan.join(show);
  await page.getByRole("button", { name: words.identityStart }).click();
  await page.getByText(words.identityDone).waitFor();
  const asked = await page.evaluate(() => JSON.parse(sessionStorage.getItem("asked")));
  assert.deepEqual([asked.storeId, asked.channelKey], ["store", "channel"]);
  await page.getByRole("link", { name: words.goOn }).click();
  await page.waitForURL(/#\/seats\//);
  await fan.go("/#/me");
  await page.getByText(words.identityProven).waitFor();
  await fan.context.close();
});

/** Says of every verification that it was passed. */
async function openCertifier() {
  const server = createServer((request, response) => {
    const id = new URL(request.url, "http://certifier").pathname.split("/").pop();
    const verifiedCustomer = { id: "customer", name: "김포도", ci: "c".repeat(88), di: "d".repeat(64) };
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ status: "VERIFIED", id, verifiedCustomer }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}` };
}

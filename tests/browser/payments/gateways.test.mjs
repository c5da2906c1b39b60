// Payments through real companies: their script on a page of its own, their window, the way back; on
// phones the pages of Inicis and KCP, which a form opens.
// The companies are played: their scripts by what the driver serves in their name, their servers here.

import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { blocks, openWorld, pressPay } from "../support/world.mjs";

/** What each company's script does once its fan said yes in its window; `asked` is noted for the test. */
const SCRIPTS = {
  toss: ["https://js.tosspayments.com/v2/standard", `
    window.TossPayments = (clientKey) => ({ payment: ({ customerKey }) => ({ requestPayment: async (order) => {
      note({ clientKey, customerKey, ...order });
      if (window.name === "no") throw Object.assign(new Error("closed"), { code: "USER_CANCEL" });
      location.assign(order.successUrl + "?paymentKey=tk_" + order.orderId + "&orderId=" + order.orderId + "&amount=" + order.amount.value);
    } }) });`],
  portone: ["https://cdn.portone.io/v2/browser-sdk.js", `
    window.PortOne = { requestPayment: async (order) => {
      note(order);
      location.assign(order.redirectUrl + "?paymentId=" + order.paymentId + "&paymentToken=tok_" + order.paymentId);
    } };`],
  inicis: ["https://stdpay.inicis.com/stdjs/INIStdPay.js", `
    window.INIStdPay = { pay: (id) => {
      const form = document.getElementById(id);
      const { oid, price } = Object.fromEntries(new FormData(form));
      note(Object.fromEntries(new FormData(form)));
      back(form, { resultCode: "0000", orderNumber: oid, idc_name: "fc", authToken: oid + "." + price });
      form.submit();
    } };`],
  kcp: ["https://spay.kcp.co.kr/plugin/kcp_spay_hub.js", `
    window.GetField = (form, answer) => { for (const [name, value] of Object.entries(answer)) form.elements[name].value = value; };
    window.KCP_Pay_Execute_Web = (form) => {
      note(Object.fromEntries(new FormData(form)));
      m_Completepayment({ res_cd: "0000", tran_cd: "00100000", enc_info: "info", enc_data: form.elements.ordr_idxx.value }, () => null);
    };`],
  // Stripe's form stands in our page; the amount is in the secret of our stand-in.
  stripe: ["https://js.stripe.com/v3/", `
    window.Stripe = (publishableKey) => ({
      elements: ({ clientSecret, locale }) => ({ clientSecret, create: () => ({ mount: (box) => {
        note({ publishableKey, locale, amount: { value: Number(clientSecret.split("_secret_")[1]) } });
        box.textContent = "4242";
      } }) }),
      confirmPayment: async ({ elements, confirmParams }) =>
        location.assign(confirmParams.return_url + "&payment_intent=" + elements.clientSecret.split("_secret_")[0] + "&redirect_status=succeeded"),
    });`],
};
/** The companies' pages for phones: the address, and what their form posts back and where. */
const PAGES = {
  inicis: ["https://mobile.inicis.com/smart/payment/", ({ P_NEXT_URL, P_OID, P_AMT }) =>
    [P_NEXT_URL, { P_STATUS: "00", P_TID: `${P_OID}.${P_AMT}`, idc_name: "fc", P_REQ_URL: "https://fcmobile.inicis.com/smart/payReq.ini" }]],
  kcp: ["https://smpay.kcp.co.kr/pay/mobileGW.kcp", ({ Ret_URL, ordr_idxx }) =>
    [Ret_URL, { res_cd: "0000", ordr_idxx, tran_cd: "00100000", enc_info: "info", enc_data: ordr_idxx }]],
};
const PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1";
const HELP = `
  const note = (asked) => sessionStorage.setItem("asked", JSON.stringify(asked));
  const back = (form, fields) => { for (const [name, value] of Object.entries(fields)) {
    const input = document.createElement("input");
    Object.assign(input, { type: "hidden", name, value });
    form.append(input);
  } };`;

let world;
let companies;
let keys;
before(async () => {
  companies = await openCompanies();
  keys = mkdtempSync(join(tmpdir(), "podo-kcp-"));
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  writeFileSync(join(keys, "key.pem"), privateKey.export({ type: "pkcs8", format: "pem" }));
  writeFileSync(join(keys, "certificate.pem"), "-----BEGIN CERTIFICATE-----\npodo\n-----END CERTIFICATE-----\n");
  const port = await freePort();
  world = await openWorld({ port, env: {
    PODO_PUBLIC_URL: `http://127.0.0.1:${port}`,
    PODO_SANDBOX: "off",
    PODO_TOSS_URL: companies.url, PODO_TOSS_CLIENT_KEY: "test_ck", PODO_TOSS_SECRET_KEY: "test_sk",
    PODO_PORTONE_URL: companies.url, PODO_PORTONE_STORE_ID: "store", PODO_PORTONE_CHANNEL_KEY: "channel",
    PODO_PORTONE_SECRET: "secret", PODO_PORTONE_WEBHOOK_SECRETS: "whsec_c2VjcmV0", PODO_PORTONE_CHANNEL: "test",
    PODO_INICIS_URL: companies.url, PODO_INICIS_PAY_URL: companies.url, PODO_INICIS_MID: "INIpayTest",
    PODO_INICIS_SIGN_KEY: "sign", PODO_INICIS_API_KEY: "api",
    PODO_KCP_URL: companies.url, PODO_KCP_SITE_CD: "T0000", PODO_KCP_CERTIFICATE: join(keys, "certificate.pem"),
    PODO_KCP_PRIVATE_KEY: join(keys, "key.pem"),
    PODO_STRIPE_URL: companies.url, PODO_STRIPE_PUBLISHABLE_KEY: "pk_test_x", PODO_STRIPE_SECRET_KEY: "sk_test_x", PODO_STRIPE_WEBHOOK_SECRETS: "whsec_x",
  } });
});
after(async () => {
  await world.close();
  companies.server.close();
  rmSync(keys, { recursive: true, force: true });
});

async function openBuyer(options = { language: "en" }) {
  const mayAsk = [...Object.values(SCRIPTS), ...Object.values(PAGES)].map(([address]) => address);
  const fan = await world.fan({ ...options, mayAsk });
  for (const [address, body] of Object.values(SCRIPTS)) {
    await fan.page.route(address, (route) => route.fulfill({ contentType: "text/javascript", body: HELP + body }));
  }
  return fan;
}

test("a card goes through each company's own window, and the way back leads to the ticket", async () => {
  const show = await world.show({ template: blocks(1, 6, 10), prices: { VIP: 150_000 }, schedule: { seatsPerPerson: 8 } });
  const fan = await openBuyer();
  const { page, words } = fan;
  for (const [i, company] of Object.keys(SCRIPTS).entries()) {
    await fan.enter(show);
    await page.getByRole("button", { name: words.oneLess }).click();
    await page.getByRole("button", { name: words.best }).click();
    await page.getByRole("button", { name: words.hold, exact: true }).click();
    await page.waitForURL(/#\/checkout\//);
    await page.locator(`input[data-gateway=${company}]`).check();
    await pressPay(page);
    if (company === "stripe") await page.getByRole("button", { name: "Pay", exact: true }).click();
    await page.getByRole("heading", { name: words.paidTitle }).waitFor();
    const asked = await page.evaluate(() => JSON.parse(sessionStorage.getItem("asked")));
    const amount = asked.amount?.value ?? Number(asked.totalAmount ?? asked.price ?? asked.good_mny);
    assert.equal(amount, 150_000, company);
    assert.equal((await show.live()).sold, i + 1, company);
  }
  await fan.context.close();
});

test("on a phone each method opens the company's own page, and the way back leads to the ticket", async () => {
  const show = await world.show({ template: blocks(1, 6, 10), prices: { VIP: 150_000 }, schedule: { seatsPerPerson: 8 } });
  const offered = ["CARD", "KAKAO_PAY", "TRANSFER", "WALLET"];
  await world.admin.call("PATCH", `/api/admin/events/${show.eventId}`, { paymentMethods: offered });
  const fan = await openBuyer({ language: "ko", width: 390, height: 844, userAgent: PHONE });
  const { page, words } = fan;
  const posted = [];
  for (const [address, answer] of Object.values(PAGES)) {
    await page.route(address, (route) => {
      const fields = Object.fromEntries(new URLSearchParams(route.request().postData()));
      posted.push(fields);
      const [back, answers] = answer(fields);
      const inputs = Object.entries(answers).map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`);
      return route.fulfill({ contentType: "text/html", body: `<form method="post" action="${back}">${inputs.join("")}</form><script>document.forms[0].submit()</script>` });
    });
  }
  const ways = [["input[data-gateway=inicis]"], ["input[data-gateway=kcp]"], ["input[value=KAKAO_PAY]"], ["input[value=TRANSFER]"]];
  for (const [i, [way]] of ways.entries()) {
    await fan.enter(show);
    await page.getByRole("button", { name: words.oneLess }).click();
    await page.getByRole("button", { name: words.best }).click();
    await page.getByRole("button", { name: words.hold, exact: true }).click();
    await page.waitForURL(/#\/checkout\//);
    await page.locator(way).check();
    await pressPay(page);
    await page.getByRole("heading", { name: words.paidTitle }).waitFor();
    assert.equal((await show.live()).sold, i + 1, way);
  }
  const [inicis, kcp] = posted;
  assert.equal(posted.length, 2, "Toss takes the other two by its script");
  assert.equal(inicis.P_INI_PAYMENT, "CARD");
  assert.equal(kcp.approval_key, "approved");
  const asked = await page.evaluate(() => JSON.parse(sessionStorage.getItem("asked")));
  assert.equal(asked.method, "TRANSFER");
  await fan.enter(show);
  await page.getByRole("button", { name: words.best }).click();
  await page.getByRole("button", { name: words.hold, exact: true }).click();
  await page.waitForURL(/#\/checkout\//);
  assert.ok(await page.locator("input[value=TRANSFER]").isChecked(), "the last one that worked on this device");
  await fan.context.close();
});

test("a window that was closed costs nothing, and the wallet is filled through a company too", async () => {
  const show = await world.show({ template: blocks(1, 6, 10), prices: { VIP: 150_000 } });
  const fan = await openBuyer();
  const { page, words } = fan;
  await fan.enter(show);
  await page.getByRole("button", { name: words.best }).click();
  await page.getByRole("button", { name: words.hold, exact: true }).click();
  await page.waitForURL(/#\/checkout\//);
  await page.locator("input[data-gateway=toss]").check();
  // The page of the company opens its window again only when asked to.
  await page.evaluate(() => (window.name = "no"));
  await pressPay(page);
  await page.getByRole("alert").filter({ hasText: "You have not been charged" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/pay/gateway/toss");
  await page.getByRole("link", { name: "Back" }).click();
  await page.getByRole("heading", { name: words.notPaidYet }).waitFor();
  await page.evaluate(() => (window.name = ""));
  await page.getByRole("link", { name: words.backToCheckout }).click();

  await page.getByRole("button", { name: words.chargeWallet("₩300,000") }).click();
  await page.getByRole("heading", { name: words.chargedTitle }).waitFor();
  await page.getByRole("link", { name: words.goOn }).click();
  await page.locator(".choice .quiet").filter({ hasText: /300,000/ }).waitFor();
  await fan.context.close();
});

/** The companies' servers: each says of every charge that it was made. */
async function openCompanies() {
  const charged = new Map();
  const answers = [
    [/^\/v1\/payments\/confirm$/, ({ orderId, paymentKey, amount }) => ({ orderId, paymentKey, status: "DONE", totalAmount: amount, balanceAmount: amount, currency: "KRW", method: "카드" })],
    [/^\/v1\/payments\/orders\//, () => null],
    [/^\/payments\/(\w+)\/pre-register$/, () => ({})],
    [/^\/payments\/(\w+)\/confirm$/, ({ totalAmount }, id) => (charged.set(id, totalAmount), { payment: { pgTxId: "1", paidAt: new Date().toISOString() } })],
    [/^\/payments\/(\w+)$/, (_, id) => charged.has(id) && ({ status: "PAID", id, currency: "KRW", channel: { type: "TEST" }, method: {}, amount: { total: charged.get(id), paid: charged.get(id), cancelled: 0 } })],
    [/^\/api\/payAuth$/, ({ authToken }) => ({ resultCode: "0000", tid: "tid1", MOID: authToken.split(".")[0], TotPrice: authToken.split(".")[1], payMethod: "Card" })],
    [/^\/smart\/payReq\.ini$/, ({ P_TID }) => {
      const [order, amount] = P_TID.split(".");
      return `P_STATUS=00&P_TID=tid2&P_OID=${order}&P_AMT=${amount}&P_TYPE=CARD`;
    }],
    [/^\/v1\/payment_intents$/, ({ amount, currency, ...body }) => {
      const order = body["metadata[order_id]"];
      charged.set(`pi_${order}`, { amount, currency, order });
      return { id: `pi_${order}`, object: "payment_intent", client_secret: `pi_${order}_secret_${amount}` };
    }],
    [/^\/v1\/payment_intents\/(\w+)\/capture$/, ({ amount_to_capture: amount }, id) => ({
      id, object: "payment_intent", status: "succeeded", amount_received: Number(amount), currency: charged.get(id).currency,
      metadata: { order_id: charged.get(id).order }, latest_charge: { id: "ch_1", amount_refunded: 0 } })],
    [/^\/std\/tradeReg\/register$/, () => ({ Code: "0000", approvalKey: "approved", PayUrl: PAGES.kcp[0] })],
    [/^\/gw\/enc\/v1\/payment$/, ({ ordr_no: order, ordr_mony: amount }) => ({ res_cd: "0000", tno: `tno${order}`, order_no: order, amount, rem_mny: amount })],
  ];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const isForm = /form/.test(request.headers["content-type"] ?? "");
    const body = isForm ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text || "{}");
    const path = request.url.split("?")[0];
    const [pattern, answer] = answers.find(([it]) => it.test(path)) ?? [/()/, () => null];
    const said = answer(body, path.match(pattern)[1]);
    response.writeHead(said ? 200 : 404, { "Content-Type": "application/json" });
    response.end(typeof said === "string" ? said : JSON.stringify(said || { code: "NOT_FOUND_PAYMENT", type: "PAYMENT_NOT_FOUND" }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}` };
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

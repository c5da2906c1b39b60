// From the checkout to the payment company: a page of its own address, or its script on ours.

import { keep } from "../shared/session.js";

/** `checkout.url` is a page to go to; `checkout.data` is for the company's own script. */
export function goToGateway(paymentId, checkout) {
  if (checkout.url) return leaveFor(checkout.url);
  keep("checkout", paymentId, checkout);
  location.assign(`/pay/gateway/${checkout.gateway}?payment=${paymentId}`);
}

/** The same for money into the wallet; `back` is where the fan was. */
export function chargeAt({ chargeId, checkout }, back) {
  keep("charging", chargeId, { back });
  goToGateway(chargeId, checkout);
}

/** Gateways are on our own origin (the sandbox) or https, and nothing else. */
function leaveFor(url) {
  const target = new URL(url, location.href);
  const isSafe = target.origin === location.origin || target.protocol === "https:";
  if (!isSafe) throw new Error(`not a payment page: ${url}`);
  location.assign(target.href);
}

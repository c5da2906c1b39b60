// From the checkout to the payment gateway: its own page, or its script on ours.

import { keep } from "../../shared/app/session.js";

/** `checkout.url` is the gateway's page; `checkout.data` is for the gateway's script. */
export function goToGateway(paymentId, checkout) {
  if (checkout.url) return leaveFor(checkout.url);
  keep("checkout", paymentId, checkout);
  location.assign(`/pay/gateway/${checkout.gateway}?payment=${paymentId}`);
}

/** The same for a wallet charge; `back` is the page to return to. */
export function chargeAt({ chargeId, checkout }, back) {
  keep("charging", chargeId, { back });
  goToGateway(chargeId, checkout);
}

/** A gateway's page is on our own origin (the sandbox) or on https, nothing else. */
function leaveFor(url) {
  const target = new URL(url, location.href);
  const isSafe = target.origin === location.origin || target.protocol === "https:";
  if (!isSafe) throw new Error(`not a payment page: ${url}`);
  location.assign(target.href);
}

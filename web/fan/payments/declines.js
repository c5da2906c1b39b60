// Why a payment was declined, in words. Gateways have hundreds of codes; the fan needs to know what to
// do next, so they are grouped by that.

import { t } from "../../shared/ui/i18n.js";
import { keep, recall } from "../../shared/app/session.js";

const GROUPS = [
  [/BALANCE|INSUFFICIENT|FUNDS|REJECT_ACCOUNT/, "declineBalance"],
  [/EXCEED|LIMIT/, "declineLimit"],
  [/EXPIR/, "declineExpired"],
  [/STOP|LOST|STOLEN|BLOCK/, "declineBlocked"],
  [/CARD_NUMBER|PASSWORD|BIRTH|INSTALL/, "declineInput"],
  [/CANCEL|ABORT/, "declineClosed"],
];

export function declineWords(reason) {
  const found = GROUPS.find(([pattern]) => pattern.test(reason ?? ""));
  return t(found ? found[1] : "declineOther");
}

/** Remembers why the last attempt failed, for the checkout to which the fan returns. */
export function noteDecline(reservationId, words) {
  if (reservationId) keep("declined", reservationId, words);
}

export function lastDecline(reservationId) {
  return recall("declined", reservationId);
}

// Manual resolution of payments that no gateway resolves, with evidence.

import { act, get } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el } from "../../shared/ui/dom.js";
import { stamp, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { choice, field } from "../form.js";

const UNKNOWN = ["REQUESTED", "UNKNOWN"];

/** The button for a payment that may be stuck; none for the others. */
export function resolveButton(payment, reload) {
  if (!UNKNOWN.includes(payment.status) && payment.status !== "REFUND_DUE") return "";
  const open = () => (UNKNOWN.includes(payment.status) ? endPayment(payment, reload) : endRefund(payment, reload));
  return el("button", { class: "btn small", type: "button", onclick: open }, t("resolve"));
}

const evidence = () => field({ label: t("evidence"), name: "evidence", required: true, maxlength: 500, hint: t("evidenceHint") });
const look = (payment) => get(`/api/admin/payments/${payment.id}`);

async function endPayment(payment, reload) {
  const seen = await look(payment);
  if (!seen.canResolve) return tell(t("resolveNotYet"));
  let answer = null;
  await ask({
    title: t("resolve"),
    content: el("div", { class: "stack" },
      el("p", {}, t("resolvePaymentWords", won(payment.amount, payment.currency), seen.gateway ?? "")),
      seen.lastError ? el("p", { class: "note warn" }, seen.lastError) : null,
      choice({ label: t("verdict"), name: "verdict", options: [["NOT_CAPTURED", t("verdictNotCaptured")], ["CAPTURED", t("verdictCaptured")]] }),
      evidence()),
    yes: t("resolve"),
    isDanger: true,
    act: async (form) => {
      const body = { verdict: form.get("verdict"), evidence: form.get("evidence") };
      answer = await act(`/api/admin/payments/${payment.id}/resolve`, body);
    },
  });
  await done(answer, reload);
}

async function endRefund(payment, reload) {
  const seen = await look(payment);
  const stuck = seen.refunds.filter((refund) => refund.canResolve);
  if (!stuck.length) return tell(t("resolveNotYet"));
  let answer = null;
  await ask({
    title: t("resolve"),
    content: el("div", { class: "stack" },
      el("p", {}, t("resolveRefundWords")),
      choice({
        label: t("refund"),
        name: "refund",
        options: stuck.map((refund) => [refund.id, `#${refund.number} · ${won(refund.amount, payment.currency)} · ${stamp(refund.createdAt)}`]),
      }),
      stuck[0].lastError ? el("p", { class: "note warn" }, stuck[0].lastError) : null,
      evidence()),
    yes: t("resolve"),
    isDanger: true,
    act: async (form) => {
      const path = `/api/admin/payments/${payment.id}/refunds/${form.get("refund")}/resolve`;
      answer = await act(path, { evidence: form.get("evidence") });
    },
  });
  await done(answer, reload);
}

async function done(answer, reload) {
  if (!answer) return;
  await tell(answer.status === "SECOND_ORGANISER_NEEDED" ? t("secondNeeded") : t("resolveDone", t("state", answer.status)));
  reload();
}

function tell(words) {
  return ask({ title: t("resolve"), content: el("p", { class: "note ok" }, words), yes: t("fine") });
}

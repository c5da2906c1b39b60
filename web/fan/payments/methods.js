// How to pay: the methods, the one that is preselected, and the wallet's balance.

import { act } from "../../shared/app/api.js";
import { announce, el, whileBusy } from "../../shared/ui/dom.js";
import { moment, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { chargeAt } from "./gateways.js";

const LAST = "podo.method";
const CHARGE_MIN = 100_000;

/** The method of the last payment that worked on this device. */
export function rememberMethod({ method, gateway }) {
  localStorage.setItem(LAST, JSON.stringify({ method, gateway }));
}

function lastMethod() {
  return JSON.parse(localStorage.getItem(LAST) ?? "null");
}

/**
 * The offered methods as a group of radio buttons. Cards name the gateway if there are several; for
 * another method the first that takes it in this currency is enough. A wallet that doesn't cover the amount can't be
 * chosen. `depositDate` says until when a deposit is awaited. `taken` is the answer about gateways. `chosen()` is
 * `{method, gateway}`, or null;
 * `refresh()` follows an amount that changed.
 */
export function payMethods({ amountOf, currency, balance, offered, taken, depositDate, problem, onChange }) {
  const radio = (value, gateway) => el("input", { type: "radio", name: "method", value, "data-gateway": gateway });
  const choice = (input, text, extra) => el("label", { class: "choice boxed" }, input, el("span", {}, text, extra ?? null));
  const takers = (method) => taken.gateways.filter((gateway) => taken.methods[gateway].includes(method) && taken.currencies[gateway].includes(currency));
  const remote = offered.filter((method) => method !== "WALLET").flatMap((method) =>
    takers(method).slice(0, method === "CARD" ? undefined : 1).map((gateway) => radio(method, gateway)));
  const hasWallet = offered.includes("WALLET");
  const wallet = radio("WALLET");
  const balanceText = el("span", { class: "quiet num" });
  const charge = el("button", { class: "btn small", type: "button" });

  const showBalance = (next) => {
    balance = next;
    const missing = amountOf() - balance;
    wallet.disabled = 0 < missing;
    balanceText.textContent = 0 < missing ? t("walletShort", won(balance), won(missing)) : t("balance", won(balance));
    charge.hidden = missing <= 0 || !hasWallet;
    charge.textContent = t("chargeWallet", won(chargeAmount(missing)));
  };
  charge.addEventListener("click", () => whileBusy(charge, async () => {
    problem.show("");
    try {
      const answer = await act("/api/wallet/charge", { amount: chargeAmount(amountOf() - balance) });
      if (answer.checkout) return chargeAt(answer, location.hash);
      showBalance(answer.balance);
      wallet.checked = !wallet.disabled;
      announce(t("balance", won(answer.balance)));
      onChange();
    } catch (error) {
      problem.show(error.message);
    }
  }));
  showBalance(balance);

  const last = lastMethod();
  const known = remote.find((it) => last?.method === it.value && it.dataset.gateway === last.gateway);
  const isWallet = hasWallet && !wallet.disabled && (last?.method === "WALLET" || !remote.length);
  const first = isWallet ? wallet : known ?? remote[0];
  if (first) first.checked = true;

  const nameOf = ({ value, dataset: { gateway } }) =>
    (value === "CARD" && 1 < takers(value).length ? t("cardThrough", t(`gateway${gateway}`)) : t(`method${value}`));
  const noteOf = ({ value }) =>
    (value === "VIRTUAL_ACCOUNT" && depositDate ? el("span", { class: "quiet num" }, t("depositUntil", moment(depositDate.dueAt))) : null);
  const element = el("fieldset", { class: "card pad stack" },
    el("legend", { class: "sr" }, t("howToPay")),
    el("div", { class: "row apart" }, el("h2", {}, t("howToPay")), last && first && (isWallet || known) ? el("small", { class: "quiet" }, t("methodLast")) : null),
    remote.map((input) => choice(input, nameOf(input), noteOf(input))),
    hasWallet ? choice(wallet, t("wallet"), balanceText) : null,
    el("div", { class: "row" }, charge));
  element.addEventListener("change", onChange);
  const chosen = () => {
    const input = [...remote, wallet].find((it) => it.checked && !it.disabled);
    return input ? { method: input.value, gateway: input.dataset.gateway } : null;
  };
  return { element, chosen, refresh: () => showBalance(balance) };
}

/** At least the missing amount, rounded up. */
function chargeAmount(missing) {
  return Math.max(CHARGE_MIN, Math.ceil(missing / 10_000) * 10_000);
}

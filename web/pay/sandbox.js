// The sandbox gateway's pay page: simulates a payment company, with a button for every outcome.

import { el, problemBox } from "../shared/ui/dom.js";
import { CURRENCIES, won } from "../shared/ui/format.js";
import { language, t, useWords } from "../shared/ui/i18n.js";
import { en, ko } from "../fan/words/methods.js";

const CHOICES = ["APPROVE", "DECLINE", "TIMEOUT", "DUPLICATE", "LATE"];

const WORDS = {
  ko: {
    ...ko,
    bankTitle: "연습용 은행",
    bankAbout: "진짜 돈은 움직이지 않아요. 가상계좌에 얼마를 입금할지 골라 주세요.",
    EXACT: "정확한 금액 입금",
    SHORT: "1,000원 모자라게 입금",
    REST: "나머지 1,000원 입금",
    OVER: "5,000원 더 많이 입금",
    howEXACT: "예매가 확정돼요. 한 번 더 누르면 두 번 입금, 기한이 지난 뒤에 누르면 늦은 입금이에요. 더 들어온 돈은 환불해요.",
    howSHORT: "나머지가 기한까지 들어오기를 기다려요.",
    howREST: "모자란 금액을 채워요.",
    howOVER: "예매가 확정되고 5,000원은 환불해요.",
    deposited: "입금했어요.",
    title: "연습용 결제",
    about: "진짜 돈은 움직이지 않아요. 결제사가 어떻게 답할지 골라 주세요.",
    order: "주문 번호",
    amount: "결제 금액",
    method: "결제 수단",
    noOrder: "주문 번호가 없는 주소예요. 결제 화면에서 다시 시작해 주세요.",
    back: "podo로 돌아가기",
    busy: "결제사에 보내는 중이에요…",
    trouble: "보내지 못했어요. 다시 눌러 주세요.",
    APPROVE: "승인",
    DECLINE: "거절",
    TIMEOUT: "응답 없음",
    DUPLICATE: "승인을 두 번 알림",
    LATE: "늦은 승인",
    howAPPROVE: "결제사가 바로 승인해요.",
    howDECLINE: "한도 초과로 거절해요.",
    howTIMEOUT: "결제사가 답하지 않아 결과를 물어봐야 해요.",
    howDUPLICATE: "같은 승인을 두 번 알려도 한 번만 처리돼요.",
    howLATE: "승인은 됐지만 답이 늦게 와요. 그동안 좌석은 유지돼요.",
  },
  en: {
    ...en,
    bankTitle: "Practice bank",
    bankAbout: "No real money moves. Choose how much to pay to the virtual account.",
    EXACT: "Pay the exact amount",
    SHORT: "Pay ₩1,000 too little",
    REST: "Pay the other ₩1,000",
    OVER: "Pay ₩5,000 too much",
    howEXACT: "The booking is confirmed. Press it again for a second deposit, or after the deadline for a late one: the surplus is refunded.",
    howSHORT: "The rest may follow until the deadline.",
    howREST: "Completes a deposit that was too small.",
    howOVER: "The booking is confirmed, and ₩5,000 are refunded.",
    deposited: "The money is on the account.",
    title: "Practice payment",
    about: "No real money moves. Choose how the payment company answers.",
    order: "Order",
    amount: "Amount",
    method: "Method",
    noOrder: "This address has no order. Please start again from the payment page.",
    back: "Back to podo",
    busy: "Sending to the payment company…",
    trouble: "This could not be sent. Please press again.",
    APPROVE: "Approve",
    DECLINE: "Decline",
    TIMEOUT: "No answer",
    DUPLICATE: "Approve, told twice",
    LATE: "Approve late",
    howAPPROVE: "The payment company approves at once.",
    howDECLINE: "Declined: over the limit.",
    howTIMEOUT: "The payment company does not answer and has to be asked.",
    howDUPLICATE: "The same approval arrives twice and must count once.",
    howLATE: "Approved, but the answer is late. The seats are kept meanwhile.",
  },
};

function show() {
  const main = document.getElementById("main");
  const query = new URLSearchParams(location.search);
  const orderId = query.get("orderId") ?? "";
  document.title = `${t("title")} — podo`;
  const isOrder = /^[0-9a-f]{32}$/i.test(orderId);
  const amount = Number(query.get("amount"));
  const form = query.has("deposit") ? bankForm(orderId, amount) : orderForm(orderId, amount, query);
  main.replaceChildren(
    el("div", { class: "card pad stack" },
      el("h1", {}, t(query.has("deposit") ? "bankTitle" : "title")),
      isOrder ? form : el("p", { class: "note danger", role: "alert" }, t("noOrder")),
      el("p", {}, el("a", { class: "btn", href: isOrder ? `/#/paid/${asUuid(orderId)}` : "/" }, t("back")))));
}

function orderForm(orderId, amount, query) {
  const method = query.get("method");
  const currency = CURRENCIES.includes(query.get("currency")) ? query.get("currency") : undefined;
  const problem = problemBox();
  const busy = el("p", { class: "quiet", role: "status" });
  const buttons = CHOICES.map((choice) => el("button", {
    class: choice === "APPROVE" ? "btn primary wide" : "btn wide",
    type: "button",
    "aria-describedby": `how-${choice}`,
    onclick: () => answer(choice),
  }, t(choice)));

  async function answer(choice) {
    problem.show("");
    busy.textContent = t("busy");
    buttons.forEach((button) => (button.disabled = true));
    try {
      const { paymentKey } = await send(`/api/payment/sandbox/${orderId}`, { choice });
      location.assign(`/#/paid/${asUuid(orderId)}?paymentKey=${encodeURIComponent(paymentKey)}`);
    } catch (error) {
      problem.show(error.message || t("trouble"));
      buttons.forEach((button) => (button.disabled = false));
    }
    busy.textContent = "";
  }

  return el("div", { class: "stack" },
    el("p", { class: "quiet" }, t("about")),
    el("p", { class: "row apart" }, el("span", {}, t("order")), el("b", { class: "num" }, orderId)),
    el("p", { class: "row apart" }, el("span", {}, t("amount")), el("b", { class: "num" }, won(amount, currency))),
    `method${method}` in en ? el("p", { class: "row apart" }, el("span", {}, t("method")), el("b", {}, t(`method${method}`))) : null,
    problem.element,
    busy,
    el("ul", { class: "stack" }, buttons.map((button, index) =>
      el("li", { class: "stack tight" }, button, el("p", { class: "quiet", id: `how-${CHOICES[index]}` }, t(`how${CHOICES[index]}`))))));
}

/** Plays the bank: pays any amount to a virtual account, as often as you like. */
function bankForm(orderId, amount) {
  const problem = problemBox();
  const done = el("p", { class: "quiet", role: "status" });
  const amounts = { EXACT: amount, SHORT: amount - 1_000, REST: 1_000, OVER: amount + 5_000 };
  const pay = async (button, sum) => {
    problem.show("");
    done.textContent = t("busy");
    button.disabled = true;
    try {
      await send(`/api/payment/sandbox/${orderId}/deposit`, { amount: sum });
      done.textContent = t("deposited");
    } catch (error) {
      done.textContent = "";
      problem.show(error.message || t("trouble"));
    }
    button.disabled = false;
  };
  const row = ([kind, sum]) => {
    const button = el("button", { class: kind === "EXACT" ? "btn primary wide" : "btn wide", type: "button", "aria-describedby": `how-${kind}` }, t(kind));
    button.addEventListener("click", () => pay(button, sum));
    return el("li", { class: "stack tight" }, button, el("p", { class: "quiet", id: `how-${kind}` }, t(`how${kind}`)));
  };
  return el("div", { class: "stack" },
    el("p", { class: "quiet" }, t("bankAbout")),
    el("p", { class: "row apart" }, el("span", {}, t("amount")), el("b", { class: "num" }, won(amount))),
    problem.element,
    done,
    el("ul", { class: "stack" }, Object.entries(amounts).map(row)));
}

/** A gateway's page has no access to the fan's login, so this is a plain call. */
async function send(path, body) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Accept-Language": language() },
    body: JSON.stringify(body),
  }).catch(() => null);
  const answer = await response?.json().catch(() => null);
  if (!response?.ok) throw new Error(answer?.detail ?? t("trouble"));
  return answer;
}

/** Our payment id is the order id with dashes. */
function asUuid(hex) {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5").toLowerCase();
}

useWords(WORDS);
show();

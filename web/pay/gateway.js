// A payment gateway's window, opened by the gateway's own script, or its page for phones, opened by a
// form. This is the only page that loads a script from another host; the last segment of its address names the gateway, and its content
// policy allows no other host.

import { el } from "../shared/ui/dom.js";
import { language, t, useWords } from "../shared/ui/i18n.js";
import { recall } from "../shared/app/session.js";

const WORDS = {
  ko: {
    pay: "결제하기",
    title: "결제창을 여는 중이에요",
    wait: "결제 회사의 창이 열려요. 닫히면 아래에서 다시 열 수 있어요.",
    open: "창 다시 열기",
    back: "돌아가기",
    missing: "결제 정보가 이 창에 없어요. 결제 화면에서 다시 시작해 주세요.",
    trouble: "결제창을 열지 못했어요. 결제된 금액은 없어요.",
    identityTitle: "본인 확인 창을 여는 중이에요",
    identityWait: "본인 확인 회사의 창이 열려요. 닫히면 아래에서 다시 열 수 있어요.",
    identityTrouble: "본인 확인을 끝내지 못했어요. 다시 열어 주세요.",
  },
  en: {
    pay: "Pay",
    title: "Opening the payment window",
    wait: "The payment company's window opens. If it was closed, open it again below.",
    open: "Open it again",
    back: "Back",
    missing: "This window knows of no payment. Please start again from the payment page.",
    trouble: "The payment window could not be opened. You have not been charged.",
    identityTitle: "Opening the certifier's window",
    identityWait: "The certifier's window opens. If it was closed, open it again below.",
    identityTrouble: "This was not finished. Please open it again.",
  },
  ja: {
    pay: "支払う",
    title: "支払い画面を開いています",
    wait: "決済会社の画面が開きます。閉じた場合は下から開き直せます。",
    open: "もう一度開く",
    back: "戻る",
    missing: "この画面に支払い情報がありません。支払い画面からやり直してください。",
    trouble: "支払い画面を開けませんでした。請求はされていません。",
    identityTitle: "本人確認の画面を開いています",
    identityWait: "本人確認会社の画面が開きます。閉じた場合は下から開き直せます。",
    identityTrouble: "本人確認が完了しませんでした。もう一度開いてください。",
  },
  zh: {
    pay: "付款",
    title: "正在打开付款窗口",
    wait: "将打开支付公司的窗口。如果已关闭，可在下方重新打开。",
    open: "重新打开",
    back: "返回",
    missing: "此窗口没有付款信息，请从付款页面重新开始。",
    trouble: "无法打开付款窗口。你没有被扣款。",
    identityTitle: "正在打开身份验证窗口",
    identityWait: "将打开身份验证公司的窗口。如果已关闭，可在下方重新打开。",
    identityTrouble: "身份验证未完成，请重新打开。",
  },
};

const KCP_ANSWERS = ["res_cd", "res_msg", "tran_cd", "enc_info", "enc_data", "ret_pay_method", "use_pay_method"];

/** The gateways whose scripts we run, each with how it opens its window. */
const COMPANIES = {
  toss: {
    host: /^js\.tosspayments\.com$/,
    open: async ({ clientKey, customerKey, ...order }) =>
      window.TossPayments(clientKey).payment({ customerKey }).requestPayment(order),
  },
  portone: {
    host: /^cdn\.portone\.io$/,
    open: async (order) => {
      const answer = await window.PortOne.requestPayment(order);
      if (answer?.code) throw new Error(answer.message ?? answer.code);
    },
  },
  inicis: {
    host: /^(stg)?stdpay\.inicis\.com$/,
    page: /^(stg)?mobile\.inicis\.com$/,
    open: async (order) => window.INIStdPay.pay(postForm("inicis", order, order.returnUrl).id),
  },
  identity: {
    host: /^cdn\.portone\.io$/,
    open: async (asked) => {
      // A mobile browser navigates to the provider's page and returns there by itself.
      const answer = await window.PortOne.requestIdentityVerification({ ...asked, redirectUrl: addressOf(asked.identityVerificationId) });
      if (answer?.code) throw new Error(answer.message ?? answer.code);
      location.assign(addressOf(asked.identityVerificationId));
    },
  },
  stripe: {
    host: /^js\.stripe\.com$/,
    // Stripe has no window: its form stands in this page, in frames of its own.
    open: async ({ publishableKey, clientSecret, returnUrl }, problem) => {
      const stripe = window.Stripe(publishableKey);
      const elements = stripe.elements({ clientSecret, locale: language() });
      const box = el("div", { id: "stripe-form" });
      const button = el("button", { class: "btn primary wide", type: "button" }, t("pay"));
      document.getElementById("stripe")?.remove();
      document.querySelector("#main h1").after(el("div", { id: "stripe", class: "stack" }, box, button));
      elements.create("payment").mount(box);
      button.addEventListener("click", async () => {
        button.disabled = true;
        problem.hidden = true;
        // Only a mistake returns here: otherwise the browser goes on to `returnUrl`.
        const answer = await stripe.confirmPayment({ elements, confirmParams: { return_url: returnUrl } });
        if (!answer?.error) return;
        problem.textContent = answer.error.message ?? t("trouble");
        problem.hidden = false;
        button.disabled = false;
      });
    },
  },
  kcp: {
    host: /^(test)?spay\.kcp\.co\.kr$/,
    page: /^(test)?smpay\.kcp\.co\.kr$/,
    open: async (order) => {
      // The fields that the gateway's script fills in; it calls a function of this name and closes
      // its window.
      const empty = Object.fromEntries(KCP_ANSWERS.map((name) => [name, ""]));
      const form = postForm("kcp", { ...order, ...empty }, order.Ret_URL);
      window.m_Completepayment = (answer, close) => {
        window.GetField(form, answer);
        // Our own page shows the outcome, whatever it is.
        form.submit();
        close?.();
      };
      window.KCP_Pay_Execute_Web(form);
    },
  },
};

const addressOf = (id) => `${location.origin}/#/identity/${encodeURIComponent(id)}`;

function postForm(name, fields, action, charset) {
  document.getElementById(`${name}-order`)?.remove();
  const form = el("form", { id: `${name}-order`, name: `${name}-order`, method: "post", action, "accept-charset": charset }, Object.entries(fields).map(([key, value]) =>
    el("input", { type: "hidden", name: key, value })));
  document.body.append(form);
  return form;
}

const loaded = new Map();

/** Loads the script once; reopening the window reuses it. */
function loadScript(address, host) {
  if (!loaded.has(address)) loaded.set(address, load(address, host));
  return loaded.get(address);
}

function load(address, host) {
  const target = new URL(address);
  if (target.protocol !== "https:" || !host.test(target.hostname)) throw new Error(`not a payment company: ${address}`);
  return new Promise((resolve, reject) => {
    const script = el("script", { src: target.href, charset: "UTF-8" });
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => {
      loaded.delete(address);
      reject(new Error(t("trouble")));
    });
    document.head.append(script);
  });
}

/** Their pages for phones read forms in the old Korean encoding. */
function leaveWith(name, order, action, page) {
  const target = new URL(action);
  if (target.protocol !== "https:" || !page?.test(target.hostname)) throw new Error(`not a payment company: ${action}`);
  postForm(name, order, target.href, "euc-kr").submit();
}

async function open(checkout, problem) {
  problem.hidden = true;
  try {
    const company = COMPANIES[checkout.gateway];
    const { scriptUrl, action, ...order } = checkout.data;
    if (action) return leaveWith(checkout.gateway, order, action, company.page);
    await loadScript(scriptUrl, company.host);
    await company.open(order, problem);
  } catch (error) {
    // Closing the window ends here too, so this is not an error.
    console.warn(error);
    problem.textContent = checkout.gateway === "identity" ? t("identityTrouble") : t("trouble");
    problem.hidden = false;
  }
}

function show() {
  const id = new URLSearchParams(location.search).get("payment") ?? "";
  const company = location.pathname.split("/").pop();
  const kept = /^[\w.-]+$/.test(id) ? recall("checkout", id) : null;
  const checkout = kept?.gateway === company ? kept : null;
  const problem = el("p", { class: "note danger", role: "alert", hidden: true });
  const title = checkout?.gateway === "identity" ? t("identityTitle") : t("title");
  document.title = `${title} — podo`;
  document.getElementById("main").replaceChildren(
    el("div", { class: "card pad stack" },
      el("h1", {}, title),
      checkout ? el("p", { class: "quiet" }, checkout.back ? t("identityWait") : t("wait")) : el("p", { class: "note danger", role: "alert" }, t("missing")),
      problem,
      checkout ? el("button", { class: "btn primary wide", type: "button", onclick: () => open(checkout, problem) }, t("open")) : null,
      el("a", { class: "btn", href: `/${checkout?.back ?? `#/paid/${encodeURIComponent(id)}`}` }, t("back"))));
  if (checkout && COMPANIES[checkout.gateway]) open(checkout, problem);
}

useWords(WORDS);
show();

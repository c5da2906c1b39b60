// The ways of paying, in Korean and English.

export const ko = {
  methodCARD: "카드",
  methodKAKAO_PAY: "카카오페이",
  methodNAVER_PAY: "네이버페이",
  methodTOSS_PAY: "토스페이",
  methodPAYCO: "페이코",
  methodSAMSUNG_PAY: "삼성페이",
  methodTRANSFER: "계좌이체",
  methodWALLET: "지갑",
  methodBOX_OFFICE: "현장 판매",
  payKAKAO_PAY: (amount) => `카카오페이로 ${amount} 결제`,
  payNAVER_PAY: (amount) => `네이버페이로 ${amount} 결제`,
  payTOSS_PAY: (amount) => `토스페이로 ${amount} 결제`,
  payPAYCO: (amount) => `페이코로 ${amount} 결제`,
  paySAMSUNG_PAY: (amount) => `삼성페이로 ${amount} 결제`,
  payTRANSFER: (amount) => `계좌이체로 ${amount} 결제`,
};

export const en = {
  methodCARD: "Card",
  methodKAKAO_PAY: "Kakao Pay",
  methodNAVER_PAY: "Naver Pay",
  methodTOSS_PAY: "Toss Pay",
  methodPAYCO: "Payco",
  methodSAMSUNG_PAY: "Samsung Pay",
  methodTRANSFER: "Bank transfer",
  methodWALLET: "Wallet",
  methodBOX_OFFICE: "Box office",
  payKAKAO_PAY: (amount) => `Pay ${amount} with Kakao Pay`,
  payNAVER_PAY: (amount) => `Pay ${amount} with Naver Pay`,
  payTOSS_PAY: (amount) => `Pay ${amount} with Toss Pay`,
  payPAYCO: (amount) => `Pay ${amount} with Payco`,
  paySAMSUNG_PAY: (amount) => `Pay ${amount} with Samsung Pay`,
  payTRANSFER: (amount) => `Pay ${amount} by bank transfer`,
};

/** What an event may offer. */
export const METHODS = ["CARD", "KAKAO_PAY", "NAVER_PAY", "TOSS_PAY", "PAYCO", "SAMSUNG_PAY", "TRANSFER", "WALLET"];

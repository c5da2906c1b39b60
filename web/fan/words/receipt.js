// The receipt of an order, in Korean and English.

export const ko = {
  receipt: "영수증",
  receiptBusiness: "사업자등록번호",
  receiptBuyer: "구매자",
  receiptExempt: "면세",
  receiptKept: "환불 후 금액",
  receiptMethod: "결제 수단",
  receiptPaidAt: "결제 일시",
  receiptPdf: "PDF로 받기",
  receiptReference: "거래 번호",
  receiptRefund: (when) => `환불 · ${when}`,
  receiptRefundDue: (when) => `환불 예정 · ${when}`,
  receiptSeats: "좌석",
  receiptSeller: "판매자",
  receiptShow: "공연",
  receiptSupply: "공급가액",
  receiptVat: "부가세 (10%)",
};

export const en = {
  receipt: "Receipt",
  receiptBusiness: "Business number",
  receiptBuyer: "Buyer",
  receiptExempt: "VAT-exempt",
  receiptKept: "After refunds",
  receiptMethod: "Paid with",
  receiptPaidAt: "Paid at",
  receiptPdf: "Get a PDF",
  receiptReference: "Reference",
  receiptRefund: (when) => `Refund · ${when}`,
  receiptRefundDue: (when) => `Refund due · ${when}`,
  receiptSeats: "Seats",
  receiptSeller: "Seller",
  receiptShow: "Concert",
  receiptSupply: "Net amount",
  receiptVat: "VAT (10%)",
};

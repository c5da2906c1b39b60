// Lists and their panels, in both languages.

import { seatEn, seatKo } from "../../fan/words/event.js";

const GATEWAYS = { toss: "Toss Payments", inicis: "KG Inicis", kcp: "NHN KCP", portone: "PortOne" };

export const ko = {
  colabouts: "관련 회원",
  colevent: "공연",
  colid: "id",
  colsale: "판매율",
  colshows: "공연일",
  colwho: "수행자",
  eventDates: (n) => `${n}회`,
  gatewayName: (name) => GATEWAYS[name.toLowerCase()] ?? (name.toLowerCase() === "sandbox" ? "샌드박스" : name),
  panelClose: "닫기",
  panelDetails: "자세히",
  panelGone: "이 항목을 찾지 못했어요.",
  panelNext: "다음 항목",
  panelPosition: (at, n) => `${at} / ${n}`,
  panelPrevious: "이전 항목",
  periodFrom: "시작일",
  periodTo: "종료일",
  personGone: "탈퇴한 계정",
  personPage: "회원 보기",
  refundableNow: (amount) => `지금 환불하면 최대 ${amount}`,
  seatName: (number) => seatKo(number),
  showBooking: "예매 보기",
  showPayments: "결제 보기",
  soldOf: (sold, seats) => `${sold} / ${seats}`,
};

export const en = {
  colabouts: "Concerns",
  colevent: "Event",
  colid: "Id",
  colsale: "Sold",
  colshows: "Shows",
  colwho: "Who",
  eventDates: (n) => (n === 1 ? "1 date" : `${n} dates`),
  gatewayName: (name) => GATEWAYS[name.toLowerCase()] ?? (name.toLowerCase() === "sandbox" ? "Sandbox" : name),
  panelClose: "Close",
  panelDetails: "Details",
  panelGone: "This entry wasn't found.",
  panelNext: "Next entry",
  panelPosition: (at, n) => `${at} of ${n}`,
  panelPrevious: "Previous entry",
  periodFrom: "From",
  periodTo: "To",
  personGone: "Deleted account",
  personPage: "Open profile",
  refundableNow: (amount) => `Refundable now: up to ${amount}`,
  seatName: (number) => seatEn(number),
  showBooking: "Open booking",
  showPayments: "Show payments",
  soldOf: (sold, seats) => `${sold} / ${seats}`,
};

// What the reference says in Korean. Fields are described in English, as in the code.

import CALLS from "./calls.js";

const TAGS = { accounts: "계정", catalog: "공연", queue: "대기열", booking: "예매", payment: "결제", wallet: "지갑", tickets: "티켓", admin: "관리자" };
const TAG_WORDS = {
  accounts: "가입, 로그인, 프로필, 본인 확인, 2단계 인증, 알림.",
  catalog: "누구나 볼 수 있는 공연, 회차, 좌석도.",
  queue: "줄을 서고, 순번을 보고, 입장해요.",
  booking: "좌석을 선점하고, 예매를 보고, 취소해요.",
  payment: "결제를 요청하고, 확인하고, 환불해요.",
  wallet: "잔액, 내역, 충전.",
  tickets: "티켓과 QR 코드, 양도.",
  admin: "관리자만 쓸 수 있어요. 바꾸는 호출은 모두 감사 기록에 남아요.",
};
const PLACES = { path: "경로", query: "쿼리", header: "헤더", cookie: "쿠키" };

export default {
  call: (name) => CALLS[name] ?? "",
  skip: "본문으로 건너뛰기",
  theme: "밝기 바꾸기",
  troubleUnknown: "문서를 읽지 못했어요. 잠시 뒤 다시 시도해 주세요.",
  troubleOffline: "연결이 끊겼어요.",
  title: "podo API 문서",
  about: (n) => `호출 ${n}개. 이 서버가 주는 문서로 그렸고, 밖으로 나가는 요청은 없어요.`,
  problems: "오류 코드",
  controlRoom: "관리자",
  search: "경로나 설명으로 찾기",
  found: (n) => `${n}개 찾았어요`,
  nothing: "찾는 호출이 없어요.",
  auth: "로그인",
  authWords: "POST /api/auth/login 이 주는 accessToken을 보내요.",
  keys: "같은 요청 두 번",
  keysWords: "좌석이나 돈을 움직이는 요청에는 키를 붙여요. 같은 키로 다시 보내면 같은 답을 받아요.",
  errors: "오류",
  errorsWords: "application/problem+json, 바뀌지 않는 code와 사람이 읽는 detail.",
  values: "값",
  valuesWords: "금액은 원 단위 정수, 시각은 UTC(RFC 3339), id는 UUID, 목록은 limit와 cursor.",
  tag: (tag) => TAGS[tag] ?? tag,
  tagWords: (tag) => TAG_WORDS[tag] ?? "",
  needsLogin: "로그인이 필요해요",
  link: "링크",
  parameters: "매개변수",
  body: "보내는 본문",
  example: "예시",
  answers: "답",
  where: (place) => PLACES[place] ?? place,
  required: "필수",
  copy: "복사",
  copied: "복사했어요",
  problem: "오류 (problem+json)",
  anyProblem: "어떤 호출이든 오류로 끝날 수 있어요 (problem+json)",
  empty: "본문 없음",
};

// What a concert is: its genre, age, prices and transfers, in Korean and English.

export const ko = {
  ageAll: "전체 관람가",
  ageFrom: (age) => `만 ${age}세 이상 관람가`,
  transferOff: "다른 사람에게 보낼 수 없는 티켓이에요.",
  nextPrices: (from, list) => `${from}부터 ${list}`,
  priceRange: (low, high) => (low === high ? low : `${low} – ${high}`),
  noDates: "아직 일정이 없어요.",
  gallery: "사진",
  venue: "공연장",
  venueMap: "지도에서 보기",
  share: "공유하기",
  shareCopied: "주소를 복사했어요",
  buyNow: "예매",
  priceTable: "등급별 가격",
  priceWithFee: (fee) => `장당 예매 수수료 ${fee}을 더한 가격이에요.`,
  priceFull: "일반",
  seatsFree: "남은 좌석",
  genrePOP: "대중음악",
  genreBALLAD: "발라드/R&B",
  genreROCK: "록/메탈",
  genreINDIE: "인디",
  genreHIPHOP: "힙합",
  genreJAZZ: "재즈",
  genreCLASSICAL: "클래식",
  genreMUSICAL: "뮤지컬",
  genreFESTIVAL: "페스티벌",
  genreOTHER: "기타",
};

export const en = {
  ageAll: "All ages",
  ageFrom: (age) => `Ages ${age} and over`,
  transferOff: "Tickets for this concert can't be transferred.",
  nextPrices: (from, list) => `From ${from}: ${list}`,
  priceRange: (low, high) => (low === high ? low : `${low} – ${high}`),
  noDates: "No dates yet.",
  gallery: "Pictures",
  venue: "Venue",
  venueMap: "View on a map",
  share: "Share",
  shareCopied: "Link copied",
  buyNow: "Booking",
  priceTable: "Prices by grade",
  priceWithFee: (fee) => `Including the booking fee of ${fee} per ticket.`,
  priceFull: "Standard",
  seatsFree: "Seats left",
  genrePOP: "Pop",
  genreBALLAD: "Ballad / R&B",
  genreROCK: "Rock / Metal",
  genreINDIE: "Indie",
  genreHIPHOP: "Hip-hop",
  genreJAZZ: "Jazz",
  genreCLASSICAL: "Classical",
  genreMUSICAL: "Musical",
  genreFESTIVAL: "Festival",
  genreOTHER: "Other",
};

export const GENRES = Object.keys(en).filter((key) => key.startsWith("genre")).map((key) => key.slice("genre".length));

/**
 * Seats as people say them. `107-5-7` is row 5, seat 7 of section 107; `A-7` is seat 7 of row A;
 * `Floor-120` the 120th to go in.
 */
const named = (seat, row, place) => (number) => {
  const parts = number.split("-");
  if (parts.length === 3) return seat(...parts);
  if (parts.length !== 2) return number;
  return parts[0].length < 3 ? row(...parts) : place(...parts);
};

export const seatKo = named(
  (section, row, number) => `${section}구역\u00a0${row}열\u00a0${number}번`,
  (row, number) => `${row}열\u00a0${number}번`,
  (zone, number) => `${zone}\u00a0${number}번`);

export const seatEn = named(
  (section, row, number) => `Section\u00a0${section} Row\u00a0${row} Seat\u00a0${number}`,
  (row, number) => `Row\u00a0${row} Seat\u00a0${number}`,
  (zone, number) => `${zone} No.\u00a0${number}`);

// What a concert is: its genre, age, prices and transfers, in Korean and English.

export const ko = {
  ageAll: "전체 관람가",
  ageFrom: (age) => `만 ${age}세 이상 관람가`,
  transferOff: "다른 사람에게 보낼 수 없는 티켓이에요.",
  nextPrices: (from, list) => `${from}부터 ${list}`,
  priceRange: (low, high) => (low === high ? low : `${low} – ${high}`),
  noDates: "아직 일정이 없어요.",
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

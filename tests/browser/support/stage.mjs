// A season worth looking at: an arena, concerts in several cities, and fans who bought before us.

const DAY_MS = 86_400_000;
const PITCH = 12;

/** Six blocks on the floor and two rings around them. */
export function arena() {
  const floor = Array.from({ length: 6 }, (_, i) => ({
    name: `F${i + 1}`,
    grade: "VIP",
    rows: Array.from({ length: 10 }, (_, row) => ({
      label: String(row + 1), count: 12, line: { x: -216 + (i % 3) * 156, y: 70 + Math.floor(i / 3) * 150 + row * PITCH, dx: PITCH, dy: 0 } })),
  }));
  const ring = (tier, grade, inner, n) => Array.from({ length: n }, (_, i) => {
    const step = 200 / n;
    const [from, to] = [-10 + i * step, -10 + (i + 1) * step];
    return {
      name: `${tier}${String(n - i).padStart(2, "0")}`,
      grade,
      rows: Array.from({ length: 8 }, (_, row) => {
        const radius = inner + row * 13;
        const count = Math.max(2, Math.floor((Math.PI * radius * (step - 3)) / 180 / PITCH));
        return { label: String(row + 1), count, arc: { x: 0, y: 190, radius, fromDegrees: Math.round(from + 1.5), toDegrees: Math.round(to - 1.5) } };
      }),
    };
  });
  return {
    layoutType: "sections",
    stage: { x: -150, y: -40, width: 300, height: 76 },
    sections: [...floor, ...ring(1, "R", 290, 9), ...ring(2, "S", 420, 11)],
  };
}

const SEASON = [
  { title: "청포도 전국 투어: 여름의 끝", artist: "청포도", city: "서울", venue: "포도 아레나", days: 24, opensInMs: -3_600_000 },
  { title: "거봉 단독 콘서트 “Harvest Moon”", artist: "거봉", city: "부산", venue: "해운대 돔", days: 40, opensInMs: 2 * 3_600_000 + 754_000 },
  { title: "머스캣 오케스트라와 함께하는 겨울밤의 재즈, 그리고 아주 긴 이름의 앙코르 공연", artist: "머스캣 오케스트라", city: "대구", venue: "달구벌 콘서트하우스", days: 61, opensInMs: 6 * DAY_MS },
  { title: "캠벨 어쿠스틱", artist: "캠벨", city: "광주", venue: "무등 소극장", days: 12, opensInMs: -5 * DAY_MS },
  { title: "샤인 머스캣 팬 미팅", artist: "SHINE", city: "인천", venue: "송도 컨벤션", days: 33, opensInMs: 9 * DAY_MS },
];

const ABOUT = "두 해 만에 돌아온 전국 투어의 마지막 무대.\n새 앨범의 모든 곡을 밴드와 함께 처음으로 들려드려요. 공연 시간은 150분이고, 만 7세부터 볼 수 있어요.";

/** The season, the first of it half sold by simulated fans. Gives that one. */
export async function setStage(world) {
  const { admin } = world;
  const shows = [];
  for (const { title, artist, city, venue, days, opensInMs } of [...SEASON].reverse()) {
    shows.unshift(await world.show({
      title, artist, city, venue, hall: "1관", description: ABOUT, opensInMs, days,
      template: arena(), prices: { VIP: 198_000, R: 165_000, S: 132_000 }, queue: { admitPerSecond: 60, maxActive: 300 } }));
  }
  const [show] = shows;
  const steps = [{ daysBefore: 9, feePercent: 10 }, { daysBefore: 6, feePercent: 20 }, { daysBefore: 1, feePercent: 30 }];
  for (const { eventId } of shows) await admin.call("PUT", `/api/admin/events/${eventId}/refund-policy`, { steps });
  await admin.call("POST", "/api/admin/simulation", { scheduleId: show.scheduleId, fans: 420, seconds: 8, arrival: "RUSH", botPercent: 10, thinkMs: 400 });
  for (;;) {
    const { status } = await admin.call("GET", "/api/admin/simulation");
    if (status !== "RUNNING") return show;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

// Reading schedules and layouts: grades with their prices, seats in rows and sections.

/** Grades from the dearest down: `{grade, price, left}`. */
export function gradesOf(schedule) {
  const { prices = {}, seatsLeft = {} } = schedule;
  const list = Array.isArray(prices)
    ? prices.map((it) => ({ grade: it.grade, price: it.price, left: it.seatsLeft ?? it.left }))
    : Object.entries(prices).map(([grade, price]) => ({ grade, price, left: seatsLeft[grade] }));
  return list.sort((a, b) => b.price - a.price || a.grade.localeCompare(b.grade));
}

export function placeOf(event) {
  return event.venue?.name ?? event.venueName ?? "";
}

/**
 * The layout as the map draws it. `seats` are in layout order, which is the order of the status
 * string; positions are in units of one seat, with some room around them.
 */
export function readLayout(layout) {
  const seats = flatten(layout);
  const rows = groupRows(seats);
  const unit = seatPitch(rows);
  const [left, top] = [least(seats, "x"), least(seats, "y")];
  for (const seat of seats) {
    seat.cx = (seat.x - left) / unit + SIDE;
    seat.cy = (seat.y - top) / unit + HEAD;
  }
  const width = Math.max(...seats.map((seat) => seat.cx), SIDE) + SIDE;
  const height = Math.max(...seats.map((seat) => seat.cy), HEAD) + FOOT;
  return { seats, rows, sections: groupSections(rows), width, height };
}

/** Room for row labels at the sides, for the stage and the section's name above, below nothing. */
const SIDE = 2;
const HEAD = 4.2;
const FOOT = 1.2;

function flatten(layout) {
  const named = (layout.sections ?? []).flatMap((section) =>
    (section.seats ?? []).map((seat) => ({ ...seat, section: section.name ?? section.id ?? "" })));
  const seats = named.length ? named : (layout.seats ?? []).map((seat) => ({ ...seat, section: seat.section ?? "" }));
  return seats.map((seat, index) => ({ ...seat, index, row: seat.row ?? rowOf(seat.number) }));
}

/** `A` for `A-12` and for `A12`; `107-5` for `107-5-7`. */
function rowOf(number) {
  return String(number).replace(/[-\s]*\d+$/, "");
}

function groupRows(seats) {
  const rows = new Map();
  for (const seat of seats) {
    const key = JSON.stringify([seat.section, seat.row]);
    if (!rows.has(key)) rows.set(key, { section: seat.section, label: seat.row, seats: [] });
    rows.get(key).seats.push(seat);
  }
  const list = [...rows.values()];
  list.forEach((row, index) => row.seats.forEach((seat) => (seat.rowIndex = index)));
  return list;
}

function groupSections(rows) {
  const sections = new Map();
  for (const row of rows) {
    if (!sections.has(row.section)) sections.set(row.section, { name: row.section, rows: [] });
    sections.get(row.section).rows.push(row);
  }
  return [...sections.values()];
}

/** The smallest distance between two neighbours of one row. */
function seatPitch(rows) {
  let pitch = Infinity;
  for (const { seats } of rows) {
    for (let i = 1; i < seats.length; i += 1) {
      const distance = Math.hypot(seats[i].x - seats[i - 1].x, seats[i].y - seats[i - 1].y);
      if (0 < distance && distance < pitch) pitch = distance;
    }
  }
  return pitch === Infinity ? 1 : pitch;
}

function least(seats, axis) {
  return seats.reduce((low, seat) => Math.min(low, seat[axis]), seats.length ? Infinity : 0);
}

// Imports seat plans from files: our own templates unchanged, pretix plans converted.

/** A pretix plan has zones of rows of seats, each with its own position. */
const isPretix = (plan) => Array.isArray(plan.zones) && Array.isArray(plan.categories);

/** Converts any supported plan to our template; throws a message for the organiser. */
export function readPlanFile(text) {
  const plan = JSON.parse(text);
  return isPretix(plan) ? fromPretix(plan) : plan.seatTemplate ?? plan;
}

/** pretix uses fractional pixels; scaled up, integers are precise enough. */
const SCALE = 10;

function fromPretix(plan) {
  const sections = plan.zones.map((zone, index) => ({
    name: zone.name || String(index + 1),
    rows: zone.rows.filter((row) => row.seats.length).map((row) => ({
      label: String(row.row_number ?? ""),
      seats: row.seats.map((seat) => ({
        number: String(seat.seat_number ?? seat.seat_guid),
        grade: seat.category,
        x: Math.round(SCALE * sum(zone, row, seat, "x")),
        y: Math.round(SCALE * sum(zone, row, seat, "y")),
      })),
    })),
  }));
  const stage = plan.zones.flatMap((zone) => (zone.areas ?? []).map((area) => ({ zone, area })))
    .find(({ area }) => /stage|bühne|무대/i.test(area.text?.text ?? ""));
  return {
    layoutType: "sections",
    ...(stage ? { stage: stageOf(stage) } : {}),
    sections: sections.filter((section) => section.rows.length),
  };
}

/** Positions are relative: the seat's to its row, the row's to its zone. */
function sum(zone, row, seat, axis) {
  return (zone.position?.[axis] ?? 0) + (row.position?.[axis] ?? 0) + (seat.position?.[axis] ?? 0);
}

function stageOf({ zone, area }) {
  const size = area.rectangle ?? { width: 100, height: 40 };
  return {
    x: Math.round(SCALE * ((zone.position?.x ?? 0) + (area.position?.x ?? 0))),
    y: Math.round(SCALE * ((zone.position?.y ?? 0) + (area.position?.y ?? 0))),
    width: Math.round(SCALE * size.width),
    height: Math.round(SCALE * size.height),
  };
}

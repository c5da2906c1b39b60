// Generates seat plans from a few numbers: rows in blocks, arcs around a stage, a standing zone.
// The result is an ordinary seat template.

const PITCH = 12;

export const SHAPES = ["grid", "arc", "arena"];

/** Adjacent blocks of straight rows, the most expensive in front. */
function grid({ blocks, rows, seats, grades }) {
  const perBlock = Math.max(1, Math.ceil(seats / blocks));
  const width = perBlock * PITCH;
  const sections = [];
  const [tiers, deep] = tiersOf(rows, grades);
  for (let row = 0; row < tiers; row += 1) {
    for (let block = 0; block < blocks; block += 1) {
      sections.push({
        name: `${String.fromCharCode(65 + row)}${block + 1}`,
        grade: gradeAt(grades, row, tiers),
        rows: Array.from({ length: Math.min(deep, rows - row * deep) }, (_, i) => ({
          label: String(row * deep + i + 1),
          count: perBlock,
          line: { x: block * (width + 24), y: 90 + row * (deep * PITCH + 30) + i * PITCH, dx: PITCH, dy: 0 },
        })),
      });
    }
  }
  const all = blocks * (width + 24) - 24;
  return template(sections, { x: Math.round(all * 0.2), y: 0, width: Math.round(all * 0.6), height: 50 });
}

/** Curved rows around one point, as in a theatre. */
function arc({ blocks, rows, seats, grades }) {
  const [from, to] = [200, 340];
  const inner = Math.max(120, Math.ceil((seats * PITCH * 180) / (Math.PI * (to - from) * 1.15)));
  const perBlock = (to - from) / blocks;
  const sections = [];
  const [tiers, deep] = tiersOf(rows, grades);
  for (let tier = 0; tier < tiers; tier += 1) {
    for (let block = 0; block < blocks; block += 1) {
      // On screen, angles increase clockwise, and the audience sits below the stage.
      const degrees = [from - 180 + block * perBlock + 1.5, from - 180 + (block + 1) * perBlock - 1.5];
      sections.push({
        name: `${tier + 1}${String(block + 1).padStart(2, "0")}`,
        grade: gradeAt(grades, tier, tiers),
        rows: Array.from({ length: Math.min(deep, rows - tier * deep) }, (_, i) => {
          const radius = inner + tier * (deep * 13 + 20) + i * 13;
          const room = (Math.PI * radius * (degrees[1] - degrees[0])) / 180;
          return {
            label: String(i + 1),
            count: Math.max(1, Math.floor(room / PITCH)),
            arc: { x: 0, y: 0, radius, fromDegrees: Math.round(degrees[0]), toDegrees: Math.round(degrees[1]) },
          };
        }),
      });
    }
  }
  return template(sections, { x: -110, y: -60, width: 220, height: 90 });
}

/** A standing floor in front of arcs. */
function arena(asked) {
  const made = arc(asked);
  const width = Math.round(Math.max(160, asked.seats * 4));
  made.sections.unshift({
    name: "FLOOR",
    grade: asked.grades[0],
    standing: { x: -Math.round(width / 2), y: 50, width, height: 60, count: Math.max(50, asked.seats * 5) },
  });
  return made;
}

const MAKERS = { grid, arc, arena };

/** `asked`: shape, blocks, rows, seats (of the first row), grades from the most expensive down. */
export function generate(asked) {
  return MAKERS[asked.shape](asked);
}

/** How many tiers, and how many rows each: at most ten rows, and a tier for every grade. */
function tiersOf(rows, grades) {
  const deep = Math.ceil(rows / Math.max(Math.ceil(rows / 10), Math.min(rows, grades.length)));
  return [Math.ceil(rows / deep), deep];
}

function gradeAt(grades, tier, tiers) {
  return grades[Math.min(grades.length - 1, Math.floor((tier * grades.length) / tiers))];
}

function template(sections, stage) {
  return { layoutType: "sections", stage, sections };
}

// The outline of a section, derived from its seats: along the first row, down one side, back along
// the last row, up the other. Organisers draw seats, not polygons.

/** The distance between the outline and the seats. */
const ROOM = 7;

/**
 * Below this share of the convex hull, the rows were not in order, and the hull is the better
 * outline.
 */
const SHARE_MIN = 0.45;

/** A standing zone: as drawn by the organiser, or large enough for its places. */
export function areaOf(plan, { first, count }, zone) {
  const side = Math.sqrt(count) * ROOM;
  const [x, y] = [plan.x[first] - side / 2, plan.y[first] - side / 2];
  const box = zone?.width && zone.height ? zone : { x, y, width: side, height: side };
  return [[box.x, box.y], [box.x + box.width, box.y], [box.x + box.width, box.y + box.height], [box.x, box.y + box.height]];
}

export function outlineOf(plan, section) {
  const at = (i) => [plan.x[i], plan.y[i]];
  const hull = hullOf(Array.from({ length: section.count }, (_, offset) => at(section.first + offset)));
  if (section.count < 3) return grown(hull.length > 2 ? hull : boxAround(hull));
  const around = straightened(walk(section.rows, at));
  const isOrdered = area(hull) * SHARE_MIN <= Math.abs(area(around)) && section.rows.length > 1;
  if (isOrdered) return grown(area(around) < 0 ? around.reverse() : around);
  return grown(hull.length > 2 && 1 < area(hull) ? hull : boxAround(hull));
}

function walk(rows, at) {
  const [first, last] = [rows[0], rows.at(-1)];
  const between = rows.slice(1, -1);
  const line = ({ from, end }) => Array.from({ length: end - from }, (_, offset) => at(from + offset));
  return [
    ...line(first),
    ...between.map(({ end }) => at(end - 1)),
    ...line(last).reverse(),
    ...between.map(({ from }) => at(from)).reverse(),
  ];
}

/** Removes points on straight lines, because fewer corners fill faster. */
function straightened(points) {
  return points.filter((point, i) => {
    const before = points[(i + points.length - 1) % points.length];
    const after = points[(i + 1) % points.length];
    return 0.5 < Math.abs(cross(before, point, after));
  });
}

function boxAround(points) {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  return [[left - 0.1, top - 0.1], [right + 0.1, top - 0.1], [right + 0.1, bottom + 0.1], [left - 0.1, bottom + 0.1]];
}

/** Moves every corner outwards; the outside is on the left of the path. */
function grown(points) {
  const normal = ([ax, ay], [bx, by]) => {
    const length = Math.hypot(bx - ax, by - ay) || 1;
    return [(by - ay) / length, (ax - bx) / length];
  };
  return points.map((point, i) => {
    const before = points[(i + points.length - 1) % points.length];
    const after = points[(i + 1) % points.length];
    const [a, b] = [normal(before, point), normal(point, after)];
    const sum = [a[0] + b[0], a[1] + b[1]];
    // The mitre is half the squared length of the sum; sharp corners are cut.
    const mitre = Math.max(0.6, (sum[0] ** 2 + sum[1] ** 2) / 2);
    return [point[0] + (sum[0] * ROOM) / mitre, point[1] + (sum[1] * ROOM) / mitre];
  });
}

function cross([ax, ay], [bx, by], [cx, cy]) {
  return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
}

function area(points) {
  return points.reduce((sum, [ax, ay], i) => {
    const [bx, by] = points[(i + 1) % points.length];
    return sum + (ax * by - bx * ay) / 2;
  }, 0);
}

/** Andrew's monotone chain. */
function hullOf(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list) => {
    const chain = [];
    for (const point of list) {
      while (chain.length > 1 && cross(chain.at(-2), chain.at(-1), point) <= 0) chain.pop();
      chain.push(point);
    }
    chain.pop();
    return chain;
  };
  if (sorted.length < 3) return sorted;
  return [...half(sorted), ...half(sorted.reverse())];
}

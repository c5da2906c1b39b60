// The whole hall in a corner while the map is zoomed: where the fan looks, and a way elsewhere. Only a
// picture, like the map: the list has the same sections.

import { el } from "../../../shared/ui/dom.js";

const REDRAW_MS = 1_000;
const SIDE_PX = 116;

/** Below this share of zoom the map shows nearly everything itself. */
const SHOWN_FROM = 1.25;

/** A lower map has no corner to spare. */
const HEIGHT_MIN_PX = 380;

export function minimap({ map, page }) {
  const canvas = el("canvas", { class: "minimap", "aria-hidden": "true", hidden: true });
  const pen = canvas.getContext("2d");
  let ground = null;
  let frame = null;

  /** What changes with sales is drawn at most once a second; the rectangle follows the view. */
  function drawGround() {
    const { plan, theme } = map;
    const [x0, y0, x1, y1] = plan.bounds;
    const dpr = Math.min(devicePixelRatio || 1, 2);
    const scale = (SIDE_PX * dpr) / Math.max(x1 - x0, y1 - y0);
    ground = new OffscreenCanvas(Math.max(1, Math.round((x1 - x0) * scale)), Math.max(1, Math.round((y1 - y0) * scale)));
    const sheet = ground.getContext("2d");
    const at = ([x, y]) => [(x - x0) * scale, (y - y0) * scale];
    if (plan.stage) {
      sheet.fillStyle = theme.stage;
      sheet.fillRect(...at([plan.stage.x, plan.stage.y]), plan.stage.width * scale, plan.stage.height * scale);
    }
    for (const section of plan.sections) {
      sheet.beginPath();
      section.outline.forEach((point, i) => sheet[i ? "lineTo" : "moveTo"](...at(point)));
      sheet.fillStyle = map.left[section.index] ? theme.grades[Math.min(section.grade, theme.grades.length - 1)] : theme.sold;
      sheet.globalAlpha = 0.25 + (0.75 * map.left[section.index]) / section.count;
      sheet.fill();
      sheet.globalAlpha = 1;
    }
    Object.assign(ground, { madeAt: performance.now(), madeFor: theme, scale });
  }

  function draw() {
    frame = null;
    if (!map.plan || !map.theme) return;
    const { view, plan, theme } = map;
    canvas.hidden = view.scale < view.fitScale * SHOWN_FROM || view.height < HEIGHT_MIN_PX;
    if (canvas.hidden) return;
    if (!ground || REDRAW_MS < performance.now() - ground.madeAt || ground.madeFor !== theme) drawGround();
    const dpr = Math.min(devicePixelRatio || 1, 2);
    [canvas.width, canvas.height] = [ground.width, ground.height];
    canvas.style.setProperty("width", `${ground.width / dpr}px`);
    canvas.style.setProperty("height", `${ground.height / dpr}px`);
    pen.drawImage(ground, 0, 0);
    const [left, top] = view.under(0, 0);
    const rectangle = [(left - plan.bounds[0]) * ground.scale, (top - plan.bounds[1]) * ground.scale, (view.width / view.scale) * ground.scale, (view.height / view.scale) * ground.scale];
    pen.strokeStyle = theme.mine;
    pen.lineWidth = 2 * dpr;
    pen.strokeRect(...rectangle);
  }

  const schedule = () => (frame ??= requestAnimationFrame(draw));

  /** A press or a drag moves the view to this place. */
  function go(event) {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    const [x0, y0, x1, y1] = map.plan.bounds;
    map.look((view) => view.panBy(
      view.width / 2 - ((x0 + x * (x1 - x0)) * view.scale + view.left),
      view.height / 2 - ((y0 + y * (y1 - y0)) * view.scale + view.top)));
  }

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    go(event);
  });
  canvas.addEventListener("pointermove", (event) => (canvas.hasPointerCapture(event.pointerId) ? go(event) : null));
  map.addEventListener("viewchange", schedule);
  const timer = setInterval(schedule, REDRAW_MS);
  page.signal.addEventListener("abort", () => {
    clearInterval(timer);
    cancelAnimationFrame(frame);
  });
  return canvas;
}

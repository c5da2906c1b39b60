// The seats as pixels: copies sprites into one buffer, and puts only the changed part on the
// canvas. Twenty thousand seats take a few milliseconds, a change takes microseconds.

import { COLOURS, PITCH, seatsIn } from "./plan.js";
import { FREE, makeSprites } from "./sprites.js";

export class SeatLayer {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
  }

  resize() {
    const { width, height } = this.canvas;
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.isEmpty = false;
  }

  /** Drops the sprites after a change of the theme. */
  forget() {
    this.madeFor = null;
  }

  spritesFor({ theme, view, dpr, detail }) {
    const key = `${view.scale.toFixed(4)} ${dpr} ${detail}`;
    if (this.madeFor !== key) {
      this.sprites = makeSprites(theme, view.scale * dpr, detail);
      this.madeFor = key;
    }
    return this.sprites;
  }

  drawAll(map, seen) {
    const isBlank = map.detail === 0 || map.mode === "heat";
    if (isBlank && this.isEmpty) return;
    this.pixels.fill(0);
    this.isEmpty = isBlank;
    if (!isBlank) {
      const sprites = this.spritesFor(map);
      const all = [0, 0, this.canvas.width, this.canvas.height];
      for (const { first, count, isStanding } of seen) {
        for (let i = first; i < first + count && !isStanding; i += 1) this.blit(map, sprites, i, all);
      }
    }
    this.pen.putImageData(this.image, 0, 0);
    if (map.detail === 3 && !isBlank) this.drawNumbers(map, seen);
  }

  /** Copies one seat into the rectangle `[x0, y0, x1, y1]`. */
  blit(map, sprites, i, [x0, y0, x1, y1]) {
    const { view, plan, dpr } = map;
    const { size, half } = sprites;
    const { width } = this.canvas;
    const x = Math.round((plan.x[i] * view.scale + view.left) * dpr - half);
    const y = Math.round((plan.y[i] * view.scale + view.top) * dpr - half);
    if (x <= x0 - size || y <= y0 - size || x1 <= x || y1 <= y) return;
    const pixels = sprites.at(map.status[i], Math.min(plan.grade[i], COLOURS - 1), map.isFaint(i));
    const [fromX, toX] = [Math.max(0, x0 - x), Math.min(size, x1 - x)];
    for (let row = Math.max(0, y0 - y); row < Math.min(size, y1 - y); row += 1) {
      const [from, to] = [row * size, (y + row) * width + x];
      for (let column = fromX; column < toX; column += 1) {
        const pixel = pixels[from + column];
        if (pixel) this.pixels[to + column] = pixel;
      }
    }
  }

  drawChanged(map, changed) {
    if (map.detail === 0 || map.mode === "heat") return;
    const sprites = this.spritesFor(map);
    const { size } = sprites;
    const { width, height } = this.canvas;
    for (const i of changed) {
      const corner = map.plan.seats[i].standing ? null : this.cornerOf(map, sprites, i);
      if (!corner) continue;
      const [x0, y0] = [Math.max(0, corner[0]), Math.max(0, corner[1])];
      const [x1, y1] = [Math.min(width, corner[0] + size), Math.min(height, corner[1] + size)];
      for (let row = y0; row < y1; row += 1) this.pixels.fill(0, row * width + x0, row * width + x1);
      // Seats are closer than their sprites are wide, so the rectangle has corners of neighbours.
      const near = seatsIn(map.plan, around(map, i, size));
      near.forEach((j) => this.blit(map, sprites, j, [x0, y0, x1, y1]));
      this.pen.putImageData(this.image, 0, 0, x0, y0, x1 - x0, y1 - y0);
      if (map.detail === 3) this.drawNumbersIn(map, near, [x0, y0, x1 - x0, y1 - y0]);
    }
  }

  drawNumbersIn(map, seats, rectangle) {
    this.pen.save();
    this.pen.beginPath();
    this.pen.rect(...rectangle);
    this.pen.clip();
    seats.forEach((i) => this.drawNumber(map, i));
    this.pen.restore();
  }

  cornerOf({ view, plan, dpr }, { size, half }, i) {
    const x = Math.round((plan.x[i] * view.scale + view.left) * dpr - half);
    const y = Math.round((plan.y[i] * view.scale + view.top) * dpr - half);
    const isSeen = -size < x && -size < y && x < this.canvas.width && y < this.canvas.height;
    return isSeen ? [x, y] : null;
  }

  drawNumbers(map, seen) {
    for (const { first, count, isStanding } of seen) {
      for (let i = first; i < first + count && !isStanding; i += 1) this.drawNumber(map, i);
    }
  }

  drawNumber(map, i) {
    const { view, plan, dpr, theme } = map;
    if (map.status[i] !== FREE || map.isFaint(i)) return;
    const [x, y] = [(plan.x[i] * view.scale + view.left) * dpr, (plan.y[i] * view.scale + view.top) * dpr];
    if (x < 0 || y < 0 || this.canvas.width < x || this.canvas.height < y) return;
    this.pen.font = `700 ${Math.round(view.scale * 3.5 * dpr)}px ${theme.font}`;
    this.pen.textAlign = "center";
    this.pen.textBaseline = "middle";
    this.pen.fillStyle = theme.onGrades[Math.min(plan.grade[i], COLOURS - 1)];
    const { number, accessible, restrictedView } = plan.seats[i];
    this.pen.fillText(restrictedView ? "!" : lastNumber(number), x, y + dpr * 0.5);
    if (accessible) this.drawDashes(x, y, view.scale * PITCH * 0.45 * dpr, theme.ink);
  }

  /** A wheelchair space. */
  drawDashes(x, y, radius, colour) {
    this.pen.strokeStyle = colour;
    this.pen.lineWidth = Math.max(1, radius * 0.14);
    this.pen.setLineDash([radius * 0.4, radius * 0.3]);
    this.pen.beginPath();
    this.pen.arc(x, y, radius, 0, 2 * Math.PI);
    this.pen.stroke();
    this.pen.setLineDash([]);
  }
}

/** The rectangle of the plan in which sprites overlap that of seat `i`. */
function around({ plan, view, dpr }, i, size) {
  const reach = (size + 1) / (view.scale * dpr);
  return [plan.x[i] - reach, plan.y[i] - reach, plan.x[i] + reach, plan.y[i] + reach];
}

/** `107-5-7` is seat 7 of its row. */
function lastNumber(number) {
  return number.match(/(\d+)\D*$/)?.[1] ?? "";
}

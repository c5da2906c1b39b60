// The viewport of the map: a scale and an offset, in CSS pixels.

const SCALE_MAX = 4.4;

const ROOM_MIN = 80;

export class View {
  constructor() {
    this.scale = 1;
    this.left = 0;
    this.top = 0;
    this.width = 0;
    this.height = 0;
    this.fitScale = 1;
    /** Whether the user chose this view; a resize then keeps it. */
    this.isMoved = false;
  }

  /** Fits everything inside `[top, right, bottom, left]`. */
  fit([x0, y0, x1, y1], [top, right, bottom, left]) {
    const [width, height] = this.room(top, right, bottom, left);
    this.fitScale = Math.min(width / (x1 - x0), height / (y1 - y0), SCALE_MAX);
    this.scale = this.fitScale;
    this.left = left + width / 2 - (this.scale * (x0 + x1)) / 2;
    this.top = top + height / 2 - (this.scale * (y0 + y1)) / 2;
    this.isMoved = false;
  }

  /** Fits one part, as large as possible between the two scales. */
  focus([x0, y0, x1, y1], [top, right, bottom, left], [scaleMin, scaleMax]) {
    const [width, height] = this.room(top, right, bottom, left);
    const scale = Math.min(width / (x1 - x0), height / (y1 - y0), scaleMax);
    this.scale = Math.max(scale, this.fitScale, scaleMin);
    this.left = left + width / 2 - (this.scale * (x0 + x1)) / 2;
    this.top = top + height / 2 - (this.scale * (y0 + y1)) / 2;
    this.isMoved = true;
  }

  /** The space inside the insets; on a very small screen the insets shrink. */
  room(top, right, bottom, left) {
    return [Math.max(ROOM_MIN, this.width - left - right), Math.max(ROOM_MIN, this.height - top - bottom)];
  }

  zoomAt(px, py, factor) {
    const scale = Math.max(this.fitScale * 0.9, Math.min(SCALE_MAX, this.scale * factor));
    const change = scale / this.scale;
    this.left = px - (px - this.left) * change;
    this.top = py - (py - this.top) * change;
    this.scale = scale;
    this.isMoved = true;
  }

  panBy(dx, dy) {
    this.left += dx;
    this.top += dy;
    this.isMoved = true;
  }

  /** The point of the plan at a point of the screen. */
  under(px, py) {
    return [(px - this.left) / this.scale, (py - this.top) / this.scale];
  }
}

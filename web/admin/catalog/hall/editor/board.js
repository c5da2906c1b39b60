// The drawing area: the fan's map with the editor's tools on it. Presses that a tool takes never
// reach the map; all others pan and zoom it as on the fan's page.

import "../../../../shared/seatmap/element.js";
import { el } from "../../../../shared/ui/dom.js";
import { t } from "../../../../shared/ui/i18n.js";
import { drawPlan } from "../model/drawing.js";
import { drawOver, drawUnder } from "./overlay.js";
import { pressTool } from "./tools.js";

const CURSORS = { select: "default", hand: "grab", section: "crosshair", standing: "crosshair", stage: "crosshair", paint: "cell", seats: "cell" };

export class Board {
  constructor(store) {
    this.store = store;
    this.guides = [];
    this.marquee = null;
    this.background = null;
    /** The seat that the keyboard is at; -1 if none. */
    this.cursor = -1;
    this.map = document.createElement("seat-map");
    this.map.words = { stage: t("stage") };
    this.map.underlay = (pen, map) => drawUnder(pen, map, this);
    this.map.overlay = (pen, map) => drawOver(pen, map, this);
    this.element = el("div", { class: "board", tabindex: "0", role: "application", "aria-label": t("planBoard"), "aria-describedby": "plan-keys" }, this.map);
    this.listen();
    store.addEventListener("change", ({ detail }) => this.changed(detail));
  }

  get scale() {
    return this.map.view.scale;
  }

  changed(what) {
    if (what === "plan" || what === "draft") this.show();
    this.map.style.setProperty("cursor", CURSORS[this.store.tool]);
    if (this.store.tool !== "seats") this.cursor = -1;
    this.draw();
  }

  /** Draws the plan as it is now. */
  show() {
    const { plan, status } = drawPlan(this.store.plan);
    if (this.map.plan) this.map.replace(plan, status);
    else this.map.show(plan, status);
    this.cursor = Math.min(this.cursor, plan.n - 1);
  }

  draw() {
    if (!this.map.plan) return;
    this.map.isTopOld = true;
    this.map.schedule();
  }

  /** The picture to trace, or the grid, changed. */
  drawAll() {
    if (this.map.plan) this.map.redraw();
  }

  drop() {
    this.marquee = null;
    this.draw();
  }

  /** The point of the plan at the middle of the area. */
  get middle() {
    const { view } = this.map;
    return view.under(view.width / 2, view.height / 2);
  }

  listen() {
    let gesture = null;
    let from = null;
    let moved = 0;
    const press = (event) => {
      const box = this.map.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top];
      return { at: this.map.view.under(x, y), x, y, moved, isTouch: event.pointerType === "touch", isAdding: event.shiftKey || event.ctrlKey || event.metaKey, isFree: event.altKey };
    };
    const take = (event) => {
      if (!gesture.isShared) event.stopPropagation();
    };
    this.element.addEventListener("pointerdown", (event) => {
      this.element.focus({ preventScroll: true });
      if (gesture || event.button !== 0 || this.isPanning || !this.map.plan) return;
      moved = 0;
      from = [event.clientX, event.clientY];
      gesture = pressTool(this, this.store, press(event));
      if (!gesture) return;
      gesture.id = event.pointerId;
      take(event);
      if (!gesture.isShared) this.element.setPointerCapture(event.pointerId);
    }, { capture: true });
    this.element.addEventListener("pointermove", (event) => {
      if (gesture?.id !== event.pointerId) return;
      moved = Math.max(moved, Math.hypot(event.clientX - from[0], event.clientY - from[1]));
      take(event);
      gesture.move(press(event));
    }, { capture: true });
    const end = (event) => {
      if (gesture?.id !== event.pointerId) return;
      take(event);
      const done = gesture;
      gesture = null;
      if (event.type === "pointerup") done.up(press(event));
      else this.store.dropDraft();
    };
    this.element.addEventListener("pointerup", end, { capture: true });
    this.element.addEventListener("pointercancel", end, { capture: true });
  }
}

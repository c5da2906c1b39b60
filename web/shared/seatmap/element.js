// <seat-map>: three stacked canvases for the ground (stage, sections), the seats, and what moves
// (names, rings, pulses). The level of detail depends on the distance between seats on screen. The
// map is an image; the page beside it offers the same to screen readers and keyboards.

import { drawGround, drawNames } from "./ground.js";
import { listen } from "./gestures.js";
import { COLOURS, PITCH, seatNear, sectionAt } from "./plan.js";
import { FREE, MINE, OWN } from "./sprites.js";
import { SeatLayer } from "./seats.js";
import { readTheme } from "./theme.js";
import { View } from "./view.js";

/**
 * Distances between seats on screen (CSS pixels) from which to draw dots, seats with rows, numbers.
 */
const DETAILS_PX = [3.2, 9, 17];

/** Below this distance a tap opens a section; above it, a tap selects a seat. */
const PICK_PX = 12;
const TAP_REACH_PX = 22;
const HOVER_REACH_PX = 14;

/** An open section is close enough to select seats, but keeps its neighbours in view. */
const OPEN_SCALES = [1.4, 2.45];
/** The mark on the fan's own seats, seen from afar. */
const MARK_PX = 7;
const PULSE_MS = 450;
const PULSES_MAX = 24;
const NAMES_EVERY_MS = 250;

/** More changes than this are drawn faster together than one by one. */
const PATCHES_MAX = 400;

export class SeatMap extends HTMLElement {
  constructor() {
    super();
    this.view = new View();
    this.mode = "seats";
    this.filter = null;
    this.open = -1;
    this.own = new Set();
    this.hover = -1;
    this.focused = -1;
    this.insets = [18, 18, 18, 18];
    /** The same while a section is open, when the way back covers a part of the map. */
    this.openInsets = null;
    this.words = { stage: "STAGE" };
    /** Drawn below the stage and above everything, by an editor. */
    this.underlay = null;
    this.overlay = null;
    this.changed = [];
    this.pulses = [];
    this.isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  connectedCallback() {
    const canvases = [0, 1, 2].map(() => {
      const canvas = document.createElement("canvas");
      canvas.setAttribute("aria-hidden", "true");
      return canvas;
    });
    this.prepend(...canvases);
    const [ground, seats, top] = canvases;
    this.ground = ground.getContext("2d", { alpha: false });
    this.layer = new SeatLayer(seats);
    this.top = top.getContext("2d");
    this.canvases = canvases;
    this.leaving = new AbortController();
    this.resizes = new ResizeObserver(() => this.resize());
    this.resizes.observe(this);
    this.watchTheme();
    listen(this, {
      onMove: (dx, dy) => this.look((view) => view.panBy(dx, dy)),
      onZoom: (x, y, factor) => this.look((view) => view.zoomAt(x, y, factor)),
      onTap: (x, y) => this.tap(x, y),
      onHover: (x, y) => this.hoverAt(x, y),
    });
  }

  disconnectedCallback() {
    this.resizes.disconnect();
    this.themes.disconnect();
    this.leaving.abort();
    this.plan = null;
  }

  watchTheme() {
    const again = () => {
      this.theme = readTheme(this);
      this.layer.forget();
      this.redraw();
    };
    this.themes = new MutationObserver(again);
    this.themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", again, { signal: this.leaving.signal });
  }

  /** Shows a plan; `status` has a number per seat, and the map keeps it. */
  show(plan, status) {
    this.plan = plan;
    this.status = status;
    this.theme = readTheme(this);
    this.layer.forget();
    this.countLeft();
    this.resize();
    // Until now the canvases are black.
    this.toggleAttribute("drawn", true);
    performance.mark("seat-map");
  }

  /** Another drawing of the same hall: the view and the sprites stay. */
  replace(plan, status) {
    this.plan = plan;
    this.status = status;
    this.hover = -1;
    this.countLeft();
    this.redraw();
  }

  countLeft() {
    const { sections } = this.plan;
    this.left = sections.map(({ first, count }) => {
      let left = 0;
      for (let i = first; i < first + count; i += 1) left += Number(this.status[i] === FREE);
      return left;
    });
  }

  /** Changes one seat; the next frame draws it. */
  set(i, state) {
    const before = this.status[i];
    if (before === state) return;
    this.status[i] = state;
    this.note(i, state);
    this.left[this.plan.section[i]] += Number(state === FREE) - Number(before === FREE);
    this.changed.push(i);
    this.schedule();
  }

  /** The fan's own seats are few: each has a mark that no section name covers. */
  note(i, state) {
    if (state === MINE || state === OWN) this.own.add(i);
    else if (!this.own.delete(i)) return;
    this.isTopOld = true;
  }

  filterBy(grade) {
    this.filter = grade;
    this.redraw();
  }

  isFaint(i) {
    const { plan } = this;
    if (this.filter !== null) return this.filter !== plan.grade[i];
    return this.open >= 0 && this.open !== plan.section[i];
  }

  /** 0 sections, 1 dots, 2 seats with rows, 3 numbers. */
  get detail() {
    const pitch = this.view.scale * PITCH;
    return DETAILS_PX.filter((from) => from <= pitch).length;
  }

  resize() {
    const box = this.getBoundingClientRect();
    if (!box.width || !box.height || !this.plan) return;
    this.dpr = Math.min(devicePixelRatio || 1, 2);
    for (const canvas of this.canvases) {
      canvas.width = Math.round(box.width * this.dpr);
      canvas.height = Math.round(box.height * this.dpr);
    }
    this.layer.resize();
    [this.view.width, this.view.height] = [box.width, box.height];
    if (this.view.isMoved) this.redraw();
    else this.showAll();
  }

  showAll() {
    this.open = -1;
    this.look((view) => view.fit(this.plan.bounds, this.insets));
  }

  openSection(index) {
    this.open = index;
    const { box } = this.plan.sections[index];
    this.look((view) => view.focus(box, this.openInsets ?? this.insets, OPEN_SCALES));
  }

  zoomBy(factor) {
    this.look((view) => view.zoomAt(view.width / 2, view.height / 2, factor));
  }

  look(change) {
    if (!this.plan) return;
    change(this.view);
    if (this.view.scale * PITCH < DETAILS_PX[1]) this.open = -1;
    this.redraw();
    this.tell("viewchange");
  }

  focusSeat(i) {
    this.focused = i;
    this.isTopOld = true;
    this.schedule();
  }

  tap(x, y) {
    if (!this.plan) return;
    const [px, py] = this.view.under(x, y);
    const section = sectionAt(this.plan, px, py);
    const isZone = this.plan.sections[section]?.isStanding;
    if (this.mode === "seats" && !isZone && PICK_PX <= this.view.scale * PITCH) {
      const seat = seatNear(this.plan, px, py, Math.max(5, TAP_REACH_PX / this.view.scale));
      if (seat >= 0) this.tell("seat", seat);
      return;
    }
    if (section >= 0) this.tell("section", section);
  }

  hoverAt(x, y) {
    if (!this.plan || this.mode !== "seats") return;
    const [px, py] = this.view.under(x, y);
    const isNear = DETAILS_PX[1] <= this.view.scale * PITCH;
    const seat = isNear ? seatNear(this.plan, px, py, Math.max(5, HOVER_REACH_PX / this.view.scale)) : -1;
    if (seat === this.hover) return;
    this.hover = seat;
    this.isTopOld = true;
    this.schedule();
    this.tell("hover", seat);
  }

  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  redraw() {
    this.isOld = true;
    this.schedule();
  }

  schedule() {
    if (this.frame || !this.plan) return;
    this.frame = requestAnimationFrame((now) => {
      this.frame = null;
      if (this.plan && this.dpr) this.draw(now);
    });
  }

  draw(now) {
    if (this.isOld || PATCHES_MAX < this.changed.length) this.drawAll();
    else if (this.changed.length) this.drawChanged(now);
    this.changed.length = 0;
    if (this.areNamesOld && NAMES_EVERY_MS < now - (this.namedAt ?? 0)) {
      this.namedAt = now;
      this.areNamesOld = false;
      if (this.detail === 0 || this.mode === "heat") this.drawAll();
      this.isTopOld = true;
    }
    this.drawTop(now);
    if (this.pulses.length || this.areNamesOld) this.schedule();
  }

  drawAll() {
    this.isOld = false;
    this.seen = drawGround(this.ground, this);
    this.layer.drawAll(this, this.seen);
    this.isTopOld = true;
  }

  drawChanged(now) {
    this.layer.drawChanged(this, this.changed);
    const seated = this.changed.filter((i) => !this.plan.seats[i].standing);
    const hasZone = seated.length < this.changed.length;
    this.areNamesOld ||= hasZone || this.detail <= 1 || this.mode === "heat";
    if (this.isCalm || this.detail < 2 || this.mode === "heat") return;
    const room = PULSES_MAX - this.pulses.length;
    for (const i of seated.slice(0, Math.max(0, room))) this.pulses.push({ i, at: now });
  }

  drawTop(now) {
    if (!this.isTopOld && !this.pulses.length) return;
    this.isTopOld = false;
    const pen = this.top;
    pen.clearRect(0, 0, pen.canvas.width, pen.canvas.height);
    const areSmall = this.detail <= 1 || this.mode === "heat";
    drawNames(pen, this, areSmall ? this.seen : this.seen.filter((it) => it.isStanding));
    if (this.mode === "heat") return;
    this.pulses = this.pulses.filter(({ at }) => now - at < PULSE_MS);
    for (const { i, at } of this.pulses) this.drawPulse(pen, i, Math.max(0, (now - at) / PULSE_MS));
    const marked = this.detail <= 1 ? [...this.own].filter((i) => !this.plan.seats[i].standing) : [];
    marked.forEach((i) => this.drawMark(pen, i));
    this.overlay?.(pen, this);
    if (this.hover >= 0) this.ring(pen, this.hover, { colour: this.theme.ink, width: 2, grow: 2 });
    if (this.focused < 0) return;
    this.ring(pen, this.focused, { colour: this.theme.ground, width: 5, grow: 4 });
    this.ring(pen, this.focused, { colour: this.theme.focus, width: 2.6, grow: 4 });
  }

  drawMark(pen, i) {
    const { theme, plan, view, dpr } = this;
    const [x, y] = [plan.x[i], plan.y[i]].map((at, axis) => (at * view.scale + (axis ? view.top : view.left)) * dpr);
    const r = MARK_PX * dpr;
    pen.beginPath();
    pen.arc(x, y, r, 0, 2 * Math.PI);
    pen.fillStyle = theme.mine;
    pen.fill();
    pen.strokeStyle = theme.mineInk;
    pen.lineWidth = 1.6 * dpr;
    pen.stroke();
    pen.beginPath();
    pen.moveTo(x - r * 0.42, y + r * 0.04);
    pen.lineTo(x - r * 0.1, y + r * 0.36);
    pen.lineTo(x + r * 0.46, y - r * 0.34);
    pen.stroke();
  }

  drawPulse(pen, i, age) {
    const { theme, plan, status } = this;
    pen.globalAlpha = (1 - age) * 0.8;
    const colour = status[i] === FREE ? theme.grades[Math.min(plan.grade[i], COLOURS - 1)] : theme.held;
    this.ring(pen, i, { colour, width: 1.6, grow: age * 6 });
    pen.globalAlpha = 1;
  }

  ring(pen, i, { colour, width, grow }) {
    const { view, plan, dpr } = this;
    pen.strokeStyle = colour;
    pen.lineWidth = width * dpr;
    pen.beginPath();
    const [x, y] = [(plan.x[i] * view.scale + view.left) * dpr, (plan.y[i] * view.scale + view.top) * dpr];
    pen.arc(x, y, (view.scale * 3.95 + grow) * dpr, 0, 2 * Math.PI);
    pen.stroke();
  }
}

customElements.define("seat-map", SeatMap);

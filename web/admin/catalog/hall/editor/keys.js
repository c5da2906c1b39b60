// The keyboard on the drawing area. Letters choose tools, arrows move what is selected, Tab goes from
// section to section and leaves after the last one.

import { announce } from "../../../../shared/ui/dom.js";
import { count } from "../../../../shared/ui/format.js";
import { t } from "../../../../shared/ui/i18n.js";
import { add, copySelected, markSeats, moveBy, removeSelected, STEP, turnBy } from "./actions.js";
import { nSold } from "../model/sections.js";
import { toggled } from "./tools.js";

export const TOOLS = [["select", "v"], ["hand", "h"], ["section", "s"], ["standing", "z"], ["stage", "t"], ["paint", "g"], ["seats", "e"]];

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const PAN_PX = 60;
const ADDS = ["section", "standing", "stage"];

export function listenToKeys(root, board, store) {
  root.addEventListener("keydown", (event) => {
    if (event.target.closest("input, textarea, select")) return;
    const isOnBoard = event.target === board.element;
    const isMeant = event.ctrlKey || event.metaKey ? command(store, event, isOnBoard) : isOnBoard && key(board, store, event);
    if (isMeant) event.preventDefault();
  });
  // The space bar pans while it is held, as in other editors.
  board.element.addEventListener("keydown", ({ key: name }) => (board.isPanning = name === " " && store.tool !== "seats"));
  board.element.addEventListener("keyup", ({ key: name }) => (board.isPanning = name === " " ? false : board.isPanning));
  board.element.addEventListener("blur", () => (board.isPanning = false));
}

function command(store, { key: name, shiftKey }, isOnBoard) {
  const commands = {
    z: () => (shiftKey ? store.redo() : store.undo()),
    y: () => store.redo(),
    ...(isOnBoard ? { d: () => copySelected(store), a: () => store.select(store.plan.sections.map((section) => section.key)) } : {}),
  };
  const act = commands[name.toLowerCase()];
  act?.();
  return Boolean(act);
}

/** True if the key did something. */
function key(board, store, event) {
  const { key: name, shiftKey } = event;
  if (name === "Tab") return nextSection(store, shiftKey ? -1 : 1);
  if (ARROWS[name]) return arrow(board, store, ARROWS[name], shiftKey);
  if (store.tool === "seats" && seatKey(board, store, name)) return true;
  const tool = TOOLS.find(([, letter]) => letter === name.toLowerCase());
  if (tool) {
    store.use(tool[0]);
    return true;
  }
  const acts = {
    Delete: () => removeSelected(store),
    Backspace: () => removeSelected(store),
    Escape: () => leave(store),
    Enter: () => enter(board, store),
    "[": () => turnBy(store, -5, "turn"),
    "]": () => turnBy(store, 5, "turn"),
    "+": () => board.map.zoomBy(1.4),
    "=": () => board.map.zoomBy(1.4),
    "-": () => board.map.zoomBy(1 / 1.4),
    0: () => board.map.showAll(),
    " ": () => null,
  };
  acts[name]?.();
  return Boolean(acts[name]);
}

function leave(store) {
  store.dropDraft();
  if (store.tool === "select") store.select([]);
  else store.use("select");
}

/** Adds what the tool draws, in the middle of the view; or goes into the selected section. */
function enter(board, store) {
  if (ADDS.includes(store.tool)) return add(store, store.tool, [...board.middle, ...board.middle]);
  const [section] = store.picked;
  if (!section || section.kind === "standing") return null;
  const { first } = board.map.plan.sections.find(({ key: it }) => it === section.key);
  store.use("seats");
  return goTo(board, first);
}

function nextSection(store, by) {
  const { sections } = store.plan;
  const now = sections.findIndex(({ key: it }) => store.selected.has(it));
  const next = sections[now < 0 ? (by < 0 ? -1 : 0) : now + by];
  if (!next) return false;
  store.select([next.key]);
  announce(t("planAt", next.name, next.grade, count(nSold(next))));
  return true;
}

function arrow(board, store, [dx, dy], isFine) {
  if (store.tool === "seats" && board.cursor >= 0) return goTo(board, neighbour(board, dx, dy));
  if (!store.selected.size) {
    board.map.look((view) => view.panBy(-dx * PAN_PX, -dy * PAN_PX));
    return true;
  }
  const step = isFine || !store.snaps ? 1 : STEP;
  moveBy(store, [dx * step, dy * step], "arrows");
  return true;
}

/** Beside the seat, or at the same place of the row before or behind. */
function neighbour({ map: { plan }, cursor }, dx, dy) {
  const section = plan.sections[plan.section[cursor]];
  if (dx) return Math.max(section.first, Math.min(section.first + section.count - 1, cursor + dx));
  const row = section.rows[plan.row[cursor] + dy];
  return row ? Math.min(row.end - 1, row.from + cursor - section.rows[plan.row[cursor]].from) : cursor;
}

function goTo(board, index) {
  board.cursor = index;
  board.draw();
  const { number, grade, isBlocked } = board.map.plan.seats[index];
  announce(t("planSeatAt", number, grade, isBlocked));
  return true;
}

function seatKey(board, store, name) {
  if (board.cursor < 0) return false;
  const acts = {
    " ": () => store.selectSeats(toggled(board, store, [board.cursor], true)),
    b: () => onCursor(board, store, { state: "gap" }),
    Delete: () => onCursor(board, store, { state: "gone" }),
    g: () => onCursor(board, store, { grade: store.grade }),
  };
  acts[name]?.();
  return Boolean(acts[name]);
}

/** On the selected seats, or on the one that the keyboard is at. */
function onCursor(board, store, change) {
  if (!store.seats.size) store.selectSeats(toggled(board, store, [board.cursor], false));
  markSeats(store, change);
}

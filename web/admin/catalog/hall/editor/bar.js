// The toolbar: the tools, undo and redo, what helps to draw, and the zoom.

import { el, icon } from "../../../../shared/ui/dom.js";
import { t } from "../../../../shared/ui/i18n.js";
import { TOOLS } from "./keys.js";

const ICONS = { select: "pointer", hand: "hand", section: "rows", standing: "zone", stage: "stage", paint: "brush", seats: "grape" };

export function openBar(board, store, more) {
  const tool = ([name, letter]) => el("button", {
    class: "tool", type: "button", "data-tool": name, "aria-keyshortcuts": letter, title: `${t(`tool${name}`)} (${letter.toUpperCase()})`,
    onclick: () => {
      store.use(name);
      board.element.focus({ preventScroll: true });
    },
  }, icon(ICONS[name]), el("span", {}, t(`tool${name}`)));
  const small = (label, picture, act, attributes = {}) => el("button", { class: "tool only", type: "button", title: label, "aria-label": label, onclick: act, ...attributes }, icon(picture));
  const undo = small(t("planUndo"), "undo", () => store.undo(), { "aria-keyshortcuts": "Control+Z" });
  const redo = small(t("planRedo"), "redo", () => store.redo(), { "aria-keyshortcuts": "Control+Shift+Z" });
  const snaps = small(t("planSnap"), "magnet", () => store.set("snaps", !store.snaps));
  const grid = small(t("planGrid"), "grid", () => {
    store.set("showsGrid", !store.showsGrid);
    board.drawAll();
  });
  const tools = TOOLS.map(tool);
  const element = el("div", { class: "tools", role: "toolbar", "aria-label": t("planTools") },
    el("div", { class: "group" }, tools),
    el("div", { class: "group" }, undo, redo),
    el("div", { class: "group" }, snaps, grid),
    el("div", { class: "group" },
      small(t("planZoomOut"), "minus", () => board.map.zoomBy(1 / 1.4)),
      small(t("planZoomIn"), "plus", () => board.map.zoomBy(1.4)),
      small(t("planFit"), "fit", () => board.map.showAll())),
    more);
  const update = () => {
    for (const button of tools) button.setAttribute("aria-pressed", String(button.dataset.tool === store.tool));
    undo.disabled = !store.past.length;
    redo.disabled = !store.future.length;
    snaps.setAttribute("aria-pressed", String(store.snaps));
    grid.setAttribute("aria-pressed", String(store.showsGrid));
  };
  update();
  store.addEventListener("change", update);
  return element;
}

// The picture to trace: a floor plan that stays in this browser and is never sent.

import { el, icon } from "../../../../shared/ui/dom.js";
import { t } from "../../../../shared/ui/i18n.js";

const NAME = "podo-plans";

function database() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("backgrounds");
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function run(mode, act) {
  const opened = await database();
  try {
    const request = act(opened.transaction("backgrounds", mode).objectStore("backgrounds"));
    return await new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  } finally {
    opened.close();
  }
}

/** What was traced for this hall, or null; also where the browser keeps nothing. */
export async function recallBackground(key) {
  const kept = await run("readonly", (store) => store.get(key)).catch(() => null);
  if (!kept) return null;
  const bitmap = await createImageBitmap(kept.file).catch(() => null);
  return bitmap ? { ...kept, bitmap } : null;
}

/** A new picture, centred around `middle` and 600 units wide. Throws if the file is no picture. */
export async function openBackground(file, [x, y]) {
  const bitmap = await createImageBitmap(file);
  const width = 600;
  const height = (width * bitmap.height) / bitmap.width;
  return { file, bitmap, x: x - width / 2, y: y - height / 2, width, opacity: 0.4 };
}

export async function keepBackground(key, background) {
  const { file, x, y, width, opacity } = background ?? {};
  const keep = (store) => (background ? store.put({ file, x, y, width, opacity }, key) : store.delete(key));
  await run("readwrite", keep).catch(() => null);
}

/** A button that opens a picture; with a picture its size, strength and a button to drop it. */
export function backgroundButtons(board, key, problem) {
  const file = el("input", { type: "file", accept: "image/*", class: "sr", name: "background" });
  const open = el("label", { class: "tool only", title: t("planPicture") }, icon("picture"), el("span", { class: "sr" }, t("planPicture")), file);
  const slider = (name, min, max, get, set) => {
    const input = el("input", { type: "range", min, max, value: get(), "aria-label": t(name), title: t(name) });
    input.addEventListener("input", () => change(set(Number(input.value))));
    return input;
  };
  const place = el("span", { class: "group" });
  const change = (next) => {
    board.background = { ...board.background, ...next };
    board.drawAll();
    keepBackground(key, board.background);
  };
  const show = () => {
    const { background } = board;
    place.replaceChildren(...(background ? [
      slider("planPictureStrength", 5, 100, () => background.opacity * 100, (value) => ({ opacity: value / 100 })),
      slider("planPictureSize", 100, 3_000, () => background.width, (width) => resizedAround(board.background, width)),
      el("button", { class: "tool only", type: "button", "aria-label": t("planPictureDrop"), title: t("planPictureDrop"), onclick: drop }, icon("close")),
    ] : []));
    board.drawAll();
  };
  const drop = () => {
    board.background = null;
    keepBackground(key, null);
    show();
  };
  file.addEventListener("change", async () => {
    if (!file.files[0]) return;
    problem.show("");
    try {
      board.background = await openBackground(file.files[0], board.middle);
      await keepBackground(key, board.background);
      show();
    } catch {
      problem.show(t("planPictureBad"));
    }
    file.value = "";
  });
  recallBackground(key).then((found) => {
    board.background ??= found;
    show();
  });
  return [open, place];
}

/** The middle of the picture stays where it is. */
function resizedAround({ x, y, width: before, bitmap }, width) {
  const more = width - before;
  return { width, x: x - more / 2, y: y - (more * bitmap.height) / bitmap.width / 2 };
}

// The pictures of a concert: the poster with its crop, and the gallery.

import { call, remove } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { announce, el, icon, problemBox } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { card, field } from "../form.js";

const ACCEPT = "image/jpeg,image/png,image/webp";

/** As the server's; the server decides. */
const BYTES_MAX = 10 * 1024 * 1024;
const GALLERY_MAX = 8;

/** A poster is three wide and four high. */
const [WIDE, HIGH] = [3, 4];

export function imagesCard(page, event) {
  return card(t("images"), t("imagesWords"), el("div", { class: "pad stack" },
    el("h3", {}, t("posterTitle")),
    posterRow(page, event),
    el("h3", {}, t("galleryTitle")),
    galleryRow(page, event)));
}

const shown = (image) => el("img", { class: "thumb", src: image.url, srcset: image.srcset, sizes: "120px", width: image.width, height: image.height, alt: image.alt, loading: "lazy" });

function posterRow(page, event) {
  const path = `/api/admin/events/${page.id}/poster`;
  const choose = el("button", { class: "btn", type: "button", onclick: () => upload(page, { method: "PUT", path, hasCrop: true }) }, icon("plus"), t(event.poster ? "posterReplace" : "posterAdd"));
  return el("div", { class: "row" },
    event.poster ? shown(event.poster) : el("p", { class: "quiet" }, t("posterNone")),
    choose,
    event.poster ? dropButton(page, path, event.poster) : null);
}

function galleryRow(page, event) {
  const path = `/api/admin/events/${page.id}/gallery`;
  const isFull = event.gallery.length >= GALLERY_MAX;
  const item = (image) => el("li", { class: "stack tight" }, shown(image), dropButton(page, `${path}/${image.hash}`, image));
  return el("div", { class: "stack" },
    event.gallery.length ? el("ul", { class: "thumbs" }, event.gallery.map(item)) : null,
    el("div", { class: "row" },
      el("button", { class: "btn", type: "button", disabled: isFull, onclick: () => upload(page, { method: "POST", path, hasCrop: false }) }, icon("plus"), t("galleryAdd")),
      el("small", { class: "quiet num" }, t("galleryCount", event.gallery.length, GALLERY_MAX))));
}

function dropButton(page, path, image) {
  const act = async () => {
    const done = await ask({ title: t("imageDropSure"), content: el("p", {}, image.alt), yes: t("delete"), isDanger: true, act: () => remove(path) });
    if (done) page.again();
  };
  return el("button", { class: "btn stop small", type: "button", "aria-label": `${t("delete")}: ${image.alt}`, onclick: act }, t("delete"));
}

/** A dialog with the file, what it shows, and for a poster its crop with a preview. */
async function upload(page, { method, path, hasCrop }) {
  const file = el("input", { type: "file", name: "file", accept: ACCEPT, required: true });
  const crop = hasCrop ? cropBox() : null;
  const problem = problemBox();
  file.addEventListener("change", () => {
    const [chosen] = file.files;
    problem.show(chosen && BYTES_MAX < chosen.size ? t("imageTooLarge") : "");
    crop?.show(chosen);
  });
  const done = await ask({
    title: t(hasCrop ? "posterTitle" : "galleryAdd"),
    content: el("div", { class: "stack" },
      el("label", { class: "field" }, t("imageFile"), file, el("small", {}, t("imageHint"))),
      problem.element,
      crop?.element,
      field({ label: t("imageAlt"), hint: t("imageAltHint"), name: "alt", required: true, maxlength: 200 })),
    yes: t("imageUpload"),
    act: (form) => {
      const query = new URLSearchParams({ alt: form.get("alt"), ...(crop ? crop.read() : {}) });
      return call(method, `${path}?${query}`, { file: file.files[0] });
    },
  });
  crop?.close();
  if (!done) return;
  announce(t("saved"));
  page.again();
}

/** Three sliders move the crop, so arrow keys do too. */
function cropBox() {
  const canvas = el("canvas", { class: "crop", width: 240, height: 320, role: "img", "aria-label": t("cropPreview") });
  const slider = (name, min, max, value) => el("input", { type: "range", name, min, max, value });
  const inputs = [slider("focusX", 0, 100, 50), slider("focusY", 0, 100, 50), slider("zoom", 100, 400, 100)];
  const element = el("div", { class: "crop-box", hidden: true }, canvas,
    el("div", { class: "stack tight" }, inputs.map((input) => el("label", { class: "field" }, t(`crop_${input.name}`), input))));
  const read = () => Object.fromEntries(inputs.map(({ name, value }) => [name, value]));
  let image = null;
  const draw = () => {
    if (!image) return;
    const { x, y, width, height } = cut(image, read());
    canvas.getContext("2d").drawImage(image, x, y, width, height, 0, 0, canvas.width, canvas.height);
  };
  inputs.forEach((input) => input.addEventListener("input", draw));
  return {
    element,
    read,
    close: () => image?.close(),
    async show(file) {
      image?.close();
      // The server says what is wrong with a file that the browser can't read.
      image = file ? await createImageBitmap(file).catch(() => null) : null;
      element.hidden = !image;
      draw();
    },
  };
}

/** The poster's part of a picture; the server computes the same. */
function cut({ width, height }, { focusX, focusY, zoom }) {
  const unit = Math.max(1, Math.floor((Math.min(Math.floor(width / WIDE), Math.floor(height / HIGH)) * 100) / zoom));
  const [w, h] = [unit * WIDE, unit * HIGH];
  const start = (whole, part, focus) => Math.min(Math.max(0, Math.floor((whole * focus) / 100) - Math.floor(part / 2)), whole - part);
  return { x: start(width, w, focusX), y: start(height, h, focusY), width: w, height: h };
}

// The camera at the gate. Uses the browser's barcode detector if there is one, else loads a
// decoder.

import { el } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";

const LOOK_EVERY_MS = 200;
const SAME_AGAIN_MS = 3_000;

/** Wide enough for a code that fills a third of the image. */
const LOOKED_AT_WIDTH = 640;

export function camera(page, check) {
  const video = el("video", { class: "camera", muted: true, playsinline: true, "aria-label": t("camera") });
  const words = el("p", { class: "quiet", role: "status" }, t("cameraWords"));
  const button = el("button", { class: "btn", type: "button" }, t("cameraStart"));
  video.muted = true;
  video.hidden = true;
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const [read, stream] = await Promise.all([reader(), navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } })]);
      page.signal.addEventListener("abort", () => stream.getTracks().forEach((track) => track.stop()));
      video.srcObject = stream;
      video.hidden = false;
      await video.play();
      button.remove();
      words.textContent = t("cameraLooks");
      look(page, video, read, check);
    } catch (error) {
      button.disabled = false;
      words.textContent = t("cameraRefused");
    }
  });
  return el("section", { class: "card pad stack" }, video, words, el("div", {}, button));
}

/** Returns a function that decodes the code in an image, or returns nothing. */
async function reader() {
  if ("BarcodeDetector" in window) {
    const detector = new BarcodeDetector({ formats: ["qr_code"] });
    return async (video) => (await detector.detect(video))[0]?.rawValue;
  }
  const { decodeQR } = await import("../../vendor/qr/decode.js");
  const canvas = document.createElement("canvas");
  const drawing = canvas.getContext("2d", { willReadFrequently: true });
  return async (video) => {
    const scale = Math.min(1, LOOKED_AT_WIDTH / video.videoWidth);
    [canvas.width, canvas.height] = [Math.round(video.videoWidth * scale), Math.round(video.videoHeight * scale)];
    drawing.drawImage(video, 0, 0, canvas.width, canvas.height);
    return decodeQR(drawing.getImageData(0, 0, canvas.width, canvas.height));
  };
}

function look(page, video, read, check) {
  let last = { code: null, at: 0 };
  let isBusy = false;
  const timer = setInterval(async () => {
    if (isBusy) return;
    isBusy = true;
    // Most frames contain no code.
    const code = await read(video).catch(() => null);
    isBusy = false;
    const isNew = code && (code !== last.code || SAME_AGAIN_MS < performance.now() - last.at);
    if (!isNew) return;
    last = { code, at: performance.now() };
    check(code);
  }, LOOK_EVERY_MS);
  page.signal.addEventListener("abort", () => clearInterval(timer));
}

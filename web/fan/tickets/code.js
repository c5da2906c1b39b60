// The ticket's QR code, inline in the page.

import { call } from "../../shared/app/api.js";
import { el } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";

/** Draws a picture that was loaded before. */
export function drawCode(ticket, box, text) {
  const drawing = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (drawing.localName !== "svg") throw new Error("the ticket code is not an image");
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", t("codeFor", t("seatName", ticket.seatNumber)));
  box.replaceChildren(document.importNode(drawing, true));
}

/** An <img> could not send the login, and our content policy forbids blob URLs. */
export async function showCode(page, ticket, box) {
  try {
    const text = await call("GET", `/api/tickets/${ticket.id}/qr.svg`, { signal: page.signal });
    drawCode(ticket, box, text);
  } catch (error) {
    if (error.name !== "AbortError") box.replaceChildren(el("p", {}, t("codeMissing")));
  }
}

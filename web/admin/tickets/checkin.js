// Check-in: a scanner types the code, or the camera reads it. Each ticket is admitted once.

import { call } from "../../shared/app/api.js";
import { announce, el } from "../../shared/ui/dom.js";
import { clockTime, count } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { camera } from "./camera.js";
import { card, heading } from "../form.js";

export function checkIn(page) {
  const input = el("input", { type: "text", autocomplete: "off", spellcheck: "false", "aria-label": t("code"), class: "scan" });
  const result = el("div", { class: "gate", role: "status", "aria-live": "assertive" }, t("gateReady"));
  const log = el("ul", { class: "log num" }, el("li", { class: "quiet" }, t("gateLogNone")));
  const passed = el("b", { class: "num" }, "0");
  let n = 0;

  async function check(code) {
    if (!code) return;
    try {
      const ticket = await call("POST", "/api/admin/checkin", { body: { code } });
      n += 1;
      passed.textContent = count(n);
      say("ok", t("gateYes"), `${ticket.grade} · ${ticket.seatNumber}`);
    } catch (error) {
      say("no", t("gateNo"), error.message);
    }
  }

  function say(kind, title, words) {
    result.className = `gate ${kind}`;
    result.replaceChildren(el("b", {}, title), el("span", {}, words));
    announce(`${title} ${words}`);
    const time = clockTime(Date.now()).slice(0, 8);
    log.querySelector("li.quiet")?.remove();
    log.prepend(el("li", {}, el("time", {}, time), el("span", {}, `${title} · ${words}`)));
    while (20 < log.children.length) log.lastElementChild.remove();
  }

  const form = el("form", { class: "row" }, input, el("button", { class: "btn brand" }, t("checkCode")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    check(input.value.trim());
    input.value = "";
    input.focus();
  });
  page.main.replaceChildren(
    heading(t("navCheckIn"), t("gateWords")),
    el("div", { class: "two wide" },
      el("div", { class: "stack" },
        card(t("scanner"), [t("gatePassed"), " ", passed], el("div", { class: "pad stack" }, form, result)),
        camera(page, check)),
      card(t("gateLog"), null, log)));
  input.focus();
}

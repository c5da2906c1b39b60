// The admission rate, and the message to waiting fans. Every change needs a confirmation and is
// audited.

import { call } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { announce, el } from "../../shared/ui/dom.js";
import { count } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { area, card } from "../form.js";

export function controls(scheduleId, first) {
  let settings = first;
  const rate = slider({ name: "admitPerSecond", label: t("rate"), unit: "perSecond", max: () => Math.max(50, settings.admitPerSecond * 2) });
  const cap = slider({ name: "maxActive", label: t("cap"), unit: "people", max: () => Math.max(10_000, settings.maxActive * 2) });
  const pause = el("button", { class: "btn stop", type: "button" });
  const drain = el("button", { class: "btn", type: "button" }, t("drain"));
  const notice = el("button", { class: "btn", type: "button" }, t("sendNotice"));
  const shown = el("p", { class: "note", hidden: true });

  async function change(next, question) {
    const done = await ask({
      ...question,
      act: async (form) => {
        const body = { ...settings, ...(typeof next === "function" ? next(form) : next) };
        take({ settings: await call("PUT", `/api/admin/schedules/${scheduleId}/queue`, { body }) });
        announce(t("changed"));
      },
    });
    if (!done) [rate, cap].forEach((it) => it.show(settings));
  }

  for (const it of [rate, cap]) {
    it.onChange((value) => {
      if (value === settings[it.name]) return;
      const words = t("changeTo", it.label, it.say(settings[it.name]), it.say(value));
      change({ [it.name]: value }, { title: t("changeSure"), content: el("p", {}, words), yes: t("change") });
    });
  }
  const modeQuestion = (mode) => ({ title: t(`mode${mode}Sure`), content: el("p", {}, t(`mode${mode}Words`)), yes: t(`mode${mode}Yes`), isDanger: mode !== "AUTO" });
  pause.addEventListener("click", () => {
    const mode = settings.mode === "AUTO" ? "PAUSED" : "AUTO";
    change({ mode }, modeQuestion(mode));
  });
  drain.addEventListener("click", () => change({ mode: "DRAINING" }, modeQuestion("DRAINING")));
  notice.addEventListener("click", () => change(
    (form) => ({ message: form.get("message") || null, messageEn: form.get("messageEn") || null }),
    {
      title: t("noticeTitle"),
      content: el("div", { class: "stack" },
        area({ label: t("noticeKo"), name: "message", maxlength: 200, value: settings.message }),
        area({ label: t("noticeEn"), name: "messageEn", maxlength: 200, value: settings.messageEn })),
      yes: t("noticeSend"),
    }));

  function take(view) {
    settings = view.settings;
    [rate, cap].forEach((it) => it.show(settings));
    pause.textContent = settings.mode === "AUTO" ? t("pause") : t("resume");
    pause.className = settings.mode === "AUTO" ? "btn stop" : "btn brand";
    drain.hidden = settings.mode !== "AUTO";
    shown.hidden = !settings.message;
    shown.textContent = settings.message ?? "";
  }

  const element = card(t("admission"), t("audited"),
    el("div", { class: "controls" }, rate.element, cap.element, shown, el("div", { class: "row" }, pause, drain, notice)));
  return { element, take };
}

/**
 * A slider with its value; it follows the server except while it is dragged. Arrow keys only move it:
 * the button beside it, or Enter, asks for the confirmation.
 */
function slider({ name, label, unit, max }) {
  const input = el("input", { type: "range", min: 0, max: 100, "aria-label": label });
  const output = el("output", { class: "num" });
  const say = (value) => t(unit, count(value));
  const apply = el("button", { class: "btn small", type: "button", hidden: true, "aria-label": `${label} ${t("change")}` }, t("change"));
  let [isHeld, isDragged] = [false, false];
  let act = () => {};
  input.addEventListener("pointerdown", () => ([isHeld, isDragged] = [true, true]));
  input.addEventListener("pointerup", () => (isHeld = false));
  input.addEventListener("input", () => (output.textContent = say(Number(input.value))));
  input.addEventListener("change", () => {
    if (isDragged) return commit();
    isHeld = true;
    apply.hidden = false;
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || apply.hidden) return;
    // The same key would press the first button of the dialog.
    event.preventDefault();
    commit();
  });
  apply.addEventListener("click", commit);
  function commit() {
    [isHeld, isDragged, apply.hidden] = [false, false, true];
    act(Number(input.value));
  }
  return {
    name,
    label,
    say,
    element: el("div", { class: "slider" }, el("span", { "aria-hidden": "true" }, label), input, output, apply),
    onChange: (next) => (act = next),
    show(settings) {
      if (isHeld) return;
      input.max = max();
      input.value = settings[name];
      output.textContent = say(settings[name]);
    },
  };
}

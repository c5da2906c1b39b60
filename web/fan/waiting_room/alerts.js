// Alerts when it is the fan's turn: a sound, the tab's title, a notification.

import { el } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";

const CHOICES = ["sound", "title", "notification"];
const KEPT = "podo.alerts";
const ON_AT_FIRST = { sound: true, title: true, notification: false };

export function alertSwitches() {
  const chosen = { ...ON_AT_FIRST, ...JSON.parse(localStorage.getItem(KEPT) ?? "{}") };
  const isOn = (name) => chosen[name] === true;
  const rows = CHOICES.filter((name) => name !== "notification" || "Notification" in window).map((name) => {
    const input = el("input", { type: "checkbox", role: "switch", checked: isOn(name) });
    input.addEventListener("change", async () => {
      chosen[name] = input.checked && (name !== "notification" || (await mayNotify()));
      input.checked = chosen[name];
      localStorage.setItem(KEPT, JSON.stringify(chosen));
      // Browsers allow sound only after a user gesture; this is one.
      if (name === "sound" && chosen.sound) chime(0.05);
    });
    return el("label", { class: "switch" }, el("span", {}, t(`alert${name}`)), input);
  });
  const element = el("section", { class: "card pad" }, el("h2", {}, t("alerts")), rows);
  return {
    element,
    isOn,
    ring() {
      if (isOn("sound")) chime(0.3);
      const isSeen = document.visibilityState === "visible";
      if (isOn("notification") && !isSeen && Notification.permission === "granted") new Notification(t("yourTurn"));
    },
  };
}

async function mayNotify() {
  return (await Notification.requestPermission().catch(() => "denied")) === "granted";
}

/** Three rising notes, synthesized: no file to load when it matters. */
function chime(volume) {
  const context = new AudioContext();
  [523.25, 659.25, 783.99].forEach((pitch, i) => {
    const [tone, gain] = [context.createOscillator(), context.createGain()];
    const at = context.currentTime + i * 0.16;
    tone.frequency.value = pitch;
    gain.gain.setValueAtTime(volume, at);
    gain.gain.exponentialRampToValueAtTime(0.001, at + 0.5);
    tone.connect(gain).connect(context.destination);
    tone.start(at);
    tone.stop(at + 0.5);
  });
  setTimeout(() => context.close(), 1_500);
}

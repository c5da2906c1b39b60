// What the scan page shows: the verdict, the state of the line and the list, counts, recent scans.

import { announce, el, problemBox } from "../../shared/ui/dom.js";
import { clockTime, count } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { camera } from "./camera.js";
import { search } from "./search.js";

const LOG_MAX = 30;

/** A list that is older than this is shown as old. */
const LIST_OLD_MS = 120_000;

export function draw(page, { show, gate, scheduleId, check, undo, logIn }) {
  const verdict = el("div", { class: "verdict", role: "status", "aria-live": "assertive" }, el("b", {}, t("ready")));
  const log = el("ul", { class: "log num" });
  const undoButton = el("button", { class: "btn", type: "button", disabled: true, onclick: undo }, t("undo"));
  const [counted, line, list] = ["num", "quiet", "quiet"].map((name) => el("span", { class: name }));
  const problem = problemBox();
  const doubles = problemBox();
  const moved = problemBox();
  const loggedOut = el("p", { class: "note warn row wrap", hidden: true }, el("span", {}, t("loggedOut")),
    el("button", { class: "btn small", type: "button", onclick: logIn }, t("login")));
  const counts = el("div", { class: "stack pad" });
  const form = scanForm(check);
  page.main.className = "gatepage";
  page.main.replaceChildren(
    el("h1", { class: "sr" }, `${t("gate")} ${gate}`),
    verdict,
    el("p", { class: "row wrap" }, counted, line, list),
    loggedOut, doubles.element, moved.element, problem.element,
    camera(page, check),
    form.element,
    el("div", { class: "row" }, undoButton, el("a", { class: "btn", href: "#/" }, t("otherGate"))),
    el("details", { class: "card" }, el("summary", { class: "bar" }, t("counts")), counts),
    search({ scheduleId }),
    el("section", { class: "card" }, el("h2", { class: "bar" }, t("log")), log));
  // A keyboard scanner types into it.
  form.focus();
  let latest = null;
  const showShow = () => {
    document.getElementById("where").textContent = `${show()?.eventTitle ?? ""} · ${gate}`;
  };
  showShow();
  return {
    problem,
    showShow,
    say: (kind, title, words) => say({ verdict, log }, kind, title, words),
    mayUndo: (isPossible) => (undoButton.disabled = !isPossible),
    showCounts: (found) => showCounts({ counted, counts }, (latest = found), gate),
    // Until the next counts arrive.
    countOne: (ticket) => latest && showCounts({ counted, counts }, (latest = withOne(latest, ticket, gate)), gate),
    showLine: (n) => (line.textContent = n === null ? t("online") : t("offline", count(n))),
    showProgress: (done, total) => (list.textContent = t("listLoads", count(done), count(total))),
    showList: (known, n) => (list.textContent = listWords(known, n)),
    showLoggedOut: (isOut) => (loggedOut.hidden = !isOut),
    showMoved: (found) => {
      if (found.length) moved.show(t("movedSeats", found.map(({ from, to }) => `${from} → ${to}`).join(", ")));
    },
    showDoubles: (found) => {
      if (found.length) doubles.show(t("doubles", found.length, [...new Set(found.map((it) => it.usedGate))].join(", ")));
    },
  };
}

function listWords(known, n) {
  if (!known) return t("listNone");
  const isOld = LIST_OLD_MS < Date.now() - known.currentAt;
  return isOld ? t("listOld", count(n), clockTime(known.currentAt).slice(0, 5)) : t("listHas", count(n));
}

function scanForm(check) {
  const input = el("input", { class: "scan", autocomplete: "off", spellcheck: "false", inputmode: "none", "aria-label": t("code") });
  const element = el("form", { class: "row" }, input, el("button", { class: "btn" }, t("check")));
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    const code = input.value.trim();
    input.value = "";
    if (code) check(code);
  });
  return { element, focus: () => input.focus({ preventScroll: true }) };
}

function showCounts({ counted, counts }, found, gate) {
  const here = found.gates.find((it) => it.gate === gate);
  counted.textContent = t("admitted", count(found.admitted), count(found.tickets), count(here ? here.admitted - here.undone : 0));
  const gates = found.gates.map((it) => [it.gate, count(it.admitted - it.undone), it.doubles ? t("doubleCount", count(it.doubles)) : ""]);
  const sections = found.sections.map((it) => [it.section, t("ofAll", count(it.admitted), count(it.tickets)), ""]);
  counts.replaceChildren(...[[t("byGate"), gates], [t("bySection"), sections]]
    .filter(([, rows]) => rows.length)
    .map(([title, rows]) => table(title, rows)));
}

/** The counts with one more guest of this gate. */
function withOne(found, { section }, gate) {
  const gates = found.gates.some((it) => it.gate === gate) ? found.gates : [...found.gates, { gate, admitted: 0, undone: 0, doubles: 0 }];
  const more = (isIt) => (it) => (isIt(it) ? { ...it, admitted: it.admitted + 1 } : it);
  return {
    ...found,
    admitted: found.admitted + 1,
    gates: gates.map(more((it) => it.gate === gate)),
    sections: found.sections.map(more((it) => it.section === section)),
  };
}

function table(title, rows) {
  return el("table", { class: "counts num" }, el("caption", {}, title), el("tbody", {}, rows.map(([name, ...cells]) =>
    el("tr", {}, el("th", { scope: "row" }, name), cells.map((cell) => el("td", {}, cell))))));
}

function say({ verdict, log }, kind, title, words) {
  verdict.className = `verdict ${kind}`;
  verdict.replaceChildren(el("b", {}, title), el("span", {}, words));
  announce(`${title} ${words}`);
  navigator.vibrate?.({ ok: 80, proof: [80, 60, 80] }[kind] ?? [120, 80, 120]);
  beep({ ok: 880, proof: 660 }[kind] ?? 220);
  log.prepend(el("li", {}, el("time", {}, clockTime(Date.now()).slice(0, 8)), el("span", {}, `${title} · ${words}`)));
  while (LOG_MAX < log.children.length) log.lastElementChild.remove();
}

let sound = null;

function beep(hertz) {
  if (!("AudioContext" in window) || !navigator.userActivation?.hasBeenActive) return;
  sound ??= new AudioContext();
  const [tone, volume] = [sound.createOscillator(), sound.createGain()];
  tone.frequency.value = hertz;
  volume.gain.value = 0.1;
  tone.connect(volume).connect(sound.destination);
  tone.start();
  tone.stop(sound.currentTime + 0.15);
}

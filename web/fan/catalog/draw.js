// A draw sale: apply, change or withdraw, the result, the offer, and the proof of the draw.

import { call, get, remove } from "../../shared/app/api.js";
import { every, serverNow } from "../../shared/app/clock.js";
import { user } from "../../shared/app/session.js";
import { announce, el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { count, moment } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";

/** How often the page asks for the result while a draw or an offer is expected. */
const REFRESH_MS = 5_000;

/** States in which something will happen without the fan. */
const PENDING = ["APPLIED", "DRAWN", "OFFERED"];

/** The draw of a phase; nothing until an organiser has set it up. */
export function drawBox(page, phase) {
  const box = el("div", { class: "draw stack tight" });
  let shown = "";
  const draw = async () => {
    const path = `/api/booking/draws/${phase.id}`;
    const terms = await unlessMissing(get(path, { signal: page.signal, isPublic: true }));
    if (!terms) return;
    const mine = user() ? await unlessMissing(get(applicationPath(phase), { signal: page.signal })) : null;
    const moments = [serverNow() < Date.parse(terms.applyFrom), serverNow() < Date.parse(terms.applyUntil)];
    const next = JSON.stringify([terms, mine, moments]);
    // A form that is being filled in stays as it is.
    if (next === shown || box.contains(document.activeElement)) return;
    shown = next;
    box.replaceChildren(...parts(page, { phase, terms, mine, again: () => { shown = ""; return draw(); } }));
    box.dataset.pending = String(!mine || PENDING.includes(mine.state));
  };
  draw().catch(() => null);
  every(REFRESH_MS, page.signal, () => (box.dataset.pending === "true" ? draw().catch(() => null) : null));
  return box;
}

const applicationPath = (phase) => `/api/booking/phases/${phase.id}/application`;

const unlessMissing = (answer) => answer.catch((error) => (error.status === 404 ? null : Promise.reject(error)));

function parts(page, { phase, terms, mine, again }) {
  const isOpen = Date.parse(terms.applyFrom) <= serverNow() && serverNow() < Date.parse(terms.applyUntil);
  return [
    el("p", { class: "quiet num" }, t("drawWindow", moment(terms.applyFrom), moment(terms.applyUntil))),
    mine ? status(phase, mine, { isOpen, again }) : null,
    isOpen ? form(page, { phase, terms, mine, again }) : null,
    proof(phase, terms),
  ].filter(Boolean);
}

/** What became of the application. */
function status(phase, mine, { isOpen, again }) {
  const words = mine.state === "DRAWN" ? t(mine.wins ? "drawWon" : "drawNotYet") : t(`draw${mine.state}`);
  const pay = mine.state === "OFFERED" && mine.offer?.status === "HELD"
    ? el("a", { class: "btn primary small", href: `#/checkout/${mine.offer.id}` }, icon("ticket"), t("drawPay", moment(mine.offer.holdExpiresAt)))
    : null;
  return el("div", { class: "stack tight" },
    el("p", { class: "note ok num", role: "status" }, words, " · ",
      [mine.grade, t("seatCount", mine.count), t("drawNumber", mine.index), mine.place ? t("drawPlace", count(mine.place)) : null].filter(Boolean).join(" · ")),
    pay,
    (isOpen && mine.state === "APPLIED") || mine.state === "DRAWN" ? withdrawButton(phase, again) : null);
}

function withdrawButton(phase, again) {
  const problem = problemBox();
  const button = el("button", { class: "link", type: "button" }, t("drawWithdraw"));
  button.addEventListener("click", () => whileBusy(button, async () => {
    problem.show("");
    try {
      await remove(applicationPath(phase));
      announce(t("drawWITHDRAWN"));
      button.blur();
      await again();
    } catch (error) {
      problem.show(error.message);
    }
  }));
  return el("div", {}, button, problem.element);
}

function form(page, { phase, terms, mine, again }) {
  const problem = problemBox();
  const grade = el("select", { name: "grade" }, Object.entries(terms.quantities).map(([name, seats]) =>
    el("option", { value: name, selected: mine?.grade === name }, t("drawGrade", name, count(seats)))));
  const numbers = Array.from({ length: terms.seatsMax }, (_, index) => index + 1);
  const amount = el("select", { name: "count" }, numbers.map((n) => el("option", { value: n, selected: mine?.count === n }, t("seatCount", n))));
  const button = el("button", { class: "btn small" }, t(mine?.state === "APPLIED" ? "drawChange" : "drawApply"));
  const element = el("form", { class: "row", "aria-label": t("drawApply") },
    el("label", { class: "field" }, t("grade"), grade),
    el("label", { class: "field" }, t("howMany"), amount),
    button);
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!user()) return page.login();
    whileBusy(button, async () => {
      problem.show("");
      try {
        await call("PUT", applicationPath(phase), { body: { grade: grade.value, count: Number(amount.value) } });
        announce(t("drawAPPLIED"));
        button.blur();
        await again();
      } catch (error) {
        problem.show(error.message);
      }
    });
  });
  return el("div", { class: "stack tight" }, element, problem.element);
}

/** What anybody needs to check the draw: the hash before it, seed and list after it. */
function proof(phase, terms) {
  const line = (label, value) => el("p", { class: "quiet" }, label, " ", el("code", {}, value));
  return el("details", { class: "more" },
    el("summary", {}, t("drawProof")),
    el("p", { class: "quiet" }, t("drawProofWords")),
    line(t("drawHash"), terms.seedHash),
    terms.seed ? line(t("drawSeed"), terms.seed) : null,
    terms.listHash ? line(t("drawListHash"), terms.listHash) : null,
    terms.seed ? el("a", { href: `/api/booking/draws/${phase.id}/applications`, download: "applications.csv" }, t("drawList", count(terms.drawn))) : null);
}

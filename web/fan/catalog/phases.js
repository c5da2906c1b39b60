// The sale phases of a date: when each is open, for whom, and what the fan still has to prove.
// Proving it here, before a phase opens, means that fans type nothing at the opening.

import { call, get } from "../../shared/app/api.js";
import { serverNow } from "../../shared/app/clock.js";
import { announce, el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { moment } from "../../shared/ui/format.js";
import { localText, t } from "../../shared/ui/i18n.js";
import { user } from "../../shared/app/session.js";
import { drawBox } from "./draw.js";

/** The running phase or the next one; undefined after the last, or without phases. */
export const currentPhase = (schedule) => schedule.phases?.find((phase) => serverNow() < Date.parse(phase.endsAt));

const nameOf = (phase) => localText(phase, "name");

/** The list of a date's phases; nothing for a date without them. */
export function phaseList(page, schedule) {
  if (!schedule.phases?.length) return null;
  const box = el("ol", { class: "phases stack tight", "aria-label": t("phases") });
  refresh(page, schedule, box).catch(() => null);
  return box;
}

async function refresh(page, schedule, box) {
  const draw = (phases) => box.replaceChildren(...phases.map((phase) => phaseItem(page, schedule, { phase, again })));
  const again = () => refresh(page, schedule, box);
  if (!user()) return draw(schedule.phases);
  draw((await get(`/api/booking/phases?scheduleId=${schedule.id}`, { signal: page.signal })).items);
}

function phaseItem(page, schedule, { phase, again }) {
  const limits = [phase.grades?.join(", "), phase.sections && t("phaseSections", phase.sections.join(", "))].filter(Boolean);
  return el("li", { class: "stack tight" },
    el("div", { class: "row apart" },
      el("b", {}, nameOf(phase)),
      badgeOf(phase)),
    el("p", { class: "quiet num" }, moment(phase.startsAt), " – ", moment(phase.endsAt)),
    el("p", { class: "quiet" }, [t(`audience${phase.audience}`), t("perPerson", phase.seatsPerPerson), ...limits].join(" · ")),
    phase.audience === "DRAWN" ? drawBox(page, phase) : phase.status === "ENDED" ? null : proofOf(page, phase, again));
}

function badgeOf(phase) {
  if (phase.status === "ENDED") return el("span", { class: "badge" }, t("saleOver"));
  if (phase.eligible && !["EVERYBODY", "DRAWN"].includes(phase.audience)) return el("span", { class: "badge ok" }, t("phaseVerified"));
  return phase.status === "ONGOING" ? el("span", { class: "badge ok" }, t("phaseOpen")) : el("span", { class: "badge warn" }, t("phaseSoon"));
}

/** What is missing, and the form that supplies it. */
function proofOf(page, phase, again) {
  if (phase.audience === "EVERYBODY" || phase.eligible) return null;
  if (!user()) {
    return el("button", { class: "btn small", type: "button", onclick: () => page.login() }, icon("shield"), t("phaseLogIn"));
  }
  if (phase.missing === "IDENTITY") {
    const next = encodeURIComponent(location.hash);
    return el("a", { class: "btn small", href: `#/identity?next=${next}` }, icon("shield"), t("phaseIdentity"));
  }
  return phase.missing === "CODE" ? codeForm(phase, again) : memberForm(phase, again);
}

const input = (name, label, autocomplete) => el("label", { class: "field" }, label,
  el("input", { type: "text", name, required: true, maxlength: 100, autocomplete }));

function codeForm(phase, again) {
  return proofForm(phase, { inputs: input("code", t("phaseCode"), "off"), read: Object.fromEntries, again });
}

/** A member is found by the name and one of these. */
const IDENTIFIERS = ["membershipNumber", "email", "phone"];

function memberForm(phase, again) {
  const kinds = IDENTIFIERS.map((kind) => el("option", { value: kind }, t(`phase${kind}`)));
  const inputs = [
    el("label", { class: "field" }, t("phaseKind"), el("select", { name: "kind" }, kinds)),
    input("value", t("phaseValue"), "off"),
    input("name", t("phaseName"), "name"),
  ];
  const read = (form) => ({ [form.get("kind")]: form.get("value"), name: form.get("name") });
  return [proofForm(phase, { inputs, read, again }), el("p", { class: "quiet" }, t("phaseMemberWords"))];
}

function proofForm(phase, { inputs, read, again }) {
  const problem = problemBox();
  const button = el("button", { class: "btn small" }, t("phaseVerify"));
  const form = el("form", { class: "row", "aria-label": `${nameOf(phase)}: ${t("phaseVerify")}` }, inputs, button);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(button, async () => {
      problem.show("");
      try {
        await call("POST", `/api/booking/phases/${phase.id}/verify`, { body: read(new FormData(form)) });
        announce(t("phaseVerified"));
        await again();
      } catch (error) {
        problem.show(error.message);
      }
    });
  });
  return el("div", { class: "stack tight" }, form, problem.element);
}

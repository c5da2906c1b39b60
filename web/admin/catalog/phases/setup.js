// The optional steps after a concert was created: how it is sold, and what it costs whom.

import { call, get } from "../../../shared/app/api.js";
import { el, problemBox, whileBusy } from "../../../shared/ui/dom.js";
import { moment } from "../../../shared/ui/format.js";
import { t } from "../../../shared/ui/i18n.js";
import { card, heading } from "../../form.js";
import { optionsForm, promotionForm, promotionTable } from "../pricing.js";
import { phasesForm, peopleCards, scheduleOf } from "./phases.js";

export const SETUP_STEPS = ["stepSold", "stepPrices"];
const DAY_MS = 86_400_000;

/** The page of both steps; `open` in its address says that the concert is published at the end. */
export async function setup(page) {
  const index = page.query.get("step") === "prices" ? 1 : 0;
  const schedule = await scheduleOf(page);
  const parts = await [soldParts, priceParts][index](page, schedule);
  page.main.className = "wide";
  page.main.replaceChildren(
    heading(t("setupOf", schedule.eventTitle), moment(schedule.startsAt)),
    el("ol", { class: "steps" }, SETUP_STEPS.map((step, i) => el("li", { "aria-current": i === index ? "step" : null }, t(step)))),
    el("div", { class: "stack" },
      el("p", { class: "quiet" }, t("setupWords")),
      parts,
      endOf(page, schedule, index)));
}

async function soldParts(page, schedule) {
  const path = `/api/admin/schedules/${page.id}/phases`;
  const { items } = await get(path, { signal: page.signal });
  const form = phasesForm(page, { path, schedule, items });
  const presets = Object.entries(PRESETS).map(([name, phases]) => el("button", {
    class: "btn", type: "button", onclick: () => form.replace(phases(schedule)),
  }, t(`preset${name}`)));
  return [
    card(t("stepSold"), null,
      el("div", { class: "pad row", role: "group", "aria-label": t("presets") }, presets),
      form.element),
    ...peopleCards(page, schedule, items),
  ];
}

async function priceParts(page, schedule) {
  const path = `/api/admin/schedules/${page.id}`;
  const [options, { items }] = await Promise.all([
    get(`${path}/price-options`, { signal: page.signal }),
    get(`${path}/promotions`, { signal: page.signal }),
  ]);
  return [
    card(t("pricingOptions"), null, optionsForm(page, { path, schedule, options })),
    card(t("promotions"), null, promotionTable(page, path, items), promotionForm(page, { path, schedule })),
  ];
}

/** Nothing that was typed but not saved is lost by going on. */
function endOf(page, schedule, index) {
  const problem = problemBox();
  const address = (step) => `#/schedules/${page.id}/setup?${new URLSearchParams({ ...Object.fromEntries(page.query), step })}`;
  let isChanged = false;
  page.main.addEventListener("input", () => (isChanged = true), { signal: page.signal });
  page.main.addEventListener("preset", () => (isChanged = true), { signal: page.signal });
  const button = el("button", { class: "btn primary", type: "button" }, t(index ? "setupDone" : "next"));
  button.addEventListener("click", () => whileBusy(button, async () => {
    if (isChanged) {
      isChanged = false;
      return problem.show(t("setupUnsaved"));
    }
    if (!index) return page.go(address("prices"));
    try {
      if (page.query.get("open")) await call("POST", `/api/admin/events/${schedule.eventId}/open`, { body: {} });
      page.go(`#/events/${schedule.eventId}`);
    } catch (error) {
      problem.show(error.message);
    }
  }));
  return el("div", { class: "stack" }, problem.element, el("div", { class: "row apart" },
    index ? el("a", { class: "btn", href: address("phases") }, t("back")) : el("span", {}),
    button));
}

const PRESALE = { name: "팬클럽 선예매", nameEn: "Fan club presale", audience: "MEMBERS" };
const DRAW = { name: "추첨 판매", nameEn: "Sale by draw", audience: "DRAWN" };
const GENERAL = { name: "일반예매", nameEn: "General sale", audience: "EVERYBODY" };

/** The phases of each preset. Without phases the whole sale is for everybody. */
const PRESETS = {
  General: () => [],
  Presale: (schedule) => twoPhases(schedule, PRESALE),
  Draw: (schedule) => twoPhases(schedule, DRAW),
};

/** The first phase takes a day, or half of a sale that is shorter than two. */
function twoPhases({ saleStartsAt, saleEndsAt, seatsPerPerson }, first) {
  const [from, to] = [saleStartsAt, saleEndsAt].map((time) => Date.parse(time));
  const middle = new Date(from + Math.min(DAY_MS, Math.floor((to - from) / 2 / 60_000) * 60_000)).toISOString();
  return [
    { ...first, seatsPerPerson, startsAt: saleStartsAt, endsAt: middle },
    { ...GENERAL, seatsPerPerson, startsAt: middle, endsAt: saleEndsAt },
  ];
}

// Creates a concert, from scratch or as a copy: what, where, when and prices, then a review.

import { call, get } from "../../shared/app/api.js";
import { el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { count, moment, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { area, choice, field, heading, tick } from "../form.js";
import { fromLocal, toLocal } from "./event.js";

const STEPS = ["stepWhat", "stepWhere", "stepWhen", "stepCheck"];
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PRICE = 100_000;

export async function eventWizard(page) {
  const from = page.query.get("from");
  const [venues, original] = await Promise.all([
    get("/api/admin/venues?limit=100", { signal: page.signal }),
    from ? get(`/api/admin/events/${from}`, { signal: page.signal }) : null,
  ]);
  const draft = draftOf(venues.items, original);
  page.main.className = "narrow roomy";
  const body = el("div", {});
  const steps = el("ol", { class: "steps" });
  page.main.replaceChildren(heading(original ? t("cloneOf", original.title) : t("newEvent")), steps, body);
  const go = async (index) => {
    steps.replaceChildren(...STEPS.map((step, i) => el("li", { "aria-current": i === index ? "step" : null }, t(step))));
    const views = [whatStep, whereStep, whenStep, checkStep];
    const view = await views[index]({ page, draft, venues: venues.items });
    body.replaceChildren(stepForm({ ...view, index, go }));
    body.querySelector("input, select, textarea, button")?.focus();
  };
  await go(0);
}

function draftOf(venues, original) {
  const opens = Math.ceil((Date.now() + DAY_MS) / HOUR_MS) * HOUR_MS;
  const last = original?.schedules.at(-1);
  const venue = venues.find((it) => it.name === original?.venueName) ?? venues[0];
  return {
    title: original ? t("copyTitle", original.title) : "",
    artist: original?.artist ?? "",
    description: original?.description ?? "",
    transferable: original?.transferable ?? true,
    venueId: venue?.id,
    hallId: (venue?.halls.find((it) => it.name === original?.hallName) ?? venue?.halls[0])?.id,
    startsAt: new Date(opens + 30 * DAY_MS).toISOString(),
    endsAt: new Date(opens + 30 * DAY_MS + 3 * HOUR_MS).toISOString(),
    saleStartsAt: new Date(opens).toISOString(),
    saleEndsAt: new Date(opens + 29 * DAY_MS).toISOString(),
    prices: last?.prices ?? {},
    seatsPerPerson: last?.seatsPerPerson ?? 4,
    opensNow: true,
  };
}

/** Every step is a form: `content`, and `take(form)`, which throws to reject the input. */
function stepForm({ content, take, index, go, isLast }) {
  const problem = problemBox();
  const next = el("button", { class: "btn primary" }, isLast ? t("createIt") : t("next"));
  const back = el("button", { class: "btn", type: "button", onclick: () => go(index - 1) }, t("back"));
  const form = el("form", { class: "card pad stack" }, content, problem.element,
    el("div", { class: "row apart" }, index ? back : el("span", {}), next));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(next, async () => {
      problem.show("");
      try {
        await take(new FormData(form));
        if (!isLast) await go(index + 1);
      } catch (error) {
        problem.show(error.message);
      }
    });
  });
  return form;
}

function whatStep({ draft }) {
  return {
    content: [
      field({ label: t("coltitle"), name: "title", value: draft.title, required: true, maxlength: 200 }),
      field({ label: t("colartist"), name: "artist", value: draft.artist, required: true, maxlength: 200 }),
      area({ label: t("description"), name: "description", value: draft.description, maxlength: 5000 }),
      tick({ label: t("transferable"), name: "transferable", checked: draft.transferable }),
    ],
    take: (form) => void Object.assign(draft, Object.fromEntries(form), { transferable: form.has("transferable") }),
  };
}

function whereStep({ draft, venues }) {
  const halls = venues.flatMap((venue) => venue.halls.map((hall) => [hall.id, t("hallOf", venue.name, hall.name, count(hall.capacity))]));
  return {
    content: halls.length
      ? [choice({ label: t("hall"), name: "hallId", options: halls, value: draft.hallId }),
        el("p", { class: "quiet" }, el("a", { href: "#/venues" }, t("otherHall")))]
      : [el("p", { class: "note warn" }, t("noHalls")), el("p", {}, el("a", { class: "btn", href: "#/venues" }, t("navVenues")))],
    take: (form) => {
      if (!halls.length) throw new Error(t("noHalls"));
      draft.hallId = form.get("hallId");
      draft.venueId = venues.find((venue) => venue.halls.some(({ id }) => id === draft.hallId)).id;
    },
  };
}

async function whenStep({ page, draft }) {
  const names = ["startsAt", "endsAt", "saleStartsAt", "saleEndsAt"];
  const grades = await gradesOf(page, draft.hallId);
  return {
    content: [
      el("div", { class: "two" }, names.map((name) =>
        field({ label: t(name), name, type: "datetime-local", value: toLocal(draft[name]), required: true }))),
      el("fieldset", { class: "stack" },
        el("legend", {}, t("colprices")),
        el("div", { class: "two" }, grades.map(({ grade, seats }) => field({
          label: `${grade} · ${t("seatCount", count(seats))}`,
          name: `price ${grade}`,
          type: "number",
          min: 1,
          max: 100_000_000,
          step: 1,
          value: draft.prices[grade] ?? PRICE,
          required: true,
        })))),
      field({ label: t("seatsPerPerson"), name: "seatsPerPerson", type: "number", min: 1, max: 4, value: draft.seatsPerPerson, required: true }),
    ],
    take: (form) => {
      names.forEach((name) => (draft[name] = fromLocal(form.get(name))));
      draft.prices = Object.fromEntries(grades.map(({ grade }) => [grade, Number(form.get(`price ${grade}`))]));
      draft.seatsPerPerson = Number(form.get("seatsPerPerson"));
    },
  };
}

/** The grades of a hall as the server counts them: a seat without a price cannot be sold. */
async function gradesOf({ signal }, hallId) {
  const seatTemplate = await get(`/api/admin/halls/${hallId}/template`, { signal });
  const preview = await call("POST", "/api/admin/layouts/preview", { body: { seatTemplate }, signal });
  return Object.entries(preview.grades).map(([grade, seats]) => ({ grade, seats }));
}

function checkStep({ page, draft }) {
  const lines = [
    [t("coltitle"), draft.title],
    [t("colartist"), draft.artist],
    [t("transfers"), t(draft.transferable ? "transfersOn" : "transfersOff")],
    [t("startsAt"), moment(draft.startsAt)],
    [t("saleStartsAt"), moment(draft.saleStartsAt)],
    [t("saleEndsAt"), moment(draft.saleEndsAt)],
    [t("colprices"), Object.entries(draft.prices).map(([grade, price]) => `${grade} ${won(price)}`).join(" · ")],
  ];
  return {
    isLast: true,
    content: [
      el("dl", { class: "pairs num" }, lines.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
      tick({ label: t("openAtOnce"), name: "opensNow", checked: draft.opensNow }),
    ],
    take: (form) => create(page, draft, form.has("opensNow")),
  };
}

/**
 * Makes the calls in order and remembers what they created, so that a retry continues from there.
 */
async function create(page, draft, opensNow) {
  const { title, artist, description, venueId, hallId, transferable } = draft;
  draft.made ??= (await call("POST", "/api/admin/events", { body: { title, artist, description, venueId, hallId, transferable } })).id;
  const { startsAt, endsAt, saleStartsAt, saleEndsAt, prices, seatsPerPerson } = draft;
  const body = { startsAt, endsAt, saleStartsAt, saleEndsAt, prices, seatsPerPerson };
  draft.scheduled ??= (await call("POST", `/api/admin/events/${draft.made}/schedules`, { body })).id;
  if (opensNow) await call("POST", `/api/admin/events/${draft.made}/open`, { body: {} });
  page.go(`#/events/${draft.made}`);
}

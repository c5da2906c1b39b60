// Creates a concert, from scratch or as a copy: what, where, when and prices, then a review. The
// sale itself can be set up in the steps that follow.

import { call, get } from "../../shared/app/api.js";
import { el, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { count, currencyName, instantIn, localIn, moment, usePlace, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { choice, field, heading, tick } from "../form.js";
import { keep, recall } from "../../shared/app/session.js";
import { readTerms, termFields } from "./dates.js";
import { eventFields, readEvent } from "./event.js";
import { generate, SHAPES } from "./hall/generate.js";
import { copySale } from "./phases/copy.js";

const STEPS = ["stepWhat", "stepWhere", "stepWhen", "stepCheck"];
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Where the venue is, shows begin at seven in the evening, and sales open at eight. */
const [SHOW_TIME, SALE_TIME] = ["19:00", "20:00"];
const HALL = { shape: "arena", blocks: 12, rows: 24, seats: 140, grades: "VIP, R, S, A" };

export async function eventWizard(page) {
  const from = page.query.get("from");
  const [venues, wallet, original] = await Promise.all([
    get("/api/admin/venues?limit=100", { signal: page.signal }),
    // The server's own currency is that of its wallets.
    get("/api/wallet", { signal: page.signal }).catch(() => null),
    from ? get(`/api/admin/events/${from}`, { signal: page.signal }) : null,
  ]);
  // What was typed survives a visit to the venues.
  const draft = (original ? null : recall("draft", "event")) ?? draftOf(venues.items, original, wallet?.currency);
  draft.hallId ??= venues.items.flatMap((venue) => venue.halls)[0]?.id;
  page.main.className = "narrow roomy";
  const body = el("div", {});
  const steps = el("ol", { class: "steps" });
  page.main.replaceChildren(heading(original ? t("cloneOf", original.title) : t("newEvent")), steps, body);
  const go = async (index) => {
    steps.replaceChildren(...STEPS.map((step, i) => el("li", { "aria-current": i === index ? "step" : null }, t(step))));
    usePlace({ currency: draft.event.currency, timeZone: venues.items.find(({ id }) => id === draft.venueId)?.timeZone });
    const views = [whatStep, whereStep, whenStep, checkStep];
    if (!original) keep("draft", "event", draft);
    const view = await views[index]({ page, draft, venues: venues.items });
    body.replaceChildren(stepForm({ ...view, index, go }));
    body.querySelector("input, select, textarea, button")?.focus();
  };
  await go(0);
}

/** The sale opens tomorrow evening, the show is a month later, where the venue is. */
function usualTimes(venue) {
  const inDays = (days, time) => Date.parse(instantIn(`${localIn(Date.now() + days * DAY_MS, venue?.timeZone).slice(0, 10)}T${time}`, venue?.timeZone));
  const [opens, starts] = [inDays(1, SALE_TIME), inDays(31, SHOW_TIME)];
  return {
    startsAt: new Date(starts).toISOString(),
    endsAt: new Date(starts + 3 * HOUR_MS).toISOString(),
    saleStartsAt: new Date(opens).toISOString(),
    saleEndsAt: new Date(starts - DAY_MS).toISOString(),
  };
}

function draftOf(venues, original, home) {
  const last = original?.schedules.at(-1);
  const venue = venues.find((it) => it.name === original?.venueName) ?? venues[0];
  const hall = venue?.halls.find((it) => it.name === original?.hallName);
  return {
    event: {
      title: original ? t("copyTitle", original.title) : "",
      artist: original?.artist ?? "",
      genre: original?.genre ?? "POP",
      minimumAge: original?.minimumAge ?? 0,
      description: original?.description ?? "",
      transferable: original?.transferable ?? true,
      vatExempt: original?.vatExempt ?? false,
      currency: original?.currency ?? home,
      paymentMethods: original?.paymentMethods ?? ["CARD", "WALLET"],
      depositDeadline: original?.depositDeadline ?? { days: 1 },
    },
    venueId: venue?.id,
    hallId: (hall ?? venue?.halls[0])?.id,
    ...usualTimes(venue),
    prices: last?.prices ?? {},
    seatsPerPerson: last?.seatsPerPerson ?? 4,
    seatsPerOrder: last?.seatsPerOrder ?? 4,
    opensNow: true,
    // The date whose phases, ticket types and fees a copy can take along: they name the grades and
    // sections of its hall.
    last,
    lastHallId: hall?.id,
    takesAlong: Boolean(last),
    setsUp: false,
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
    content: eventFields(draft.event),
    take: (form) => void (draft.event = readEvent(form)),
  };
}

function whereStep({ draft, venues }) {
  const halls = venues.flatMap((venue) => venue.halls.map((hall) => [hall.id, t("hallOf", venue.name, hall.name, count(hall.capacity))]));
  return {
    content: halls.length
      ? [choice({ label: t("hall"), name: "hallId", options: halls, value: draft.hallId }),
        el("p", { class: "quiet" }, el("a", { href: "#/venues" }, t("otherHall")))]
      : firstHall(),
    take: async (form) => {
      draft.hallId = halls.length ? form.get("hallId") : await createHall(form, venues);
      const venue = venues.find(({ halls: its }) => its.some(({ id }) => id === draft.hallId));
      draft.venueId = venue.id;
      // The first venue decides in which zone the usual times are.
      if (!halls.length) Object.assign(draft, usualTimes(venue));
    },
  };
}

/** Without a hall there is nothing to sell, so the first one is made here. */
function firstHall() {
  const number = (name, max) => field({ label: t(`gen${name}`), name, type: "number", min: 1, max, value: HALL[name], required: true });
  return [
    el("p", { class: "quiet" }, t("noHalls")),
    el("div", { class: "two" }, ["name", "address", "city"].map((name) => field({ label: name === "name" ? t("venueTitle") : t(`venue${name}`), name, required: true, maxlength: 200 })),
      field({ label: t("hallName"), name: "hall", required: true, maxlength: 200 })),
    choice({ label: t("genshape"), name: "shape", options: SHAPES.map((it) => [it, t(`shape${it}`)]), value: HALL.shape }),
    el("div", { class: "three" }, number("blocks", 40), number("rows", 200), number("seats", 600)),
    field({ label: t("gengrades"), name: "grades", value: HALL.grades, required: true }),
  ];
}

/** The server gives it the time zone. */
async function createVenue(body) {
  const { id } = await call("POST", "/api/admin/venues", { body });
  const { items } = await get("/api/admin/venues");
  return items.find((venue) => venue.id === id);
}

/** Remembers the venue, so that a second try after a refused plan doesn't create another one. */
async function createHall(form, venues) {
  const { name, address, city, hall, shape, grades, ...numbers } = Object.fromEntries(form);
  const made = venues.find((it) => it.name === name) ?? await createVenue({ name, address, city });
  if (!venues.includes(made)) venues.push(made);
  const asked = Object.fromEntries(Object.entries(numbers).map(([key, value]) => [key, Number(value)]));
  const seatTemplate = generate({ ...asked, shape, grades: grades.split(",").map((it) => it.trim()).filter(Boolean) });
  const { id, capacity } = await call("POST", `/api/admin/venues/${made.id}/halls`, { body: { name: hall, seatTemplate } });
  made.halls.push({ id, name: hall, capacity });
  return id;
}

async function whenStep({ page, draft }) {
  const grades = await gradesOf(page, draft.hallId);
  return {
    content: termFields(draft, grades),
    take: (form) => void Object.assign(draft, readTerms(form, grades)),
  };
}

/** The grades of a hall as the server counts them: a seat without a price cannot be sold. */
async function gradesOf({ signal }, hallId) {
  const seatTemplate = await get(`/api/admin/halls/${hallId}/template`, { signal });
  const preview = await call("POST", "/api/admin/layouts/preview", { body: { seatTemplate }, signal });
  // In drawing order, the most expensive first.
  const drawn = new Set(preview.layout.sections.flatMap(({ seats }) => seats.map(({ grade }) => grade)));
  return [...drawn].map((grade) => ({ grade, seats: preview.grades[grade] }));
}

function checkStep({ page, draft, venues }) {
  const venue = venues.find(({ id }) => id === draft.venueId);
  const hall = venue?.halls.find(({ id }) => id === draft.hallId);
  const lines = [
    [t("coltitle"), draft.event.title],
    [t("colartist"), draft.event.artist],
    [t("genre"), t(`genre${draft.event.genre}`)],
    [t("minimumAge"), String(draft.event.minimumAge)],
    [t("hall"), venue ? t("hallOf", venue.name, hall?.name ?? "", count(hall?.capacity ?? 0)) : "–"],
    [t("payMethods"), draft.event.paymentMethods.map((method) => t(`method${method}`)).join(" · ")],
    [t("currency"), currencyName(draft.event.currency)],
    [t("transfers"), t(draft.event.transferable ? "transfersOn" : "transfersOff")],
    [t("startsAt"), moment(draft.startsAt)],
    [t("saleStartsAt"), moment(draft.saleStartsAt)],
    [t("saleEndsAt"), moment(draft.saleEndsAt)],
    [t("colprices"), Object.entries(draft.prices).map(([grade, price]) => `${grade} ${won(price)}`).join(" · ")],
  ];
  return {
    isLast: true,
    content: [
      el("dl", { class: "pairs num" }, lines.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
      draft.last && draft.hallId === draft.lastHallId ? tick({ label: t("takeAlong"), name: "takesAlong", checked: draft.takesAlong }) : null,
      tick({ label: t("openAtOnce"), name: "opensNow", checked: draft.opensNow }),
      tick({ label: t("setupNext"), name: "setsUp", checked: draft.setsUp }),
    ],
    take: (form) => {
      for (const name of ["takesAlong", "opensNow", "setsUp"]) draft[name] = form.has(name);
      return create(page, draft);
    },
  };
}

/**
 * Makes the calls in order and remembers what they created, so that a retry continues from there.
 */
async function create(page, draft) {
  const { event, venueId, hallId, opensNow, setsUp } = draft;
  draft.made ??= (await call("POST", "/api/admin/events", { body: { ...event, venueId, hallId } })).id;
  const { startsAt, endsAt, saleStartsAt, saleEndsAt, prices, seatsPerPerson, seatsPerOrder } = draft;
  const body = { startsAt, endsAt, saleStartsAt, saleEndsAt, prices, seatsPerPerson, seatsPerOrder };
  draft.scheduled ??= (await call("POST", `/api/admin/events/${draft.made}/schedules`, { body })).id;
  if (draft.takesAlong && !draft.copied) {
    await copySale(draft.last, { ...body, id: draft.scheduled });
    draft.copied = true;
  }
  if (opensNow && !setsUp) await call("POST", `/api/admin/events/${draft.made}/open`, { body: {} });
  keep("draft", "event", null);
  const query = new URLSearchParams({ event: draft.made, ...(opensNow ? { open: "yes" } : {}) });
  page.go(setsUp ? `#/schedules/${draft.scheduled}/setup?${query}` : `#/events/${draft.made}`);
}

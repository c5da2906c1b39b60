// Before the first date: the steps to a first sale, which of them are done, and the way to the next.

import { get } from "../../shared/app/api.js";
import { el, icon } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { may } from "../../shared/app/session.js";

/** A step without its permission is done by a colleague, so it is shown without a link. */
export async function firstRun({ main, signal }) {
  const [venues, events, team] = await Promise.all([
    get("/api/admin/venues?limit=100", { signal }),
    get("/api/admin/events?limit=1", { signal }),
    may("MANAGE_TEAM") ? get("/api/admin/team", { signal }) : null,
  ]);
  const [event] = events.items;
  const hasHall = venues.items.some(({ halls }) => halls.length);
  const steps = [
    ["Hall", hasHall, hasHall || !venues.items.length ? "#/events/new" : "#/venues", "MANAGE_VENUES"],
    ["Concert", Boolean(event), "#/events/new", "MANAGE_EVENTS"],
    ["Date", false, event ? `#/events/${event.id}` : "#/events/new", "MANAGE_EVENTS"],
    ["Open", false, event ? `#/events/${event.id}` : "#/events/new", "MANAGE_EVENTS"],
    ["Rehearse", false, "#/simulation", "VIEW_OPERATIONS"],
    ["Team", 1 < (team?.members?.length ?? 0), "#/team", "MANAGE_TEAM"],
  ];
  const next = steps.findIndex(([, isDone, , permission]) => !isDone && may(permission));
  main.className = "narrow roomy";
  main.replaceChildren(
    el("section", { class: "card pad stack" },
      el("h1", {}, t("firstRun")),
      el("p", { class: "quiet" }, t("firstRunWords")),
      el("ol", { class: "first-run" }, steps.map(([name, isDone, href, permission], i) => el("li", { class: isDone ? "done" : null },
        isDone ? icon("check") : el("b", { "aria-hidden": "true" }, String(i + 1)),
        el("div", {}, el("b", {}, t(`first${name}`), isDone ? el("span", { class: "sr" }, ` (${t("firstDone")})`) : null), el("p", { class: "quiet" }, t(`first${name}Words`))),
        isDone || !may(permission) ? null : el("a", { class: i === next ? "btn primary" : "btn small", href, "aria-label": `${t("firstGo")}: ${t(`first${name}`)}` }, t("firstGo")))))));
}

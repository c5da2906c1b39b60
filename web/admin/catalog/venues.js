// Venues and their halls.

import { call, get, remove } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el, icon } from "../../shared/ui/dom.js";
import { count } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { card, field, heading } from "../form.js";

export async function venueList(page) {
  const { items } = await get("/api/admin/venues?limit=100", { signal: page.signal });
  page.main.replaceChildren(
    heading(t("navVenues"), t("venuesWords"),
      el("button", { class: "btn brand", type: "button", onclick: () => editVenue(page) }, icon("plus"), t("newVenue"))),
    items.length ? el("div", { class: "stack" }, items.map((venue) => venueCard(page, venue)))
      : el("section", { class: "card empty" }, icon("building"), el("p", {}, t("venuesNone"))));
}

function venueCard(page, venue) {
  const hall = (it) => el("li", {},
    el("a", { href: `#/halls/${it.id}` }, el("b", {}, it.name)),
    el("span", { class: "quiet num" }, t("seatCount", count(it.capacity))),
    el("a", { class: "btn small", href: `#/halls/${it.id}` }, t("seatPlan")),
    el("a", { class: "btn small", href: `#/halls/${it.id}/gates` }, t("gates")),
    el("a", { class: "btn small", href: `#/halls/new?venue=${venue.id}&from=${it.id}` }, t("clone")),
    removeButton(page, `/api/admin/halls/${it.id}`));
  return card(venue.name, `${venue.address} · ${venue.city}`,
    el("ul", { class: "halls" }, venue.halls.map(hall)),
    el("div", { class: "pad row" },
      el("a", { class: "btn", href: `#/halls/new?venue=${venue.id}` }, icon("plus"), t("newHall")),
      el("button", { class: "btn", type: "button", onclick: () => editVenue(page, venue) }, t("edit")),
      venue.halls.length ? null : removeButton(page, `/api/admin/venues/${venue.id}`)));
}

function removeButton(page, path) {
  const act = async () => {
    if (await ask({ title: t("deleteSure"), yes: t("delete"), isDanger: true, act: () => remove(path) })) page.again();
  };
  return el("button", { class: "btn stop small", type: "button", onclick: act }, t("delete"));
}

async function editVenue(page, venue) {
  const fields = ["name", "address", "city"];
  const done = await ask({
    title: venue ? t("edit") : t("newVenue"),
    content: el("div", { class: "stack" },
      fields.map((name) => field({ label: t(`venue${name}`), name, value: venue?.[name], required: true, maxlength: 200 })),
      field({ label: t("venuetimeZone"), hint: t("venueZoneHint"), name: "timeZone", value: venue?.timeZone, required: Boolean(venue), maxlength: 64 }),
      venue ? el("label", { class: "choice" }, el("input", { type: "checkbox", name: "announce" }), el("span", {}, t("venueAnnounce"))) : null),
    yes: t("saveIt"),
    act: (form) => {
      const body = Object.fromEntries([...form].filter(([, value]) => value !== ""));
      if (venue) body.announce = form.has("announce");
      return venue ? call("PATCH", `/api/admin/venues/${venue.id}`, { body }) : call("POST", "/api/admin/venues", { body });
    },
  });
  if (done) page.again();
}

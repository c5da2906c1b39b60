// The shows near now, and the gate to open.

import { get } from "../shared/app/api.js";
import { el } from "../shared/ui/dom.js";
import { moment } from "../shared/ui/format.js";
import { t } from "../shared/ui/i18n.js";
import { knownShows, rememberShows } from "./offline/store.js";

export async function shows(page) {
  const items = await get("/api/admin/gate/shows", { signal: page.signal })
    .then(({ items }) => rememberShows(items))
    .catch((error) => (error.status === 0 ? knownShows() : Promise.reject(error)));
  page.main.replaceChildren(
    el("h1", {}, t("pickShow")),
    items.length ? el("ul", { class: "shows" }, items.map((show) => el("li", {}, showCard(page, show)))) : el("p", { class: "quiet" }, t("noShows")));
}

function showCard(page, show) {
  const name = el("input", { name: "gate", maxlength: 40, required: true, placeholder: t("gateName"), "aria-label": t("gateName") });
  const open = (gate) => page.go(`#/scan/${show.scheduleId}?gate=${encodeURIComponent(gate)}`);
  const form = el("form", { class: "row" }, name, el("button", { class: "btn primary" }, t("openGate")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    open(name.value.trim());
  });
  const gates = show.gates.map((gate) =>
    el("button", { class: "btn big", type: "button", onclick: () => open(gate.name) }, gate.name,
      gate.sections.length ? el("small", {}, gate.sections.join(", ")) : null));
  return el("section", { class: "card pad stack" },
    el("h2", {}, show.eventTitle),
    el("p", { class: "quiet num" }, `${moment(show.startsAt, show.timeZone)} · ${show.venueName} ${show.hallName}`),
    gates.length ? el("div", { class: "row wrap" }, gates) : form);
}

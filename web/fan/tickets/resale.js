// Resale at face value: giving a ticket back, and taking one that another fan gives back.

import { act, call, remove } from "../../shared/app/api.js";
import { ask } from "../../shared/ui/dialog.js";
import { el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { moment, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";

const isOpen = (listing) => ["LISTED", "OFFERED"].includes(listing?.state);

/** Gives the ticket back, or keeps it after all. Only its buyer can. */
export function resaleButton(page, ticket, listing) {
  if (isOpen(listing)) {
    return [
      el("small", { class: "quiet" }, t("resalePending", won(listing.price, listing.currency))),
      el("button", { class: "btn small", type: "button", onclick: () => keep(page, ticket) }, icon("undo"), t("resaleKeep")),
    ];
  }
  return el("button", { class: "btn small", type: "button", onclick: () => giveBack(page, ticket) }, icon("undo"), t("resaleGive"));
}

async function giveBack(page, ticket) {
  const done = await ask({
    title: t("resaleGive"),
    content: el("p", {}, t("resaleWords", ticket.seatNumber)),
    yes: t("resaleGive"),
    act: () => call("POST", `/api/tickets/${ticket.id}/resale`, { body: {} }),
  });
  if (done) page.again();
}

async function keep(page, ticket) {
  const done = await ask({ title: t("resaleKeep"), yes: t("resaleKeep"), act: () => remove(`/api/tickets/${ticket.id}/resale`) });
  if (done) page.again();
}

/** Tickets of others that this fan may take now. */
export function resaleCard(page, offered) {
  const item = (offer) => {
    const problem = problemBox();
    const wallet = el("a", { class: "btn", href: "#/me", hidden: true }, t("resaleWallet"));
    const button = el("button", { class: "btn primary", type: "button" }, t("resaleTake", won(offer.price, offer.currency)));
    button.addEventListener("click", () => whileBusy(button, async () => {
      problem.show("");
      try {
        await act(`/api/booking/resales/${offer.id}/take`, { amount: offer.price });
        page.again();
      } catch (error) {
        wallet.hidden = error.status !== 402;
        problem.show(error.message);
      }
    }));
    return el("li", { class: "stack tight" },
      el("b", {}, offer.eventTitle),
      el("span", { class: "quiet num" }, `${moment(offer.startsAt, offer.timeZone)} · ${offer.venueName} · ${t("seatName", offer.seatNumber)} · ${offer.grade}`),
      el("span", { class: "quiet num" }, t("resaleUntil", moment(offer.offeredUntil, offer.timeZone))),
      problem.element,
      el("div", { class: "row" }, button, wallet));
  };
  return el("section", { class: "card pad stack" }, el("h2", {}, t("resaleForYou")), el("ul", { class: "stack" }, offered.map(item)));
}

// An event in a frame on an organiser's own site. Fans buy on our own page, in a window of its own,
// because a frame of another site has no log-in. It tells the page around it how high it is.

import { el } from "../shared/ui/dom.js";
import { showTime, usePlace, won } from "../shared/ui/format.js";
import { t, useWords } from "../shared/ui/i18n.js";
import WORDS from "./words.js";

const DATES_MAX = 5;

const id = location.pathname.split("/").pop();
const main = document.getElementById("main");

useWords(WORDS, new URLSearchParams(location.search).get("language"));
new ResizeObserver(() => {
  // Nothing secret: any page that shows us knows how high we are.
  parent.postMessage({ type: "podo-height", event: id, height: Math.ceil(main.getBoundingClientRect().bottom) }, "*");
}).observe(main);
show().catch(() => main.replaceChildren(el("p", { class: "note danger", role: "alert" }, t("missing"))));

async function show() {
  const response = await fetch(`/api/events/${encodeURIComponent(id)}`);
  if (!response.ok) throw new Error(response.statusText);
  const event = await response.json();
  usePlace(event);
  document.title = event.title;
  const shown = event.schedules.filter(({ startsAt }) => Date.now() < Date.parse(startsAt));
  const rest = shown.length - DATES_MAX;
  main.replaceChildren(el("article", { class: event.poster ? "card embed" : "card embed plain" },
    event.poster ? picture(event.poster, { sizes: "120px" }) : null,
    el("div", {},
      el("h1", {}, event.title),
      el("p", { class: "quiet" }, `${event.artist} · ${event.venueName}`),
      el("ul", {}, shown.slice(0, DATES_MAX).map(date)),
      0 < rest ? el("p", { class: "quiet" }, link(t("more", rest), "btn small")) : null)));
}

function picture({ url, srcset, alt, width, height }, { sizes }) {
  return el("img", { sizes, srcset, src: url, alt, width, height });
}

function date(schedule) {
  const price = Math.min(...Object.values(schedule.prices ?? {}));
  const state = stateOf(schedule);
  return el("li", {},
    el("span", { class: "num" }, el("b", {}, showTime(schedule.startsAt)), state ?? (Number.isFinite(price) ? t("from", won(price)) : "")),
    link(t(state ? "look" : "book"), state ? "btn small" : "btn small primary"));
}

/** Null while it is on sale. */
function stateOf({ status, saleStartsAt, saleEndsAt }) {
  if (status === "CANCELED" || status === "CANCELLED") return t("canceled");
  if (Date.now() < Date.parse(saleStartsAt)) return t("opens", showTime(saleStartsAt));
  return Date.parse(saleEndsAt) < Date.now() ? t("over") : null;
}

function link(words, kind) {
  return el("a", { class: kind, href: `/#/events/${id}`, target: "_blank", rel: "noopener" }, words, el("span", { class: "sr" }, ` (${t("opensNew")})`));
}

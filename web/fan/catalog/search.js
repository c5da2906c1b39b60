// The search field with its suggestions, and what to offer when nothing matches.

import { get } from "../../shared/app/api.js";
import { announce, el, icon } from "../../shared/ui/dom.js";
import { showTime } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";

const LIST = "suggestions";

export const suggestionsFor = (query, signal) =>
  get(`/api/events/suggestions?${new URLSearchParams({ query })}`, { signal, isPublic: true }).catch(() => ({ items: [] }));

/**
 * A field with a list below it, which arrow keys and a press choose from. An event leads to its page,
 * an artist fills the field; `onChoose` searches for it.
 */
export function searchField(page, { value, label, placeholder, onChoose }) {
  const input = el("input", {
    type: "search", name: "query", value, placeholder, "aria-label": label, autocomplete: "off",
    role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": LIST });
  const list = el("ul", { id: LIST, role: "listbox", "aria-label": t("suggestions"), hidden: true });
  let items = [];
  let at = -1;
  let round = 0;

  function close() {
    round += 1;
    list.hidden = true;
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function mark(next) {
    at = next;
    [...list.children].forEach((option, i) => option.setAttribute("aria-selected", String(i === at)));
    if (at < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", list.children[at].id);
  }

  function choose({ text, eventId }) {
    close();
    if (eventId) return page.go(`#/events/${eventId}`);
    input.value = text;
    onChoose();
  }

  async function suggest() {
    const text = input.value.trim();
    if (!text) return close();
    round += 1;
    const mine = round;
    const found = await suggestionsFor(text, page.signal);
    if (mine !== round || document.activeElement !== input) return;
    items = found.items;
    if (!items.length) return close();
    list.replaceChildren(...items.map((item, i) => el("li", {
      id: `${LIST}-${i}`, role: "option", "aria-selected": "false",
      // Before the field loses the focus, which closes the list.
      onmousedown: (event) => {
        event.preventDefault();
        choose(item);
      },
    }, icon(item.eventId ? "ticket" : "star"), el("span", {}, item.text))));
    at = -1;
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    announce(t("suggestionsFound", items.length));
  }

  input.addEventListener("input", suggest);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    if (event.key === "ArrowDown") mark((at + 1) % items.length);
    else if (event.key === "ArrowUp") mark((at <= 0 ? items.length : at) - 1);
    else if (event.key === "Enter" && at >= 0) choose(items[at]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  return el("div", { class: "search" }, icon("search"), input, list);
}

/** The right spelling as a button; nothing if there is none. */
export function spellingHelp(spelling, onChoose) {
  if (!spelling) return null;
  return el("p", {}, t("didYouMean"), " ", el("button", { class: "link", type: "button", onclick: () => onChoose(spelling) }, spelling));
}

const OPENINGS_MAX = 4;

/** What opens next, for a search that found nothing. */
export function nextOpenings(cards) {
  const ahead = cards
    .flatMap((card) => card.openings.slice(0, 1).map((opening) => ({ card, opening })))
    .sort((a, b) => Date.parse(a.opening.opensAt) - Date.parse(b.opening.opensAt))
    .slice(0, OPENINGS_MAX);
  if (!ahead.length) return null;
  return el("section", { class: "stack tight", "aria-labelledby": "next-openings" },
    el("h2", { id: "next-openings" }, t("openings")),
    el("ul", { class: "lines" }, ahead.map(({ card, opening }) => el("li", {},
      el("a", { href: `#/events/${card.id}` }, card.title),
      el("small", { class: "quiet num" }, t("heroOpens", showTime(opening.opensAt)))))));
}

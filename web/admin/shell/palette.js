// The command palette (Ctrl K or ⌘K): pages, actions and concerts by name, and a way to find fans and bookings.

import { get } from "../../shared/app/api.js";
import { el, icon } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { may } from "../../shared/app/session.js";
import { pages } from "./menu.js";

/** Actions that are pages of their own: address, icon, label, permission. */
const ACTIONS = [
  ["events/new", "plus", "newEvent", "MANAGE_EVENTS"],
];

const SEARCH_AFTER_MS = 200;
const CONCERTS_MAX = 6;

let opened = null;

/** Opens the palette on Ctrl K or ⌘K. */
export function listenForShortcut(isInside) {
  addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    if (!isInside()) return;
    event.preventDefault();
    openPalette();
  });
}

/** The button that opens it. It names the shortcut of the device's keyboard. */
export function paletteButton() {
  const keys = /Mac|iP(hone|ad)/.test(navigator.platform) ? "⌘K" : "Ctrl K";
  return el("button", { class: "find", type: "button", "aria-label": t("paletteOpen"), "aria-keyshortcuts": "Control+K Meta+K", onclick: openPalette },
    icon("search"), el("span", { class: "label" }, t("paletteOpen")), el("kbd", { "aria-hidden": "true" }, keys));
}

export function openPalette() {
  // A dialog that asks something is answered first.
  if (opened || document.querySelector("dialog[open]")) return;
  const list = el("ul", { role: "listbox", id: "palette-list", "aria-label": t("paletteOpen") });
  const input = el("input", {
    type: "search", role: "combobox", autocomplete: "off", spellcheck: "false", "aria-expanded": "true",
    "aria-controls": "palette-list", "aria-label": t("paletteOpen"), placeholder: t("paletteHint"),
  });
  const dialog = el("dialog", { class: "palette", "aria-label": t("paletteOpen") },
    el("div", { class: "palette-field" }, icon("search"), input), list);
  opened = new Palette(dialog, input, list);
  document.body.append(dialog);
  dialog.showModal();
  opened.search();
}

class Palette {
  #entries = [];
  #active = 0;
  #stop = new AbortController();
  #timer = 0;

  constructor(dialog, input, list) {
    Object.assign(this, { dialog, input, list });
    input.addEventListener("input", () => this.search());
    input.addEventListener("keydown", (event) => this.#press(event));
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    dialog.addEventListener("close", () => {
      clearTimeout(this.#timer);
      this.#stop.abort();
      dialog.remove();
      opened = null;
    });
  }

  search() {
    const text = this.input.value.trim();
    this.#stop.abort();
    clearTimeout(this.#timer);
    this.#show([...named(text), ...fans(text)]);
    if (!text || !may("VIEW_EVENTS")) return;
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    this.#timer = setTimeout(async () => {
      const found = await concerts(text, signal).catch(() => []);
      if (!signal.aborted) this.#show([...named(text), ...found, ...fans(text)]);
    }, SEARCH_AFTER_MS);
  }

  #show(entries) {
    this.#entries = entries;
    this.#active = 0;
    const items = entries.map(({ href, picture, label, kind }, index) =>
      el("li", { role: "option", id: `palette-${index}`, "aria-selected": "false", onclick: () => this.#go(href), onpointermove: () => this.#select(index) },
        icon(picture), el("span", { class: "grow" }, label), el("small", {}, kind)));
    this.list.replaceChildren(...(items.length ? items : [el("li", { class: "quiet", role: "option", "aria-disabled": "true", "aria-selected": "false" }, t("paletteNone"))]));
    this.#select(0);
  }

  #select(index) {
    if (!this.#entries.length) return this.input.removeAttribute("aria-activedescendant");
    this.list.children[this.#active]?.setAttribute("aria-selected", "false");
    this.#active = (index + this.#entries.length) % this.#entries.length;
    const item = this.list.children[this.#active];
    item.setAttribute("aria-selected", "true");
    item.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", item.id);
  }

  #press(event) {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) this.#select(this.#active + step);
    else if (event.key === "Enter" && this.#entries.length) this.#go(this.#entries[this.#active].href);
    else return;
    event.preventDefault();
  }

  #go(href) {
    this.dialog.close();
    location.hash = href;
  }
}

/** Pages and actions whose name has the text. */
function named(text) {
  const entry = (kind) => ([address, picture, words]) => ({ href: `#/${address}`, picture, label: t(words), kind });
  const actions = ACTIONS.filter(([, , , permission]) => may(permission)).map(entry(t("paletteAction")));
  const all = [...pages().map(entry(t("palettePage"))), ...actions];
  return all.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()));
}

/** The search for fans is a page of its own, because each look at personal data is recorded. */
function fans(text) {
  if (!text || !may("SUPPORT_FANS")) return [];
  const href = `#/support?${new URLSearchParams({ query: text })}`;
  return [{ href, picture: "users", label: t("paletteFans", text), kind: t("navSupport") }];
}

async function concerts(text, signal) {
  const { items } = await get(`/api/admin/events?${new URLSearchParams({ query: text, limit: CONCERTS_MAX })}`, { signal });
  return items.map(({ id, title, artist }) => ({ href: `#/events/${id}`, picture: "music", label: `${title} · ${artist}`, kind: t("navEvents") }));
}

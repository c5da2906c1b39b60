// A list of the control room: filters that its address keeps, a table, and a panel beside it.

import { el } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { csvButton, listButton, pagedTable } from "../../shared/ui/table.js";
import { field, heading } from "../form.js";
import { openPanels } from "./panel.js";

const TYPING_MS = 200;

/** The first and the last day of a period; the server gets its moments. */
export const periodFields = () => [
  field({ label: t("periodFrom"), name: "from", type: "date" }),
  field({ label: t("periodTo"), name: "to", type: "date" }),
];

/** Days are the organiser's own, as the times in the list: the last one counts as a whole. */
function moments({ from, to, ...others }) {
  const start = (text, later) => {
    const [year, month, day] = text.split("-").map(Number);
    return new Date(year, month - 1, day + later).toISOString();
  };
  return { ...others, ...(from ? { from: start(from, 0) } : {}), ...(to ? { to: start(to, 1) } : {}) };
}

/**
 * `address` is that of the page, `path` that of the API. `fixed` are filters that the form doesn't
 * show; `detail` describes the panel, see `panel.js`; `more` are further buttons of the heading.
 */
export function listPage(page, { title, words, address, path, columns, fields = [], fixed = {}, detail, row = page.id, empty, name, hasCsv, more = [], reloadOn = "input" }) {
  const { main, query: asked, signal } = page;
  const filters = el("form", { class: "filters", role: "search" }, fields);
  for (const input of filters.elements) {
    if (input.name && asked.get(input.name)) input.value = asked.get(input.name);
  }
  const typed = () => Object.fromEntries([...new FormData(filters)].filter(([, value]) => value));
  const query = () => ({ ...moments(typed()), ...fixed });
  let panels = null;
  const open = detail ? { href: (item) => panels.href(item), show: (item) => panels.show(item) } : undefined;
  const table = pagedTable({ caption: title, path, query, signal, columns, empty, open, order: asked.get("order"), onOrder: rename });
  // The address names what the form shows, not the moments that the server gets.
  const named = { ...table, query: () => ({ ...Object.fromEntries(asked), ...emptied(filters), ...typed(), order: table.query().order }) };
  if (detail) panels = openPanels({ page, address, table: named, detail });
  filters.addEventListener("submit", (event) => event.preventDefault());
  function rename() {
    panels?.close(false);
    history.replaceState(null, "", `#/${address}${search(named.query())}`);
  }
  let typing = null;
  filters.addEventListener(reloadOn, () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      if (signal.aborted) return;
      rename();
      table.reload();
    }, TYPING_MS);
  });
  main.className = "wide";
  main.replaceChildren(
    heading(title, words, ...more, name ? (hasCsv ? csvButton : listButton)({ path, query: table.query, name }) : null),
    el("section", { class: "card" }, fields.length ? filters : null, table.element));
  return table.reload().then(() => (detail && row ? panels.openNamed(row) : null));
}

/** What the form shows replaces what the address had. */
const emptied = (filters) => Object.fromEntries([...filters.elements].filter(({ name }) => name).map(({ name }) => [name, ""]));

const search = (query) => {
  const given = Object.entries(query).filter(([, value]) => value);
  return given.length ? `?${new URLSearchParams(given)}` : "";
};

// The panel beside a list: one row in full, with an address of its own. On narrow windows it takes the
// list's place.

import { Problem } from "../../shared/app/api.js";
import { el, icon, problemBox } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";

/**
 * `detail` says how a row is shown: `id(item)`, `find(id)` for an address that names a row beyond the
 * first page, `title(item)`, and `draw(item, again)`, which returns `{ content, actions }`.
 */
export function openPanels({ page, address, table, detail }) {
  const { main, signal } = page;
  const place = el("h2", { tabindex: -1 });
  const position = el("span", { class: "quiet num" });
  const step = (offset, name, words) =>
    el("button", { class: "btn small", type: "button", "aria-label": words, onclick: () => move(offset) }, icon(name));
  const [previous, next] = [step(-1, "up", t("panelPrevious")), step(1, "down", t("panelNext"))];
  const body = el("div", { class: "side-panel-body stack" });
  const foot = el("div", { class: "side-panel-foot row" });
  const panel = el("section", { class: "side-panel", "aria-label": t("panelDetails") },
    el("div", { class: "side-panel-head" }, place, position, previous, next,
      el("button", { class: "btn small", type: "button", "aria-label": t("panelClose"), onclick: () => close() }, icon("close"))),
    body, foot);
  let shown = null;

  const query = () => {
    const given = Object.entries(table.query()).filter(([, value]) => value);
    return given.length ? `?${new URLSearchParams(given)}` : "";
  };
  const href = (item) => `#/${address}/${detail.id(item)}${query()}`;

  /** Keeps the address in step without leaving the list. */
  function rename(hash, isNew) {
    if (location.hash === hash) return;
    if (isNew) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
  }

  function show(item, isNew = true) {
    rename(href(item), isNew && !shown);
    shown = item;
    if (!panel.isConnected) main.append(panel);
    document.body.classList.add("has-panel");
    for (const row of table.element.querySelectorAll("tr[aria-current]")) row.removeAttribute("aria-current");
    table.rowOf(item)?.setAttribute("aria-current", "true");
    place.textContent = detail.title(item);
    const at = table.items.indexOf(item);
    position.textContent = at < 0 ? "" : t("panelPosition", at + 1, table.items.length);
    previous.disabled = at <= 0;
    next.disabled = at < 0 || at === table.items.length - 1;
    const { content, actions = [] } = detail.draw(item, page.again);
    body.replaceChildren(...[content].flat(Infinity).filter(Boolean));
    foot.replaceChildren(...[actions].flat(Infinity).filter(Boolean));
    foot.hidden = !foot.children.length;
    place.focus({ preventScroll: true });
  }

  function move(offset) {
    const item = table.items[table.items.indexOf(shown) + offset];
    if (item) show(item);
    if (item) table.rowOf(item)?.scrollIntoView({ block: "nearest" });
  }

  /** The focus goes back to the row, unless it is in a filter. */
  function close(isToRow = true) {
    if (!shown) return;
    const row = table.rowOf(shown);
    shown = null;
    panel.remove();
    document.body.classList.remove("has-panel");
    rename(`#/${address}${query()}`, false);
    row?.removeAttribute("aria-current");
    if (isToRow) row?.querySelector(".lead").focus();
  }

  document.addEventListener("keydown", (event) => {
    if (!shown || document.querySelector("dialog[open]") || event.target.closest("input, select, textarea")) return;
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else return;
    event.preventDefault();
  }, { signal });
  signal.addEventListener("abort", () => document.body.classList.remove("has-panel"));

  /** Opens the row that the address names, once the list is there. */
  async function openNamed(id) {
    const listed = table.items.find((item) => String(detail.id(item)) === id);
    const problem = problemBox();
    try {
      const item = listed ?? (await detail.find(id));
      if (item) return show(item, false);
      problem.show(t("panelGone"));
    } catch (error) {
      if (error.name === "AbortError" || !(error instanceof Problem)) throw error;
      problem.show(error.message);
    }
    table.element.prepend(problem.element);
  }

  return { href, show, close, openNamed };
}

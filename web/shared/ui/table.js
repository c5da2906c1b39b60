// A paginated list: a table with a button for more, filters above, and a file of all rows.

import { answered, get, Problem } from "../app/api.js";
import { ask } from "./dialog.js";
import { el, icon, problemBox, whileBusy } from "./dom.js";
import { t } from "./i18n.js";

/**
 * `columns` are `{ head, cell(item), isNumber, isOrder }`. `path` is the address of the pages;
 * `query` returns the filters as an object. `reload()` starts over. The head of a column with
 * `isOrder` turns the order of the list. With `open`, a row leads on: `open.href(item)` is its
 * address, and `open.show(item)` opens it without leaving the list. `onOrder` runs after a turn.
 */
export function pagedTable({ caption, columns, path, query: filters = () => ({}), empty, signal, open, order: first, onOrder }) {
  const body = el("tbody", {});
  const items = [];
  let order = first === "OLDEST" ? first : "NEWEST";
  const hasOrder = columns.some(({ isOrder }) => isOrder);
  const query = () => ({ ...filters(), ...(hasOrder && order !== "NEWEST" ? { order } : {}) });
  const problem = problemBox();
  const nothing = el("p", { class: "quiet pad nothing", hidden: true }, empty ?? t("nothingHere"));
  const more = el("button", { class: "btn", type: "button", hidden: true }, t("more"));
  let cursor = null;
  let round = 0;

  async function load(isFirst) {
    round += 1;
    const mine = round;
    problem.show("");
    try {
      const page = await get(`${path}?${search(query(), isFirst ? null : cursor)}`, { signal });
      // The filters changed while the request was running.
      if (mine !== round) return;
      if (isFirst) {
        body.replaceChildren();
        items.length = 0;
      }
      items.push(...page.items);
      body.append(...page.items.map(row));
      cursor = page.nextCursor ?? null;
      more.hidden = !cursor;
      nothing.hidden = body.children.length > 0 || Boolean(cursor);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Problem)) throw error;
      problem.show(error.message);
    }
  }

  function row(item) {
    const cells = columns.map(({ cell, isNumber }, i) =>
      el(i ? "td" : "th", { scope: i ? null : "row", class: isNumber ? "right num" : null }, i || !open ? cell(item) : lead(item, cell(item))));
    return el("tr", { class: open ? "leads" : null, onclick: open ? pressed : null }, cells);
  }

  /** The row's own link, so that keyboards reach it and a tab can be opened from it. */
  function lead(item, content) {
    return el("a", { class: "lead", href: open.href(item), onclick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open.show(item);
    } }, content);
  }

  /** A press anywhere in the row, unless it was meant for something in it or marks text. */
  function pressed({ target, currentTarget }) {
    if (target.closest("a, button, input, select, summary") || String(getSelection())) return;
    currentTarget.querySelector(".lead").click();
  }

  function head({ head: words, isNumber, isOrder }) {
    const th = el("th", { scope: "col", class: isNumber ? "right" : null }, isOrder ? null : words);
    if (!isOrder) return th;
    const arrow = el("span", { "aria-hidden": "true" });
    const draw = () => {
      th.setAttribute("aria-sort", order === "NEWEST" ? "descending" : "ascending");
      arrow.textContent = order === "NEWEST" ? " ↓" : " ↑";
    };
    th.append(el("button", { class: "order", type: "button", onclick: () => {
      order = order === "NEWEST" ? "OLDEST" : "NEWEST";
      draw();
      onOrder?.();
      load(true);
    } }, words, arrow));
    draw();
    return th;
  }

  more.addEventListener("click", () => whileBusy(more, () => load(false)));
  const element = el("div", { class: "stack tight" },
    problem.element,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      el("table", {},
        el("caption", { class: "sr" }, caption),
        el("thead", {}, el("tr", {}, columns.map(head))),
        body)),
    nothing,
    el("div", { class: "row center" }, more));
  return { element, reload: () => load(true), problem, items, query, rowOf: (item) => body.children[items.indexOf(item)] };
}

function search(filters, cursor) {
  const given = Object.entries({ ...filters, cursor }).filter(([, value]) => value);
  return new URLSearchParams(given).toString();
}

/**
 * A button that exports all rows that match the filters, after asking for a reason, which is
 * audited. A link could not send the login.
 */
export function csvButton({ path, query = () => ({}), name }) {
  const download = async (reason) => {
    const response = await answered("GET", `${path}?${search({ ...query(), format: "csv", reason }, null)}`).catch(() => null);
    if (!response?.ok) throw new Error(t("csvFailed"));
    save(await response.blob(), `${name}.csv`);
  };
  const press = () => ask({
    title: t("csv"),
    content: el("label", { class: "field" }, t("csvReason"), el("input", { name: "reason", required: true, maxlength: 200 })),
    yes: t("csvSave"),
    act: (form) => download(form.get("reason")),
  });
  return el("button", { class: "btn", type: "button", onclick: press }, icon("download"), t("csv"));
}

/** Most rows of a file that the page itself writes. */
const WALKED_MAX = 10_000;

/** The same for lists that the server cannot export: page by page, each of them audited. */
export function listButton({ path, query = () => ({}), name }) {
  const button = el("button", { class: "btn", type: "button" }, icon("download"), t("csv"));
  button.addEventListener("click", () => whileBusy(button, async () => {
    const items = [];
    for (let cursor = null; items.length < WALKED_MAX; ) {
      const page = await get(`${path}?${search({ ...query(), limit: 100 }, cursor)}`);
      items.push(...page.items);
      cursor = page.nextCursor;
      if (!cursor) break;
    }
    save(csvOf(items), `${name}.csv`);
  }));
  return button;
}

export function csvOf(items) {
  const heads = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const rows = items.map((item) => heads.map((head) => cellOf(item[head])));
  return new Blob([[heads, ...rows].map((row) => row.join(",")).join("\r\n")], { type: "text/csv" });
}

/** Spreadsheets treat text that starts like a formula as one. */
function cellOf(value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

export function save(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

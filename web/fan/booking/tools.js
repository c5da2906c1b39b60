// Map controls: a legend of grades that filters, zoom, the way back, and a list view.

import { el, icon, problemBox } from "../../shared/ui/dom.js";
import { count, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { FREE } from "../../shared/seatmap/sprites.js";
import { toneOf } from "../catalog/grades.js";
import { zoneBar, zoneStepper } from "./map/zones.js";

const REFRESH_MS = 500;

export function mapTools(sale, grid) {
  const { map, page } = sale;
  const stale = problemBox();
  const legend = gradeChips(sale, () => refresh());
  const list = listView(sale);
  const zone = zoneBar(sale);
  const crumb = el("button", { class: "chip crumb", type: "button", hidden: true, onclick: () => {
    map.showAll();
    grid.close();
    zone.close();
  } });
  const tip = el("div", { class: "tip num", role: "presentation", hidden: true });
  let timer = null;

  function refresh() {
    legend.refresh();
    list.refresh();
    zone.refresh();
    showCrumb();
  }

  /** Throttled: counts need not follow every change. */
  function refreshSoon() {
    timer ??= setTimeout(() => {
      timer = null;
      refresh();
    }, REFRESH_MS);
  }
  page.signal.addEventListener("abort", () => clearTimeout(timer));

  function showCrumb() {
    crumb.hidden = map.open < 0;
    if (map.open < 0) return;
    const section = map.plan.sections[map.open];
    const grade = sale.grades[section.grade]?.grade ?? "";
    crumb.replaceChildren(icon("back"), el("b", {}, t("all")), el("span", {}, t("crumb", section.name, grade, count(map.left[map.open]))));
  }

  function showTip({ detail: i }) {
    tip.hidden = i < 0;
    if (i < 0) return;
    const { plan, view } = map;
    tip.style.left = `${plan.x[i] * view.scale + view.left}px`;
    tip.style.top = `${plan.y[i] * view.scale + view.top}px`;
    const state = sale.stateOf(i);
    tip.replaceChildren(...[el("b", {}, sale.nameOf(i)),
      special(plan.seats[i]),
      el("span", {}, state === FREE ? `${plan.seats[i].grade} · ${won(sale.priceOf(i))}` : t(`state${state}`))].filter(Boolean));
  }

  map.addEventListener("viewchange", showCrumb);
  map.addEventListener("hover", showTip);
  const elements = [
    el("div", { class: "map-top" }, legend.element, el("div", { class: "row" }, crumb), zone.element, stale.element),
    list.element,
    tip,
    key(sale.plan.seats),
    el("div", { class: "map-tools" }, list.button, zoomButtons(map, grid)),
  ];
  return { elements, refresh, refreshSoon, zone, stale: stale.show };
}

function gradeChips({ map, grades, plan }, onChange) {
  const counts = grades.map(() => el("em", {}));
  const chips = grades.map(({ grade, price }, i) => el("button", {
    class: `chip num ${toneOf(i)}`,
    type: "button",
    "aria-pressed": "false",
    onclick: () => {
      map.filterBy(map.filter === i ? null : i);
      chips.forEach((chip, other) => chip.setAttribute("aria-pressed", String(map.filter === other)));
      onChange();
    },
  }, el("i", { "aria-hidden": "true" }), el("b", {}, grade), el("span", {}, won(price)), counts[i]));
  const refresh = () => {
    const left = grades.map(() => 0);
    for (let i = 0; i < plan.n; i += 1) if (map.status[i] === FREE) left[plan.grade[i]] += 1;
    left.forEach((n, i) => (counts[i].textContent = t("seatsLeft", count(n))));
  };
  return { element: el("div", { class: "chips", role: "group", "aria-label": t("filterGrades") }, chips), refresh };
}

/** The same choice without the map: sections with their price and free seats. */
function listView(sale) {
  const { map, plan, grades, openSection } = sale;
  const steppers = new Map();
  const body = el("tbody", {});
  const element = el("div", { class: "list-view num", hidden: true, tabindex: "-1" },
    el("table", {},
      el("caption", { class: "sr" }, t("sections")),
      el("thead", {}, el("tr", {}, ["section", "grade", "price", "left", "open"].map((it) => el("th", { scope: "col" }, t(`list${it}`))))),
      body));
  const button = el("button", { class: "chip", type: "button", "aria-expanded": "false", onclick: () => show(element.hidden) });
  const show = (isOpen) => {
    element.hidden = !isOpen;
    button.setAttribute("aria-expanded", String(isOpen));
    button.replaceChildren(icon("list"), isOpen ? t("mapView") : t("listView"));
    refresh();
    if (isOpen) element.focus();
  };
  function refresh() {
    if (element.hidden) return;
    const isShown = ({ index, grade }) => (map.left[index] || sale.stoodIn(index)) && (map.filter === null || map.filter === grade);
    // Reuses rows, so that a focused one keeps the focus.
    const known = new Map([...body.children].map((row) => [Number(row.dataset.index), row]));
    const rows = plan.sections.filter(isShown).map((section) => {
      const row = known.get(section.index) ?? line(section);
      row.children[3].textContent = count(map.left[section.index]);
      return row;
    });
    steppers.forEach((stepper) => stepper.refresh());
    if (rows.length !== body.children.length || rows.some((row, i) => body.children[i] !== row)) body.replaceChildren(...rows);
  }
  const line = (section) => {
    const { index } = section;
    const name = section.isStanding ? t("zoneName", section.name) : t("sectionName", section.name);
    return el("tr", { "data-index": index },
      el("th", { scope: "row" }, name),
      el("td", {}, grades[section.grade]?.grade ?? ""),
      el("td", {}, won(grades[section.grade]?.price ?? 0)),
      el("td", {}, ""),
      el("td", {}, section.isStanding ? stepperOf(index) : el("button", { class: "btn small", type: "button", "aria-label": `${name} ${t("listopenOne")}`, onclick: () => {
        show(false);
        openSection(index);
      } }, t("listopenOne"))));
  };
  const stepperOf = (index) => {
    steppers.set(index, zoneStepper(sale, index));
    return steppers.get(index).element;
  };
  show(false);
  return { element, button, refresh };
}

/** The special properties of a seat, in words. */
function special({ accessible, restrictedView }) {
  const words = [accessible && t("accessible"), restrictedView && t("restrictedView")].filter(Boolean);
  return words.length ? el("span", {}, words.join(" · ")) : null;
}

/** Shapes distinguish states, not only colours. */
function key(seats) {
  const shape = (kind, words) => el("span", {}, el("i", { class: `shape ${kind}` }), words);
  return el("div", { class: "map-key", "aria-hidden": "true" },
    shape("free", t("state0")), shape("mine", t("state3")), shape("own", t("state4")), shape("held", t("state1")), shape("sold", t("state2")),
    seats.some((seat) => seat.accessible) ? shape("accessible", t("accessible")) : null,
    seats.some((seat) => seat.restrictedView) ? shape("restricted", t("restrictedView")) : null);
}

function zoomButtons(map, grid) {
  const button = (picture, words, act) => el("button", { type: "button", "aria-label": words, onclick: act }, icon(picture));
  return el("div", { class: "zoom", role: "group", "aria-label": t("zoom") },
    button("plus", t("zoomIn"), () => map.zoomBy(1.5)),
    button("minus", t("zoomOut"), () => map.zoomBy(1 / 1.5)),
    button("fit", t("zoomAll"), () => {
      map.showAll();
      grid.close();
    }));
}


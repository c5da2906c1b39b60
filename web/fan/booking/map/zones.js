// A standing zone: how many places, because their numbers are given in order when they are held.

import { el, icon } from "../../../shared/ui/dom.js";
import { count, won } from "../../../shared/ui/format.js";
import { t } from "../../../shared/ui/i18n.js";

/** Between the bar and the zone. */
const ROOM_PX = 8;

/** Minus, the number of chosen places, plus. */
export function zoneStepper({ plan, stand, stoodIn }, index) {
  const name = t("zoneName", plan.sections[index].name);
  const output = el("output", { class: "num" });
  const step = (by, words) => el("button", { type: "button", "aria-label": `${name} ${words}`, onclick: () => stand(index, by) }, icon(by < 0 ? "minus" : "plus"));
  const [less, more] = [step(-1, t("oneLess")), step(1, t("oneMore"))];
  const refresh = () => {
    output.textContent = String(stoodIn(index));
    less.disabled = stoodIn(index) === 0;
  };
  refresh();
  return { element: el("span", { class: "stepper", role: "group", "aria-label": name }, less, output, more), refresh };
}

/** Above the map, for the zone that was tapped. */
export function zoneBar(sale) {
  const element = el("div", { class: "zone-bar num", hidden: true });
  let stepper = null;
  let shown = null;
  const facts = el("small", {});

  function open(index) {
    shown = sale.plan.sections[index];
    stepper = zoneStepper(sale, index);
    element.replaceChildren(el("span", {}, el("b", {}, t("zoneName", shown.name)), facts, el("small", { class: "quiet" }, t("zoneNumbers"))), stepper.element);
    element.hidden = false;
    refresh();
    uncover(sale.map, shown.box, element);
  }

  function refresh() {
    if (!shown) return;
    const { grade, price } = sale.grades[shown.grade] ?? { grade: "", price: 0 };
    facts.textContent = `${grade} · ${won(price)} · ${t("seatsLeft", count(sale.map.left[shown.index]))}`;
    stepper.refresh();
  }

  function close() {
    shown = null;
    element.hidden = true;
  }

  return { element, open, refresh, close };
}

/** Moves the map until the bar no longer covers the zone that it is about. */
function uncover(map, [x0, y0, x1], bar) {
  const [edge, cover] = [map.getBoundingClientRect(), bar.getBoundingClientRect()];
  const across = (x) => edge.left + x * map.view.scale + map.view.left;
  const top = edge.top + y0 * map.view.scale + map.view.top;
  const isBelow = across(x0) < cover.right && cover.left < across(x1);
  if (isBelow && top < cover.bottom + ROOM_PX) map.look((view) => view.panBy(0, cover.bottom + ROOM_PX - top));
}

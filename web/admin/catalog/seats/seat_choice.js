// A plan on which an organiser chooses seats: a tap on a seat or a whole section, or by number.

import "../../../shared/seatmap/element.js";
import { el } from "../../../shared/ui/dom.js";
import { t } from "../../../shared/ui/i18n.js";
import { readPlan } from "../../../shared/seatmap/plan.js";
import { area } from "../../form.js";
import { stateOf } from "../../../shared/seatmap/states.js";
import { HELD, MINE } from "../../../shared/seatmap/sprites.js";

/**
 * `status` has a letter per seat, `isChoosable` says which letters may be chosen, and `onChange`
 * gets the number of chosen seats.
 */
export function openPlan({ layout, prices, status: letters, label, isChoosable, onChange }) {
  const grades = Object.entries(prices).sort((a, b) => b[1] - a[1]).map(([grade]) => grade);
  const plan = readPlan(layout, grades);
  const chosen = new Set();
  let status = letters;
  const map = document.createElement("seat-map");
  map.words = { stage: t("stage") };
  map.setAttribute("role", "img");
  map.setAttribute("aria-label", label);
  // A kept seat looks like a held one: taken, and yet not sold.
  const faceOf = (i) => (chosen.has(i) ? MINE : status[i] === "K" ? HELD : stateOf(status[i]));
  const set = (i, isOn) => {
    if (!isChoosable(status[i])) return;
    if (isOn) chosen.add(i);
    else chosen.delete(i);
    map.set(i, faceOf(i));
  };
  const told = () => onChange(chosen.size);
  map.addEventListener("seat", ({ detail }) => {
    set(detail, !chosen.has(detail));
    told();
  });
  map.addEventListener("section", ({ detail }) => {
    const { first, count } = plan.sections[detail];
    const seats = [...Array(count).keys()].map((offset) => first + offset).filter((i) => isChoosable(status[i]));
    const isOn = seats.some((i) => !chosen.has(i));
    seats.forEach((i) => set(i, isOn));
    told();
  });
  requestAnimationFrame(() => map.show(plan, Uint8Array.from({ length: plan.n }, (_, i) => faceOf(i))));
  const byNumber = new Map(plan.seats.map(({ number }, i) => [number, i]));
  const byId = new Map(plan.seats.map(({ id, number }) => [id, number]));
  return {
    element: el("div", { class: "preview" }, map),
    ids: () => [...chosen].map((i) => plan.seats[i].id),
    seats: () => [...chosen].sort((a, b) => a - b).map((i) => plan.seats[i]),
    numberOf: (id) => byId.get(id) ?? id,
    /** Returns the numbers that no seat has, or that can't be chosen. */
    chooseNumbers(numbers) {
      const isWrong = (number) => !byNumber.has(number) || !isChoosable(status[byNumber.get(number)]);
      numbers.filter((number) => !isWrong(number)).forEach((number) => set(byNumber.get(number), true));
      told();
      return numbers.filter(isWrong);
    },
    /** Other letters for the same seats; nothing is chosen any more. */
    renew(next) {
      chosen.clear();
      status = next;
      for (let i = 0; i < plan.n; i += 1) map.set(i, faceOf(i));
    },
    clear() {
      [...chosen].forEach((i) => set(i, false));
      told();
    },
  };
}

/** Chooses seats by their numbers: the same without a mouse. */
export function numbersField(plan, problem) {
  const numbers = area({ label: t("allocNumbers"), name: "numbers", rows: 2, hint: t("allocNumbersHint") });
  const text = numbers.querySelector("textarea");
  const add = () => {
    const unknown = plan.chooseNumbers(text.value.split(/[,\n]/).map((it) => it.trim()).filter(Boolean));
    problem.show(unknown.length ? t("allocUnknown", unknown.join(", ")) : "");
  };
  return [numbers, el("div", { class: "row" },
    el("button", { class: "btn small", type: "button", onclick: add }, t("allocNumbersAdd")),
    el("button", { class: "btn small", type: "button", onclick: () => plan.clear() }, t("allocClear")))];
}

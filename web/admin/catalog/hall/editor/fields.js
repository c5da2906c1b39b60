// Fields of the panel: each shows a value of the plan and changes it when the organiser is done.

import { el } from "../../../../shared/ui/dom.js";

/** `update` shows the value again, unless the organiser is typing. */
function bound(input, get, attributes) {
  return {
    element: attributes.label ? el("label", { class: "field" }, attributes.label, input) : input,
    update() {
      const value = String(get());
      if (document.activeElement !== input && input.value !== value) input.value = value;
    },
  };
}

export function textField({ label, get, set, ...attributes }) {
  const input = el("input", { type: "text", ...attributes });
  input.value = get();
  input.addEventListener("change", () => (input.reportValidity() ? set(input.value.trim()) : null));
  return bound(input, get, { label });
}

export function numberField({ label, get, set, min, max, ...attributes }) {
  const input = el("input", { type: "number", min, max, required: true, ...attributes });
  input.value = get();
  input.addEventListener("change", () => {
    if (input.reportValidity()) set(Number(input.value));
  });
  return bound(input, get, { label });
}

/** A slider: `draft` while it moves, `set` at its end. */
export function rangeField({ label, get, draft, set, min, max, words }) {
  const input = el("input", { type: "range", min, max, step: 1 });
  const output = el("output", { class: "num" });
  input.value = get();
  input.addEventListener("input", () => draft(Number(input.value)));
  input.addEventListener("change", () => set(Number(input.value)));
  const update = () => {
    input.value = get();
    output.textContent = words(get());
  };
  update();
  return { element: el("label", { class: "field range" }, el("span", {}, label, output), input), update };
}

export function choiceField({ label, options, get, set, ...attributes }) {
  const input = el("select", attributes, options.map(([value, words]) => el("option", { value }, words)));
  input.value = get();
  input.addEventListener("change", () => set(input.value));
  return bound(input, get, { label });
}

export function tickField({ label, get, set }) {
  const input = el("input", { type: "checkbox" });
  input.checked = get();
  input.addEventListener("change", () => set(input.checked));
  return { element: el("label", { class: "choice" }, input, el("span", {}, label)), update: () => (input.checked = get()) };
}

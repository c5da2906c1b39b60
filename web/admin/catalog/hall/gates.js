// The gates of a hall: their names, and the sections that each admits.

import { call, get } from "../../../shared/app/api.js";
import { el, icon, problemBox, whileBusy } from "../../../shared/ui/dom.js";
import { t } from "../../../shared/ui/i18n.js";
import { field, heading, tick } from "../../form.js";

const GATES_MAX = 50;

export async function hallGates(page) {
  const path = `/api/admin/halls/${page.id}`;
  const options = { signal: page.signal };
  const [{ gates }, template] = await Promise.all([get(`${path}/gates`, options), get(`${path}/template`, options)]);
  const sections = sectionNames(template);
  const list = el("div", { class: "stack" });
  const none = el("p", { class: "quiet" }, t("gatesNone"));
  const add = el("button", { class: "btn", type: "button" }, icon("plus"), t("gateAdd"));
  const show = () => {
    none.hidden = list.children.length > 0;
    add.disabled = GATES_MAX <= list.children.length;
  };
  const append = (gate) => {
    const row = gateRow(gate, sections, () => {
      row.remove();
      show();
    });
    list.append(row);
    show();
    return row;
  };
  gates.forEach(append);
  show();
  add.addEventListener("click", () => append({ name: "", sections: [] }).querySelector("input").focus());
  const problem = problemBox();
  const saved = el("p", { class: "note ok", role: "status", hidden: true }, t("gatesSaved"));
  const save = el("button", { class: "btn brand" }, t("saveIt"));
  const form = el("form", { class: "stack" }, none, list, problem.element, saved, el("div", { class: "row" }, add, save));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    saved.hidden = true;
    problem.show("");
    whileBusy(save, () => call("PUT", `${path}/gates`, { body: { gates: [...list.children].map(read) } })
      .then(() => (saved.hidden = false))
      .catch((error) => problem.show(error.message || t("troubleUnknown"))));
  });
  page.main.replaceChildren(
    heading(t("gates"), t("gatesWords"), el("a", { class: "btn", href: "#/venues" }, icon("back"), t("navVenues"))),
    el("section", { class: "card pad" }, form));
}

/** A grid has no sections: its gates admit everybody. */
const sectionNames = (template) => [...new Set((template.sections ?? []).map(({ name }) => name))];

function gateRow(gate, sections, remove) {
  const name = gate.name || t("gateNew");
  const known = [...new Set([...sections, ...gate.sections])];
  const boxes = known.map((section) =>
    tick({ label: section, name: "section", value: section, checked: gate.sections.includes(section) }));
  return el("fieldset", { class: "stack gate" },
    el("legend", { class: "sr" }, name),
    el("div", { class: "row wrap" },
      field({ label: t("gateName"), name: "name", value: gate.name, required: true, maxlength: 40 }),
      el("button", { class: "btn stop small", type: "button", onclick: remove }, t("delete"))),
    boxes.length ? el("p", { class: "quiet" }, t("gateSections")) : null,
    boxes.length ? el("div", { class: "row wrap" }, boxes) : null);
}

function read(row) {
  const sections = [...row.querySelectorAll("input[name=section]:checked")].map((box) => box.value);
  return { name: row.querySelector("input[name=name]").value.trim(), sections };
}

// One call: its parameters, its responses, and its curl command.

import { el, icon } from "../shared/ui/dom.js";
import { language, t } from "../shared/ui/i18n.js";
import { curl } from "./curl.js";
import { example, fields, typeName } from "./schema.js";

/** Rendered when opened, because there are more than a hundred. */
export function operationCard(spec, { path, method, operation, id }) {
  const body = el("div", { class: "pad stack" });
  const card = el("details", { class: "card call", id },
    el("summary", {},
      el("span", { class: `method ${method}` }, method.toUpperCase()),
      el("code", { class: "path" }, path),
      el("span", { class: "quiet words" }, t("call", nameOf(method, path)) || firstSentence(operation.summary)),
      operation.security?.length ? el("span", { class: "lock", title: t("needsLogin") }, icon("shield"), el("span", { class: "sr" }, t("needsLogin"))) : null),
    body);
  card.addEventListener("toggle", () => {
    if (card.open && !body.childElementCount) body.append(...content(spec, path, method, operation, id));
  });
  return card;
}

/** The key of a call's texts. */
export const nameOf = (method, path) => `${method.toUpperCase()} ${path}`;

function firstSentence(text = "") {
  return plain(text).split(/(?<=\.) /)[0];
}

const plain = (text = "") => text.replace(/\s+/g, " ").replaceAll("`", "");

function content(spec, path, method, operation, id) {
  const words = [operation.summary, operation.description].filter(Boolean).map(plain).join(" ");
  const parameters = operation.parameters ?? [];
  const taken = operation.requestBody?.content?.["application/json"]?.schema;
  return [
    t("call", nameOf(method, path)) ? el("p", {}, t("call", nameOf(method, path))) : null,
    el("p", { lang: "en" }, words, " ", el("a", { class: "quiet", href: `#${id}`, lang: language() }, t("link"))),
    parameters.length ? el("div", {}, el("h3", {}, t("parameters")), parameterTable(spec, parameters)) : null,
    taken ? el("div", {}, el("h3", {}, t("body"), " ", el("small", { class: "quiet" }, typeName(spec, taken))), fields(spec, taken)) : null,
    el("div", {}, el("h3", {}, t("example")), shell(curl(spec, path, method, operation))),
    el("div", { class: "stack tight" }, el("h3", {}, t("answers")), answers(spec, operation.responses ?? {})),
  ].filter(Boolean);
}

function parameterTable(spec, parameters) {
  return el("ul", { class: "fields" }, parameters.map(({ name, in: where, required, schema, description }) =>
    el("li", {},
      el("code", {}, name),
      el("span", { class: "type" }, `${typeName(spec, schema ?? {})} · ${t("where", where)}`),
      required ? el("span", { class: "must" }, t("required")) : null,
      description ? el("span", { class: "quiet" }, plain(description)) : null)));
}

function shell(text) {
  const button = el("button", { class: "btn small", type: "button" }, t("copy"));
  button.addEventListener("click", async () => {
    await navigator.clipboard?.writeText(text);
    button.textContent = t("copied");
  });
  return el("div", { class: "shell" }, el("pre", { tabindex: "0" }, el("code", {}, text)), button);
}

function answers(spec, responses) {
  return Object.entries(responses).map(([status, response]) => {
    const [kind, media] = Object.entries(response.content ?? {})[0] ?? [];
    const isProblem = kind === "application/problem+json";
    const words = status === "default" ? t("anyProblem") : isProblem ? t("problem") : typeName(spec, media?.schema ?? {}) || t("empty");
    const head = [el("span", { class: `status ${tone(status)} num` }, status === "default" ? "4xx · 5xx" : status), el("span", {}, words)];
    // All problems have the same shape, described once at the top.
    if (isProblem || !media?.schema) return el("p", { class: "answer" }, head);
    const text = /json/.test(kind) ? JSON.stringify(example(spec, media.schema), null, 2) : kind;
    return el("details", { class: "answer" }, el("summary", {}, head),
      el("div", { class: "stack tight" }, fields(spec, media.schema), el("pre", { tabindex: "0" }, el("code", {}, text))));
  });
}

function tone(status) {
  return { 2: "ok", 3: "ok" }[status[0]] ?? "bad";
}

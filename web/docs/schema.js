// Reads JSON schemas: the name of a type, its members as a list, an example value.

const DEEP_MAX = 6;
const LISTED_MAX = 2;

import { el } from "../shared/ui/dom.js";
import { t } from "../shared/ui/i18n.js";

/** Resolves a reference, with the members of all its parts. */
export function resolve(spec, schema = {}) {
  if (schema.$ref) return resolve(spec, spec.components.schemas[schema.$ref.split("/").pop()]);
  if (!schema.allOf) return schema;
  return schema.allOf.map((part) => resolve(spec, part)).reduce((all, part) => ({
    ...all,
    ...part,
    properties: { ...all.properties, ...part.properties },
    required: [...(all.required ?? []), ...(part.required ?? [])],
  }), {});
}

const variants = (schema) => (schema.oneOf ?? schema.anyOf ?? []).filter(({ type }) => type !== "null");

export function typeName(spec, schema = {}) {
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    const real = resolve(spec, schema);
    // The name of an id or an amount is not enough, so its type is shown too.
    return real.properties || variants(real).length ? name : `${name}: ${typeName(spec, real)}`;
  }
  const some = variants(schema);
  if (some.length) return some.map((it) => typeName(spec, it)).join(" | ");
  if (schema.enum) return schema.enum.map((it) => JSON.stringify(it)).join(" | ");
  if (schema.items) return `${typeName(spec, schema.items)}[]`;
  const type = [schema.type].flat().filter((it) => it && it !== "null").join(" | ");
  return schema.format ? `${type} (${schema.format})` : type || (schema.allOf ? "object" : "");
}

/** The members of an object, followed by those of nested objects. */
export function fields(spec, schema, depth = 0) {
  const real = resolve(spec, schema.items ?? schema);
  const inner = real.items ? resolve(spec, real.items) : real;
  const [only] = variants(inner);
  const { properties, required = [] } = inner.properties ? inner : resolve(spec, only ?? {});
  if (!properties || LISTED_MAX < depth) return null;
  return el("ul", { class: "fields" }, Object.entries(properties).map(([name, member]) => {
    const words = member.description ?? resolve(spec, member).description;
    return el("li", {},
      el("code", {}, name),
      el("span", { class: "type" }, typeName(spec, member), limits(member)),
      required.includes(name) ? el("span", { class: "must" }, t("required")) : null,
      words ? el("span", { class: "quiet" }, words.replace(/\s+/g, " ").replaceAll("`", "")) : null,
      fields(spec, member, depth + 1));
  }));
}

function limits({ minimum, maximum, minItems, maxItems, maxLength }) {
  const from = minimum ?? minItems;
  const to = maximum ?? maxItems ?? maxLength;
  if (from === undefined && to === undefined) return "";
  return ` ${from ?? ""}…${to ?? ""}`;
}

const SAMPLES = {
  uuid: "0190f1c2-7b6a-7c3e-9d41-5a2f3c000000",
  "date-time": "2026-12-16T11:00:00Z",
  date: "2026-12-16",
  email: "fan@podo.kr",
  password: "a-long-passphrase",
};

/** A valid example value. */
export function example(spec, schema, depth = 0) {
  const real = resolve(spec, schema);
  const given = schema.example ?? real.example ?? real.examples?.[0] ?? real.default;
  if (given !== undefined) return given;
  const [first] = variants(real);
  if (first) return example(spec, first, depth);
  if (real.enum) return real.enum[0];
  if (DEEP_MAX < depth) return null;
  if (real.items) return [example(spec, real.items, depth + 1)];
  if (real.properties) {
    return Object.fromEntries(Object.entries(real.properties).map(([name, member]) => [name, sample(spec, name, member, depth + 1)]));
  }
  if (real.additionalProperties) return { VIP: example(spec, real.additionalProperties, depth + 1) };
  const type = [real.type].flat().find((it) => it !== "null");
  return { integer: Math.max(1, real.minimum ?? 1), number: 1, boolean: true, object: {} }[type] ?? SAMPLES[real.format] ?? "…";
}

/** Example values by the name of the member. */
const NAMED = { email: "fan@podo.kr", password: "a-long-passphrase", amount: 150_000, price: 150_000, grade: "VIP", number: "A-1", url: "https://example.com/hooks" };

function sample(spec, name, member, depth) {
  const value = example(spec, member, depth);
  const isPlain = value === "…" || value === 1;
  return isPlain && NAMED[name] !== undefined && typeof NAMED[name] === (value === 1 ? "number" : "string") ? NAMED[name] : value;
}

// The call as a curl command.

import { example, resolve } from "./schema.js";

export function curl(spec, path, method, operation) {
  const parameters = operation.parameters ?? [];
  const value = ({ name, schema }) => {
    const { type, format } = resolve(spec, schema ?? {});
    if (format === "uuid" || /Id$|^id$/.test(name)) return `$${shout(name)}`;
    return type === "integer" ? String(example(spec, schema)) : `$${shout(name)}`;
  };
  const inside = parameters.filter((it) => it.in === "path").reduce((text, it) => text.replace(`{${it.name}}`, `$${shout(it.name)}`), path);
  const query = parameters.filter((it) => it.in === "query" && it.required).map((it) => `${it.name}=${value(it)}`).join("&");
  const headers = parameters.filter((it) => it.in === "header").map((it) =>
    it.name === "Idempotency-Key" ? "Idempotency-Key: $(uuidgen)" : `${it.name}: $${shout(it.name)}`);
  if (operation.security?.length) headers.unshift("Authorization: Bearer $ACCESS_TOKEN");
  const body = operation.requestBody?.content?.["application/json"]?.schema;
  if (body) headers.push("Content-Type: application/json");
  const lines = [
    `curl${method === "get" ? "" : ` -X ${method.toUpperCase()}`} "${location.origin}${inside}${query ? `?${query}` : ""}"`,
    ...headers.map((header) => `-H "${header}"`),
    ...(body ? [`-d '${JSON.stringify(example(spec, body)).replaceAll("'", "'\\''")}'`] : []),
  ];
  return lines.join(" \\\n  ");
}

const shout = (name) => name.replace(/([a-z])([A-Z])/g, "$1_$2").replace(/\W+/g, "_").toUpperCase();

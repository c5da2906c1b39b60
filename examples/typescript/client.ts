// What both programs share: the typed client, and an error for every answer that isn't a success.

import createClient from "openapi-fetch";
import type { paths } from "./podo.js";

declare const process: { env: Record<string, string | undefined> };

const url = process.env["PODO_URL"] ?? "http://127.0.0.1:8080";

/** A client without a login. */
export const anyone = createClient<paths>({ baseUrl: url });

export function setting(name: string): string | undefined {
  return process.env[name] || undefined;
}

/** The body of a success; throws the problem of any other answer. */
export function ok<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.data === undefined) {
    throw new Error(`${answer.response.status} ${answer.response.url}: ${JSON.stringify(answer.error)}`);
  }
  return answer.data;
}

export function equal<T>(seen: T, expected: T): void {
  if (seen !== expected) throw new Error(`expected ${expected}, saw ${seen}`);
}

export async function logIn(email: string, password: string) {
  const { accessToken } = ok(await anyone.POST("/api/auth/login", { body: { email, password } }));
  return createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${accessToken}` } });
}

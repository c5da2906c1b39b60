// A stand-in for a log-in provider: OpenID Connect with discovery, a code with PKCE, and an ID token
// signed with a published key. It logs every browser in as `person` at once.

import { createHash, createSign, generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";

export const CLIENT = { id: "podo-client", secret: "podo-client-secret" };

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** `person` are claims: sub, email, email_verified, name. */
export async function openIdentityProvider(person) {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const codes = new Map();
  const pages = {
    "/.well-known/openid-configuration": () => ({
      issuer: url, authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token`, jwks_uri: `${url}/jwks`,
      userinfo_endpoint: `${url}/userinfo`, id_token_signing_alg_values_supported: ["RS256"], code_challenge_methods_supported: ["S256"] }),
    "/jwks": () => ({ keys: [{ ...publicKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: "key-1" }] }),
    "/userinfo": () => person,
    "/token": (form) => {
      const asked = codes.get(form.get("code"));
      codes.delete(form.get("code"));
      const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
      const isOurs = asked?.get("code_challenge") === challenge && form.get("client_secret") === CLIENT.secret;
      if (!isOurs) return null;
      const now = Math.floor(Date.now() / 1000);
      const claims = { ...person, iss: url, aud: CLIENT.id, nonce: asked.get("nonce"), iat: now, exp: now + 600 };
      const signed = `${part({ alg: "RS256", kid: "key-1", typ: "JWT" })}.${part(claims)}`;
      const signature = createSign("RSA-SHA256").update(signed).sign(privateKey, "base64url");
      return { access_token: randomUUID(), token_type: "Bearer", expires_in: 3600, id_token: `${signed}.${signature}` };
    },
  };
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, url);
    if (pathname === "/authorize") {
      const code = randomUUID();
      codes.set(code, searchParams);
      const back = `${searchParams.get("redirect_uri")}?${new URLSearchParams({ code, state: searchParams.get("state") })}`;
      return response.writeHead(302, { Location: back }).end();
    }
    const answer = pages[pathname]?.(new URLSearchParams(await bodyOf(request)));
    response.writeHead(answer ? 200 : 400, { "Content-Type": "application/json" }).end(JSON.stringify(answer ?? { error: "invalid_grant" }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A test that fails must not keep its process.
  server.unref();
  const url = `http://127.0.0.1:${server.address().port}`;
  return { url, close: () => server.close() };
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

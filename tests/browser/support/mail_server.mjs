// A stand-in for a mail server that takes every mail over SMTP, and a reader of what it took: Python's
// own parser of mails, which we did not write.

import { spawnSync } from "node:child_process";
import { createServer } from "node:net";

const PARSER = `
import email, email.policy, json, sys
mail = email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.default)
body = lambda kind: (lambda it: it.get_content() if it else None)(mail.get_body(preferencelist=(kind,)))
files = [[it.get_filename(), it.get_content_type()] for it in mail.iter_attachments()]
print(json.dumps({"subject": mail["Subject"], "to": mail["To"], "html": body("html"), "text": body("plain"), "files": files,
                  "defects": [str(it) for part in mail.walk() for it in part.defects]}))
`;

/** `url` is for `PODO_SMTP_URL`; `mails()` are the mails so far, parsed. */
export async function openMailServer() {
  const mails = [];
  const server = createServer((socket) => {
    let text = "";
    let isBody = false;
    socket.write("220 podo.example ESMTP\r\n");
    socket.setEncoding("latin1");
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      text += chunk;
      for (;;) {
        const end = text.indexOf(isBody ? "\r\n.\r\n" : "\r\n");
        if (end < 0) return;
        const found = text.slice(0, end);
        text = text.slice(end + (isBody ? 5 : 2));
        if (isBody) mails.push(parsed(`${found}\r\n`.replaceAll("\r\n..", "\r\n.")));
        const answer = isBody ? "250 taken" : answerTo(found.slice(0, 4).toUpperCase());
        isBody = answer.startsWith("354");
        socket.write(`${answer}\r\n`);
        if (answer.startsWith("221")) return socket.end();
      }
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A test that fails must not keep its process.
  server.unref();
  return { url: `smtp://127.0.0.1:${server.address().port}`, mails: () => mails, close: () => server.close() };
}

const answerTo = (verb) => ({ EHLO: "250-podo.example\r\n250 8BITMIME", DATA: "354 go on", QUIT: "221 bye" })[verb] ?? "250 OK";

function parsed(source) {
  const { stdout, stderr, status } = spawnSync("python3", ["-c", PARSER], { input: Buffer.from(source, "latin1"), encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

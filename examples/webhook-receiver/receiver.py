"""Receives Podo's webhooks and verifies their signatures (https://www.standardwebhooks.com).

PODO_WEBHOOK_SECRET is the secret (`whsec_…`) that the organiser got when the endpoint was created.
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# An older request may be a replay of a recorded one.
AGE_MAX_S = 5 * 60
BODY_MAX = 1024 * 1024


def is_genuine(secret, headers, body, now):
    """Whether the request was signed with this secret, and lately.

    The signature covers the id, the timestamp and the bytes of the body as they came: verify before
    you parse. After a rotation of the secret a request has two signatures, and one has to match.
    """
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(now - int(timestamp)) > AGE_MAX_S:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    signatures = headers.get("webhook-signature", "").split(" ")
    # compare_digest takes the same time wherever two signatures differ.
    return any(hmac.compare_digest(expected.encode(), signature.encode()) for signature in signatures)


class Receiver(BaseHTTPRequestHandler):
    secret = ""
    seen = set()

    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        if length > BODY_MAX:
            return self.answer(413)
        body = self.rfile.read(length)
        if not is_genuine(self.secret, self.headers, body, time.time()):
            print("refused: the signature is wrong or old", flush=True)
            return self.answer(401)
        # Podo sends again until it gets a 2xx: the id tells a repeat. Real receivers keep it in their
        # database, in the transaction that does the work.
        message_id = self.headers["webhook-id"]
        if message_id not in self.seen:
            self.seen.add(message_id)
            message = json.loads(body)
            print(f"{message['type']} {json.dumps(message['data'])}", flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8090)
    arguments = parser.parse_args()
    Receiver.secret = os.environ["PODO_WEBHOOK_SECRET"]
    server = ThreadingHTTPServer(("127.0.0.1", arguments.port), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

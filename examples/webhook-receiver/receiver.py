"""Receives Podo's webhooks and verifies their signatures (https://www.standardwebhooks.com).

PODO_WEBHOOK_SECRET is the secret (`whsec_…`) that the organiser got when the endpoint was created.
With --members FILE, a JSON object of membership numbers and names, it also says who is a member.
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


def membership(members, asked):
    """The answer to a question of a sale phase: a member has this number and this name."""
    number = asked.get("membershipNumber", "")
    if members.get(number) == asked["name"]:
        return {"eligible": True, "membershipNumber": number}
    return {"eligible": False}


class Receiver(BaseHTTPRequestHandler):
    secret = ""
    members = {}
    seen = set()

    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        if length > BODY_MAX:
            return self.answer(413)
        body = self.rfile.read(length)
        if not is_genuine(self.secret, self.headers, body, time.time()):
            print("refused: the signature is wrong or old", flush=True)
            return self.answer(401)
        message = json.loads(body)
        if message["type"] == "MembershipAsked":
            return self.answer(200, membership(self.members, message["data"]))
        # Podo sends again until it gets a 2xx: the id tells a repeat. Real receivers keep it in their
        # database, in the transaction that does the work.
        message_id = self.headers["webhook-id"]
        if message_id not in self.seen:
            self.seen.add(message_id)
            print(f"{message['type']} {json.dumps(message['data'])}", flush=True)
        self.answer(204)

    def answer(self, status, body=None):
        self.send_response(status)
        if body is None:
            return self.end_headers()
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--members", help="a JSON file: membership numbers and names")
    arguments = parser.parse_args()
    Receiver.secret = os.environ["PODO_WEBHOOK_SECRET"]
    if arguments.members:
        with open(arguments.members, encoding="utf-8") as file:
            Receiver.members = json.load(file)
    server = ThreadingHTTPServer(("127.0.0.1", arguments.port), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

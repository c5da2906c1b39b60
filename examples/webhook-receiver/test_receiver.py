"""`python3 -m unittest`: the example that the standard's own libraries test themselves with."""

import unittest

from receiver import is_genuine, membership

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = b'{"test": 2432232314}'
NOW = 1_614_265_330


def headers(**changes):
    sent = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": str(NOW),
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    return sent | {name.replace("_", "-"): value for name, value in changes.items()}


class Signatures(unittest.TestCase):
    def test_the_right_one_is_accepted(self):
        self.assertTrue(is_genuine(SECRET, headers(), BODY, NOW))

    def test_one_of_two_is_enough(self):
        both = f"v1,{'A' * 43}= {headers()['webhook-signature']}"
        self.assertTrue(is_genuine(SECRET, headers(webhook_signature=both), BODY, NOW))

    def test_any_change_is_refused(self):
        self.assertFalse(is_genuine(SECRET, headers(), BODY + b" ", NOW))
        self.assertFalse(is_genuine(SECRET, headers(webhook_id="msg_other"), BODY, NOW))
        self.assertFalse(is_genuine(SECRET, headers(webhook_timestamp=str(NOW + 1)), BODY, NOW))
        self.assertFalse(is_genuine(SECRET, headers(webhook_signature=""), BODY, NOW))
        self.assertFalse(is_genuine("whsec_AAAA", headers(), BODY, NOW))

    def test_an_old_one_is_refused(self):
        self.assertFalse(is_genuine(SECRET, headers(), BODY, NOW + 301))
        self.assertFalse(is_genuine(SECRET, headers(webhook_timestamp="soon"), BODY, NOW))


class Members(unittest.TestCase):
    def test_a_member_has_the_number_and_the_name(self):
        members = {"P-1": "김포도"}
        known = {"membershipNumber": "P-1", "name": "김포도"}
        self.assertEqual(membership(members, known), {"eligible": True, "membershipNumber": "P-1"})
        for asked in [known | {"name": "박포도"}, known | {"membershipNumber": "P-2"}, {"email": "a@b.kr", "name": "김포도"}]:
            self.assertEqual(membership(members, asked), {"eligible": False})


if __name__ == "__main__":
    unittest.main()

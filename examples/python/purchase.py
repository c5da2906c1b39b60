"""Buys two tickets and cancels them, with a client that openapi-python-client generated from
docs/openapi.json.
"""

import os
import time
from uuid import UUID

from podo_client import AuthenticatedClient, Client
from podo_client.api.accounts import log_in, sign_up
from podo_client.api.booking import best, cancel_reservation
from podo_client.api.catalog import list_events, show_event
from podo_client.api.payment import confirm_payment, request
from podo_client.api.queue import enter, status
from podo_client.api.wallet import charge
from podo_client.models import (
    BestBody,
    CancelReservationBody,
    ChargeBody,
    ConfirmPaymentBody,
    Confirmed,
    LogInBody,
    PaymentMethod,
    Problem,
    QueueScheduleBody,
    RequestBody,
    ScheduleStatus,
    SignUpBody,
)

URL = os.environ.get("PODO_URL", "http://127.0.0.1:8080")
anyone = Client(base_url=URL)


def ok(answer):
    """The body of a success; any other answer ends the program."""
    if answer is None or isinstance(answer, Problem):
        raise SystemExit(f"failed: {answer}")
    return answer


def find_date():
    """The date in PODO_SCHEDULE, or the first one on sale."""
    if named := os.environ.get("PODO_SCHEDULE"):
        return UUID(named)
    found = ok(list_events.sync(client=anyone, schedule_status=ScheduleStatus.ONGOING))
    if not found.items:
        raise SystemExit("no date is on sale yet")
    dates = ok(show_event.sync(found.items[0].id, client=anyone)).schedules
    return next(date.id for date in dates if date.status == ScheduleStatus.ONGOING)


schedule = find_date()
email, password = f"python-{time.time_ns()}@podo.example", "sweet red grapes"
ok(sign_up.sync(client=anyone, body=SignUpBody(email=email, password=password, name="Kim Snake")))
token = ok(log_in.sync(client=anyone, body=LogInBody(email=email, password=password))).access_token
fan = AuthenticatedClient(base_url=URL, token=token)

# The queue token proves the place; poll_after_ms says when to ask again.
place = ok(enter.sync(client=fan, body=QueueScheduleBody(schedule_id=schedule)))
queue_token = place.token
while not place.entry_token:
    time.sleep(place.poll_after_ms / 1000)
    place = ok(status.sync(client=fan, schedule_id=schedule, queue_token=queue_token))

# After a lost reply, send the same request with the same key again: it has no second effect.
run = time.time_ns()
wanted = BestBody(schedule_id=schedule, count=2)
held = ok(best.sync(client=fan, body=wanted, idempotency_key=f"seats-{run}", entry_token=place.entry_token))
ok(charge.sync(client=fan, body=ChargeBody(amount=held.amount), idempotency_key=f"charge-{run}"))
asked = RequestBody(reservation_id=held.reservation_id, method=PaymentMethod.WALLET)
ready = ok(request.sync(client=fan, body=asked, idempotency_key=f"request-{run}"))
sent = ConfirmPaymentBody(payment_id=ready.payment_id, amount=ready.amount)
paid = ok(confirm_payment.sync(client=fan, body=sent, idempotency_key=f"confirm-{run}"))
assert isinstance(paid, Confirmed) and len(paid.tickets) == 2, paid
reason = CancelReservationBody(reason="Only trying")
canceled = ok(cancel_reservation.sync(held.reservation_id, client=fan, body=reason, idempotency_key=f"cancel-{run}"))
assert canceled.status == "REFUNDED", canceled
print(f"Python: bought and canceled {paid.reservation.booking_number}")

"""Buys a ticket through a client that openapi-python-client generated from docs/openapi.json.

The TypeScript client has made the event. A field or a call that is not as the document says fails.
"""

import os
import time

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

URL = os.environ["PODO_URL"]
anyone = Client(base_url=URL)


def ok(answer):
    if answer is None or isinstance(answer, Problem):
        raise SystemExit(f"not as documented: {answer}")
    return answer


found = ok(list_events.sync(client=anyone, query="generated", schedule_status=ScheduleStatus.ONGOING))
schedule = ok(show_event.sync(found.items[0].id, client=anyone)).schedules[0].id

email, password = f"python-{time.time_ns()}@podo.example", "sweet red grapes"
ok(sign_up.sync(client=anyone, body=SignUpBody(email=email, password=password, name="Kim Snake")))
token = ok(log_in.sync(client=anyone, body=LogInBody(email=email, password=password))).access_token
fan = AuthenticatedClient(base_url=URL, token=token)

place = ok(enter.sync(client=fan, body=QueueScheduleBody(schedule_id=schedule)))
queue_token = place.token
while not place.entry_token:
    time.sleep(0.2)
    place = ok(status.sync(client=fan, schedule_id=schedule, queue_token=queue_token))

wanted = BestBody(schedule_id=schedule, count=2)
held = ok(best.sync(client=fan, body=wanted, idempotency_key="seats", entry_token=place.entry_token))
ok(charge.sync(client=fan, body=ChargeBody(amount=held.amount), idempotency_key="charge"))
asked = RequestBody(reservation_id=held.reservation_id, method=PaymentMethod.WALLET)
ready = ok(request.sync(client=fan, body=asked, idempotency_key="request"))
sent = ConfirmPaymentBody(payment_id=ready.payment_id, amount=ready.amount)
paid = ok(confirm_payment.sync(client=fan, body=sent, idempotency_key="confirm"))
assert isinstance(paid, Confirmed) and len(paid.tickets) == 2, paid
reason = CancelReservationBody(reason="Only trying")
canceled = ok(cancel_reservation.sync(held.reservation_id, client=fan, body=reason, idempotency_key="cancel"))
assert canceled.status == "REFUNDED", canceled
print(f"Python: bought and canceled {paid.reservation.booking_number}")

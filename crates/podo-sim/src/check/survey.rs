//! Rare moments that the stored data shows afterwards.

use crate::check::coverage::Coverage;
use crate::world::World;

/// Each query returns a row per occurrence.
const SURVEY: &[(Coverage, &str)] = &[
    (
        Coverage::HoldTakenOver,
        "select 1 from reservation_history e join reservation_history h
            on h.created_at = e.created_at and h.version = 1
          where e.status = 'EXPIRED'",
    ),
    (
        Coverage::LateApproval,
        "select 1 from reservation_history h join reservations r on r.id = h.reservation_id
          where h.status = 'CONFIRMED' and r.hold_expires_at <= h.created_at",
    ),
    (
        Coverage::SecondCard,
        "select 1 from reservations where status = 'CONFIRMED' and retry_window_given",
    ),
    (Coverage::OutcomeUnknown, "select 1 from payment_history where status = 'UNKNOWN'"),
    (
        Coverage::RefundAnswerLost,
        "select 1 from refunds where status = 'REFUNDED' and attempts > 1",
    ),
    (Coverage::OfferTaken, "select 1 from standbys where state = 'TAKEN'"),
    (
        Coverage::CalledOffWhilePaying,
        "select 1 from refunds f join payments p on p.id = f.payment_id
                                 join reservations r on r.id = p.reservation_id
          where f.reason = 'SHOW_CANCELED' and r.booking_number is null",
    ),
    (
        Coverage::CodeCameBack,
        "select 1 from promotion_codes k
          where k.n_used < (select count(*) from reservations r where r.promotion_id = k.id)",
    ),
    (
        Coverage::DrawTaken,
        "select 1 from draw_applications a join reservations r on r.id = a.reservation_id
          where a.state = 'TAKEN' and r.booking_number is not null",
    ),
    (Coverage::DrawLapsed, "select 1 from draw_applications where state = 'LAPSED'"),
    (
        Coverage::DrawMovedOn,
        "select 1 from draw_applications where not wins and reservation_id is not null",
    ),
    (Coverage::DrawPassed, "select 1 from draw_applications where state = 'PASSED'"),
    (
        Coverage::AllocationReleasedAtItsTime,
        "select 1 from allocations where release_at <= released_at",
    ),
    (
        Coverage::KeptSeatIssued,
        "select 1 from allocation_seats a join reservation_seats c
            on c.schedule_id = a.schedule_id and c.seat_index = a.seat_index and c.active",
    ),
    (
        Coverage::KeptAgain,
        "select 1 from allocation_seats a join allocations k on k.id = a.allocation_id
           join reservation_seats c
             on c.schedule_id = a.schedule_id and c.seat_index = a.seat_index
           join reservations r on r.id = c.reservation_id
          where r.channel <> 'FAN' and not c.active and k.updated_at <= r.created_at",
    ),
    (
        Coverage::CanceledAfterMove,
        "select 1 from reseats m join reservations r on r.id = m.reservation_id
          where r.status = 'CANCELED'",
    ),
    (
        Coverage::DepositPaid,
        "select 1 from payments where method = 'VIRTUAL_ACCOUNT' and captured = amount",
    ),
    (
        Coverage::DepositMissed,
        "select 1 from payments where status = 'CANCELED' and failure_reason = 'DEPOSIT_EXPIRED'",
    ),
    (Coverage::Declined, "select 1 from payments where status = 'FAILED'"),
    (Coverage::WrongAmount, "select 1 from payments where captured not in (0, amount)"),
    (Coverage::RefundDue, "select 1 from refunds where reason = 'TOO_LATE'"),
    (Coverage::Canceled, "select 1 from reservations where status = 'CANCELED'"),
    (Coverage::PaidFromWallet, "select 1 from payments where method = 'WALLET' and captured > 0"),
    (
        Coverage::ReconcilerConfirmed,
        "select 1 from payments p join payment_history h on h.payment_id = p.id
          where h.status = 'CAPTURED' and p.requested_at + 11000 < h.created_at",
    ),
];

pub(super) fn survey(world: &World) {
    for (coverage, sql) in SURVEY {
        for _ in world.store.look(sql, None) {
            world.saw(*coverage);
        }
    }
}

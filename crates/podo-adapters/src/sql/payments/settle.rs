//! The only exit from `PAYING`: the confirm call, the webhook and the reconciler all end here.

pub(super) mod deposits;
pub(super) mod refund_accounts;

use crate::sql::booking::reservations;
use crate::sql::booking::reservations::{Booking, give_back, json_or_null};
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Value, params};
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::Outgoing;
use crate::sql::operations::idempotency;
use crate::sql::payments::{PaymentRow, Purchase, load_purchase, name_desk, store};
use podo_app::booking::port::reservations::{Freed, ReservedSeat};
use podo_app::operations::idempotency::CONFIRM;
use podo_app::operations::port::idempotency::{IdempotentAnswer, StoredAnswer};
use podo_app::payments::port::deposits::AwaitingDeposit;
use podo_app::payments::port::payments::{
    Confirmed, ConfirmedReservation, NewTicket, SettlePayment, Settled, Sold,
};
use podo_app::{Error, Result};
use podo_domain::booking::reservations::{Next, Reservation, ReservationStatus, booking_number};
use podo_domain::booking::seats::SeatState;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::deposits::TOO_MUCH;
use podo_domain::payments::refunds::RefundTo;
use podo_domain::payments::{PaymentMethod, PaymentStatus, SHOW_CANCELED, Settlement, settle};
use podo_domain::waiting_room::PlaceNumber;
use podo_domain::{
    EventId, PaymentId, RefundId, Refusal, ScheduleId, SeatId, TicketId, Timestamp, Won,
};
use serde_json::json;

pub(crate) async fn apply(tx: &mut dyn Tx, command: &SettlePayment) -> Result<Settled> {
    let found = load_purchase(tx, command.payment).await?;
    let purchase = found.ok_or(Refusal::NotFound)?;
    let Purchase { row, reservation, date, .. } = &purchase;
    let (now, schedule) = (command.now, reservation.schedule);
    match settle(&row.payment, reservation, *date, command.outcome.clone(), now) {
        Settlement::Nothing => Ok(Settled::Before(row.payment.status)),
        Settlement::StillUnknown(payment) => {
            store(tx, &row.payment, &payment, now).await?;
            Ok(Settled::StillUnknown)
        }
        Settlement::Issued { payment, account } => {
            store(tx, &row.payment, &payment, now).await?;
            keep_answer(tx, command).await?;
            let issued = deposits::issue(tx, &purchase, &account, now).await?;
            let body = serde_json::to_string(&issued.awaiting).map_err(Error::broken)?;
            answer(tx, row, StoredAnswer { status: AwaitingDeposit::STATUS, body }).await?;
            Ok(Settled::Awaiting(Box::new(issued)))
        }
        Settlement::Received { received } => {
            deposits::note_received(tx, row.payment.id, received, now).await?;
            Ok(Settled::Before(row.payment.status))
        }
        Settlement::Confirmed { payment, reservation, excess } => {
            store(tx, &row.payment, &payment, now).await?;
            keep_answer(tx, command).await?;
            deposits::end(tx, row, payment.captured, now).await?;
            let sold = sell_and_answer(tx, &purchase, &reservation, now).await?;
            if !excess.is_zero() {
                store(tx, &payment, &payment.refund_due(excess)?, now).await?;
                owe_all(tx, row, excess, TOO_MUCH, now).await?;
            }
            Ok(Settled::Sold(Box::new(sold)))
        }
        Settlement::Excess { payment, amount } => {
            store(tx, &row.payment, &payment, now).await?;
            deposits::note_received(tx, payment.id, payment.captured, now).await?;
            owe_all(tx, row, amount, TOO_MUCH, now).await?;
            Ok(Settled::Before(payment.status))
        }
        Settlement::Declined { payment, reservation, reason } => {
            store(tx, &row.payment, &payment, now).await?;
            keep_answer(tx, command).await?;
            deposits::end(tx, row, Won::ZERO, now).await?;
            let is_missed = is_missed(row, &reservation);
            let freed = retreat(tx, reservation, now).await?;
            decline(tx, row, &reason, now).await?;
            if is_missed {
                deposits::tell(tx, row.payment.id, MessageKind::DepositMissed, now).await?;
            }
            Ok(Settled::Declined { reason, freed })
        }
        Settlement::RefundDue { payment, reservation, amount, reason } => {
            store(tx, &row.payment, &payment, now).await?;
            keep_answer(tx, command).await?;
            deposits::end(tx, row, amount, now).await?;
            let freed = retreat(tx, reservation, now).await?;
            owe_all(tx, row, amount, reason, now).await?;
            decline(tx, row, reason, now).await?;
            if reason == SHOW_CANCELED {
                count_in_run(tx, schedule, amount, now).await?;
            }
            Ok(Settled::RefundDue { freed, reason })
        }
    }
}

async fn sell_and_answer(
    tx: &mut dyn Tx,
    purchase: &Purchase,
    reservation: &Reservation,
    now: Timestamp,
) -> Result<Sold> {
    let sale = Sale { payment: purchase.row.payment.id, event: purchase.event, reservation };
    let sold = sell(tx, sale, now).await?;
    let body = serde_json::to_string(&sold.confirmed).map_err(Error::broken)?;
    answer(tx, &purchase.row, StoredAnswer { status: Confirmed::STATUS, body }).await?;
    Ok(sold)
}

/// A deposit that didn't come in time, and not an order that was canceled.
fn is_missed(row: &PaymentRow, next: &Next) -> bool {
    row.payment.status == PaymentStatus::AwaitingDeposit
        && matches!(next, Next::To(next) if next.status == ReservationStatus::Expired)
}

/// Money that bought nothing goes back where it came from.
async fn owe_all(
    tx: &mut dyn Tx,
    row: &PaymentRow,
    amount: Won,
    reason: &str,
    now: Timestamp,
) -> Result<()> {
    let refund = RefundId::new(tx.rng().id(now));
    let (fee, seats, to) = (Won::ZERO, Vec::new(), RefundTo::Original);
    owe(tx, row, &Owed { refund, amount, fee, seats, to, reason }, now).await
}

/// Counts a purchase that the refund run of its date still had to wait for.
async fn count_in_run(
    tx: &mut dyn Tx,
    schedule: ScheduleId,
    amount: Won,
    now: Timestamp,
) -> Result<()> {
    let sql = "update refund_runs set n_refunded = n_refunded + 1, amount = amount + $2,
                                      updated_at = $3
                where schedule_id = $1";
    Ok(tx.add(sql, vec![params![schedule, amount, now].to_vec()]).await?)
}

async fn keep_answer(tx: &mut dyn Tx, command: &SettlePayment) -> Result<()> {
    let sql = "update payments set gateway_answer = $2, updated_at = $3,
                                   gateway_ref = coalesce($4, gateway_ref),
                                   paid_with = coalesce($5, paid_with)
                where id = $1";
    let (answer, reference) = (command.answer.clone(), command.reference.clone());
    let paid_with = command.paid_with.map(PaymentMethod::as_str);
    tx.execute(sql, params![command.payment, answer, command.now, reference, paid_with]).await?;
    Ok(())
}

/// Stores the answer of the confirm call that started the payment.
async fn answer(tx: &mut dyn Tx, row: &PaymentRow, answer: StoredAnswer) -> Result<()> {
    match &row.confirm_key {
        Some(key) => idempotency::complete(tx, row.user, CONFIRM, key, answer).await,
        None => Ok(()),
    }
}

async fn decline(tx: &mut dyn Tx, row: &PaymentRow, reason: &str, now: Timestamp) -> Result<()> {
    let sql = "update payments set failure_reason = $2, updated_at = $3 where id = $1";
    tx.execute(sql, params![row.payment.id, reason, now]).await?;
    let body = json!({ "reason": reason }).to_string();
    answer(tx, row, StoredAnswer { status: 402, body }).await
}

/// A reservation without its payment: held again, or ended.
async fn retreat(tx: &mut dyn Tx, next: Next, now: Timestamp) -> Result<Option<Freed>> {
    match next {
        Next::Same => Ok(None),
        Next::To(next) if next.status == ReservationStatus::Held => {
            let kind = MessageKind::ReservationDeclined;
            let seats = reservations::store(tx, &next, kind, now).await?;
            let until = Some(next.hold_expires_at);
            reservations::set_seats(tx, &next, &seats, SeatState::Held, until).await?;
            Ok(None)
        }
        Next::To(next) if next.status == ReservationStatus::Canceled => {
            give_back(tx, &next, MessageKind::ReservationCanceled, now).await.map(Some)
        }
        Next::To(next) => {
            give_back(tx, &next, MessageKind::ReservationExpired, now).await.map(Some)
        }
    }
}

/// An owed refund.
pub(super) struct Owed<'c> {
    pub(super) refund: RefundId,
    pub(super) amount: Won,
    /// The fee that the event keeps.
    pub(super) fee: Won,
    /// The canceled seats; none if the charge bought nothing.
    pub(super) seats: Vec<SeatId>,
    pub(super) to: RefundTo,
    pub(super) reason: &'c str,
}

/// Queues a refund, which the refund job or the wallet makes.
pub(super) async fn owe(
    tx: &mut dyn Tx,
    row: &PaymentRow,
    owed: &Owed<'_>,
    now: Timestamp,
) -> Result<()> {
    // This transaction has locked the payment's row, so the count can't change concurrently.
    let sql = "insert into refunds (id, payment_id, reservation_id, user_id, amount, fee, seats,
                                    destination, status, reason, next_at, created_at, updated_at,
                                    number)
               values ($1, $2, $3, $4, $5, $6, $7, $8, 'DUE', $9, $10, $10, $10,
                       (select coalesce(max(number), 0) + 1 from refunds where payment_id = $2))";
    let seats = serde_json::to_string(&owed.seats).map_err(Error::broken)?;
    let values = params![
        owed.refund,
        row.payment.id,
        row.reservation,
        row.user,
        owed.amount,
        owed.fee,
        Value::Json(seats),
        owed.to.as_str(),
        owed.reason,
        now
    ];
    tx.execute(sql, values).await?;
    let mut payload = json!({
        "refundId": owed.refund, "paymentId": row.payment.id, "userId": row.user,
        "amount": owed.amount, "currency": row.currency,
    });
    name_desk(&mut payload, row.payment.method);
    let message = Outgoing {
        kind: MessageKind::RefundDue,
        aggregate: owed.refund.uuid(),
        seq: 1,
        key: row.reservation.uuid(),
        payload: &payload,
    };
    outbox::push(tx, message, now).await?;
    match (row.payment.method, owed.to) {
        (PaymentMethod::VirtualAccount, RefundTo::Original) => {
            refund_accounts::ask_for(tx, row.payment.id, now).await
        }
        _ => Ok(()),
    }
}

/// A paid reservation, as the rule decided it.
pub(super) struct Sale<'s> {
    pub(super) payment: PaymentId,
    pub(super) event: EventId,
    pub(super) reservation: &'s Reservation,
}

/// Completes the purchase: sells the seats, creates the tickets, ends the entry.
pub(super) async fn sell(tx: &mut dyn Tx, sale: Sale<'_>, now: Timestamp) -> Result<Sold> {
    let number = free_booking_number(tx, now).await?;
    let Sale { payment, event, reservation: confirmed } = sale;
    let booking = Booking { number: &number, payment, event };
    let seats = reservations::store_paid(tx, confirmed, &booking, now).await?;
    reservations::set_seats(tx, confirmed, &seats, SeatState::Sold, None).await?;
    let tickets = issue_tickets(tx, confirmed, &seats, now).await?;
    let (room, place) = (confirmed.room(), confirmed.place);
    end_entry(tx, room, place, now).await?;
    let sold = reservations::freed(confirmed, &seats);
    let confirmed = Confirmed {
        payment_id: payment,
        status: PaymentStatus::Captured,
        reservation: ConfirmedReservation {
            id: confirmed.id,
            status: confirmed.status,
            booking_number: number,
        },
        tickets,
    };
    Ok(Sold { seats: sold, room, place, confirmed })
}

/// An unused booking number.
async fn free_booking_number(tx: &mut dyn Tx, now: Timestamp) -> Result<String> {
    let taken = "select 1 from reservations where booking_number = $1";
    loop {
        let number = booking_number(now, tx.rng().number());
        if tx.row(taken, params![&number]).await?.is_none() {
            return Ok(number);
        }
    }
}

async fn issue_tickets(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    seats: &[ReservedSeat],
    now: Timestamp,
) -> Result<Vec<NewTicket>> {
    let sql = "insert into tickets
                 (id, reservation_id, user_id, schedule_id, seat_index, seat_number, grade, status,
                  code, created_at, updated_at, ticket_type)
               values ($1, $2, $3, $4, $5, $6, $7, 'VALID', $8, $9, $9, $10)";
    let mut tickets = Vec::with_capacity(seats.len());
    let mut sets = Vec::with_capacity(seats.len());
    for seat in seats {
        let id = TicketId::new(tx.rng().id(now));
        let mut code = [0_u8; 16];
        tx.rng().fill(&mut code);
        let values = params![
            id,
            reservation.id,
            reservation.user,
            reservation.schedule,
            seat.id.index(),
            &seat.number,
            &seat.grade,
            code.as_slice(),
            now,
            json_or_null(seat.ticket_type())?
        ];
        sets.push(values.to_vec());
        tickets.push(NewTicket { id, seat_number: seat.number.clone() });
    }
    tx.add(sql, sets).await?;
    Ok(tickets)
}

/// Frees the entry's slot for the next fan. The condition is negated so that it doesn't match the
/// partial index of all live entries.
async fn end_entry(
    tx: &mut dyn Tx,
    room: ScheduleId,
    place: PlaceNumber,
    now: Timestamp,
) -> Result<()> {
    let sql = "update queue_history set state = 'EXPIRED', ended_reason = 'PAID', updated_at = $3
                where schedule_id = $1 and place_number = $2
                  and state not in ('WAITING', 'EXPIRED')";
    Ok(tx.add(sql, vec![params![room, place, now].to_vec()]).await?)
}

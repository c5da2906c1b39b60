//! Cancels a purchase in full or by seat: frees seats, voids tickets, refunds money.

use crate::sql::booking::reservations;
use crate::sql::booking::reservations::free_seats;
use crate::sql::catalog::promotions::return_use;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::Outgoing;
use crate::sql::operations::idempotency;
use crate::sql::payments::refunds::cancel_terms;
use crate::sql::payments::settle::{Owed, owe};
use crate::sql::payments::wallets;
use crate::sql::payments::wallets::Move;
use crate::sql::payments::{PaymentRow, Purchase, load_purchase, name_desk, store};
use podo_app::Result;
use podo_app::booking::port::reservations::{Freed, ReservedSeat};
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::payments::{CancelPayment, Canceled};
use podo_domain::booking::reservations::{Next, Reservation, ReservationStatus};
use podo_domain::booking::seats::SeatPick;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::refunds::{CancelTerms, PartQuote, RefundTo, quote_part};
use podo_domain::payments::wallet::Change;
use podo_domain::payments::{Payee, Payment, PaymentMethod, SHOW_CANCELED};
use podo_domain::{PaymentId, RefundId, Refusal, SeatId, Timestamp, Won};
use serde_json::json;

pub(super) async fn cancel(
    tx: &mut dyn Tx,
    command: &CancelPayment,
) -> Result<Idempotent<(Canceled, Freed)>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let paid = load_paid(tx, command.payment).await?;
    if paid.row.user != command.user {
        return Err(Refusal::NotFound.into());
    }
    paid.refuse_unless_paid()?;
    // The desk gives back what it took.
    if paid.row.payment.method == PaymentMethod::BoxOffice {
        return Err(Refusal::CancelClosed.into());
    }
    let terms = cancel_terms(tx, &paid, command.now).await?;
    let given = GivenBack {
        seats: paid.choose(&command.seats)?,
        terms,
        refund: command.refund,
        reason: &command.reason,
        to: command.to,
        by: GivenBy::Fan,
        now: command.now,
    };
    let done = give_back(tx, paid, given).await?;
    idempotency::store(tx, &command.key, Some(command.payment.uuid()), &done.0, command.now)
        .await?;
    Ok(Idempotent::Fresh(done))
}

/// A payment with the reservation and the seats that it paid for.
pub(crate) struct Paid {
    pub(crate) row: PaymentRow,
    pub(crate) reservation: Reservation,
    pub(crate) seats: Vec<ReservedSeat>,
}

pub(crate) async fn load_paid(tx: &mut dyn Tx, payment: PaymentId) -> Result<Paid> {
    let found = load_purchase(tx, payment).await?;
    let Purchase { row, reservation, .. } = found.ok_or(Refusal::NotFound)?;
    let seats = reservations::seats_of(tx, reservation.id, reservation.schedule).await?;
    Ok(Paid { row, reservation, seats })
}

impl Paid {
    /// A card may be captured for a reservation that another payment bought.
    pub(crate) fn refuse_unless_paid(&self) -> Result<()> {
        match self.reservation.cancel()? {
            Next::Same => Err(Refusal::AlreadyCanceled.into()),
            // Free tickets are given back without money.
            Next::To(_)
                if self.row.payment.refundable().is_zero()
                    && !self.reservation.amount.is_zero() =>
            {
                Err(Refusal::NothingToRefund.into())
            }
            Next::To(_) => Ok(()),
        }
    }

    /// The requested seats, or all.
    pub(crate) fn choose(&self, asked: &[SeatId]) -> Result<Vec<ReservedSeat>> {
        if asked.is_empty() {
            return Ok(self.seats.clone());
        }
        let pick = SeatPick::new(self.reservation.schedule, asked)?;
        let find = |id: SeatId| self.seats.iter().find(|seat| seat.id == id).cloned();
        pick.seats().map(|id| Ok(find(id).ok_or(Refusal::ForeignSeat)?)).collect()
    }

    /// What the cancellation of these seats gives back and keeps. Previews and refunds both ask
    /// here, so that they agree.
    pub(crate) fn quote(&self, given: &[ReservedSeat], terms: CancelTerms) -> PartQuote {
        let is_given = |seat: &&ReservedSeat| given.iter().any(|other| other.id == seat.id);
        let left: Vec<_> =
            self.seats.iter().filter(|seat| !is_given(seat)).map(ReservedSeat::paid).collect();
        let given: Vec<_> = given.iter().map(ReservedSeat::paid).collect();
        quote_part(&given, &left, self.reservation.order_fee, terms)
    }
}

/// Who cancels. It decides whether a used or transferred ticket blocks the cancellation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum GivenBy {
    Fan,
    House,
}

pub(crate) struct GivenBack<'c> {
    pub(crate) seats: Vec<ReservedSeat>,
    pub(crate) terms: CancelTerms,
    pub(crate) refund: RefundId,
    pub(crate) reason: &'c str,
    pub(crate) to: RefundTo,
    pub(crate) by: GivenBy,
    pub(crate) now: Timestamp,
}

/// Frees the seats and queues the refund; a wallet gets it at once.
pub(crate) async fn give_back(
    tx: &mut dyn Tx,
    paid: Paid,
    given: GivenBack<'_>,
) -> Result<(Canceled, Freed)> {
    let now = given.now;
    let part = paid.quote(&given.seats, given.terms);
    let quote = part.quote;
    if quote.refund.is_zero() {
        return give_back_free(tx, paid, given, part).await;
    }
    let to = match paid.row.payment.method.payee() {
        Payee::BoxOffice => RefundTo::Original,
        Payee::Wallet | Payee::Gateway => given.to,
    };
    let due = paid.row.payment.refund_due(quote.refund)?;
    store(tx, &paid.row.payment, &due, now).await?;
    let owed = Owed {
        refund: given.refund,
        amount: quote.refund,
        fee: quote.fee,
        seats: given.seats.iter().map(|seat| seat.id).collect(),
        to,
        reason: given.reason,
    };
    owe(tx, &paid.row, &owed, now).await?;
    void_tickets(tx, &paid.reservation, &given).await?;
    let (status, freed) = free(tx, &paid, &given, part).await?;
    let row = PaymentRow { payment: due, ..paid.row };
    let after = match (row.payment.method.payee(), to) {
        (Payee::Gateway, RefundTo::Original) => row.payment,
        // The refund run of a called-off date can't hand out cash: organisers resolve each refund.
        (Payee::BoxOffice, _) if given.reason == SHOW_CANCELED => row.payment,
        (Payee::BoxOffice, _) => {
            let by_hand = "update refunds set by_hand = $2, updated_at = $3 where id = $1";
            tx.execute(by_hand, params![given.refund, true, now]).await?;
            pay_back(tx, &row, given.refund, to, quote.refund, now).await?
        }
        (Payee::Wallet, _) | (Payee::Gateway, RefundTo::Wallet) => {
            pay_back(tx, &row, given.refund, given.to, quote.refund, now).await?
        }
    };
    let answer = Canceled {
        payment_id: after.id,
        status: after.status,
        reservation_id: paid.reservation.id,
        reservation_status: status,
        refund_id: Some(given.refund),
        refund_amount: quote.refund,
        fee: quote.fee,
        currency: row.currency,
        refund_to: to,
        seat_ids: owed.seats,
    };
    Ok((answer, freed))
}

/// Free tickets are given back without a refund.
async fn give_back_free(
    tx: &mut dyn Tx,
    paid: Paid,
    given: GivenBack<'_>,
    part: PartQuote,
) -> Result<(Canceled, Freed)> {
    void_tickets(tx, &paid.reservation, &given).await?;
    let (status, freed) = free(tx, &paid, &given, part).await?;
    let mut payment = paid.row.payment;
    if status == ReservationStatus::Canceled
        && let Some(ended) = payment.ended_free()
    {
        store(tx, &payment, &ended, given.now).await?;
        payment = ended;
    }
    let answer = Canceled {
        payment_id: payment.id,
        status: payment.status,
        reservation_id: paid.reservation.id,
        reservation_status: status,
        refund_id: None,
        refund_amount: part.quote.refund,
        fee: part.quote.fee,
        currency: paid.row.currency,
        refund_to: given.to,
        seat_ids: given.seats.iter().map(|seat| seat.id).collect(),
    };
    Ok((answer, freed))
}

/// Voids the tickets of these seats. A used or transferred one stays, unless the organiser cancels.
async fn void_tickets(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    given: &GivenBack<'_>,
) -> Result<()> {
    let by_house = "update tickets set status = 'VOID', updated_at = $3
                     where reservation_id = $1 and seat_index = $2 and status <> 'VOID'";
    let by_fan = "update tickets set status = 'VOID', updated_at = $3
                   where reservation_id = $1 and seat_index = $2 and status = 'VALID'
                     and user_id = $4";
    for seat in &given.seats {
        let (id, index) = (reservation.id, seat.id.index());
        let n_void = match given.by {
            GivenBy::House => tx.execute(by_house, params![id, index, given.now]).await?,
            GivenBy::Fan => {
                let values = params![id, index, given.now, reservation.user];
                tx.execute(by_fan, values).await?
            }
        };
        if n_void != 1 {
            return Err(why_not_void(tx, reservation, seat).await?.into());
        }
    }
    Ok(())
}

async fn why_not_void(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    seat: &ReservedSeat,
) -> Result<Refusal> {
    let sql = "select used_at from tickets
                where reservation_id = $1 and seat_index = $2 and status = 'USED'";
    let used = tx.row(sql, params![reservation.id, seat.id.index()]).await?;
    match used {
        Some(row) => Ok(Refusal::TicketUsed { at: row.get("used_at")?, gate: None }),
        None => Ok(Refusal::TicketTransferred),
    }
}

/// Puts the seats back on sale. The reservation ends, or continues with the others.
async fn free(
    tx: &mut dyn Tx,
    paid: &Paid,
    given: &GivenBack<'_>,
    part: PartQuote,
) -> Result<(ReservationStatus, Freed)> {
    if given.seats.len() < paid.seats.len() {
        return free_some(tx, paid, given, part).await;
    }
    let Next::To(canceled) = paid.reservation.cancel()? else {
        return Err(Refusal::AlreadyCanceled.into());
    };
    let kind = MessageKind::ReservationCanceled;
    let seats = reservations::store(tx, &canceled, kind, given.now).await?;
    return_use(tx, canceled.promotion, given.now).await?;
    Ok((canceled.status, free_seats(tx, &canceled, &seats).await?))
}

async fn free_some(
    tx: &mut dyn Tx,
    paid: &Paid,
    given: &GivenBack<'_>,
    part: PartQuote,
) -> Result<(ReservationStatus, Freed)> {
    let reduced = paid.reservation.cancel_part(part.cost, part.order_fee)?;
    let back_at = reservations::back_at(tx, &reduced, Some(given.now)).await?;
    let free = "update seats set state = 'FREE', claim = null, expires_at = $4, fence = fence + 1
                 where schedule_id = $1 and seat_index = $2 and claim = $3";
    let end = "update reservation_seats set active = $3
                where reservation_id = $1 and seat_index = $2 and active";
    for seat in &given.seats {
        let index = seat.id.index();
        tx.execute(free, params![reduced.schedule, index, reduced.id, back_at]).await?;
        tx.execute(end, params![reduced.id, index, false]).await?;
    }
    let kind = MessageKind::ReservationReduced;
    reservations::store(tx, &reduced, kind, given.now).await?;
    let indexes: Vec<_> = given.seats.iter().map(|seat| seat.id.index()).collect();
    reservations::keep_again_of(tx, &reduced, &indexes).await?;
    let shrink = "update reservations
                     set amount = $2, n_seats = $3, updated_at = $4, order_fee = $5
                   where id = $1";
    let n_left = paid.seats.len() - given.seats.len();
    let values = params![reduced.id, reduced.amount, n_left, given.now, reduced.order_fee];
    tx.execute(shrink, values).await?;
    Ok((reduced.status, reservations::freed(&reduced, &given.seats)))
}

/// Makes an owed refund to the wallet, if the money came from there or the fan chose it.
/// Idempotent.
pub(crate) async fn pay_back(
    tx: &mut dyn Tx,
    row: &PaymentRow,
    refund: RefundId,
    to: RefundTo,
    amount: Won,
    now: Timestamp,
) -> Result<Payment> {
    let sql = "update refunds set status = 'REFUNDED', updated_at = $2
                where id = $1 and status = 'DUE'";
    if tx.execute(sql, params![refund, now]).await? == 0 {
        return Ok(row.payment.clone());
    }
    let after = row.payment.refunded(amount)?;
    store(tx, &row.payment, &after, now).await?;
    if row.payment.method == PaymentMethod::Wallet || to == RefundTo::Wallet {
        let (user, reference) = (row.user, refund.uuid());
        let (change, currency) = (Change::Refund(amount), row.currency);
        let movement = Move { user, change, currency, reference, now };
        wallets::apply(tx, &movement).await?;
    }
    let mut payload = json!({
        "refundId": refund, "paymentId": after.id, "userId": row.user, "amount": amount,
        "currency": row.currency,
    });
    name_desk(&mut payload, row.payment.method);
    let message = Outgoing {
        kind: MessageKind::PaymentRefunded,
        aggregate: refund.uuid(),
        seq: 2,
        key: row.reservation.uuid(),
        payload: &payload,
    };
    outbox::push(tx, message, now).await?;
    Ok(after)
}

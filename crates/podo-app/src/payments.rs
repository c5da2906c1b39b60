//! Payments: the intent is stored before any money can move, and one function settles the outcome.

pub mod deposits;
pub mod gateway_webhooks;
pub mod jobs;
pub mod port;
pub mod receipts;
pub mod refunds;
pub mod reports;
pub mod resolutions;
pub mod settlement;
pub mod wallet;

use crate::booking::reservations::{my_reservation, tell_filter, tell_filter_sold};
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::identity::bot_signals;
use crate::operations::failpoints;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent};
use crate::payments::port::deposits::AwaitingDeposit;
use crate::payments::port::gateway::{Answered, Device, Order};
use crate::payments::port::payments::{
    CancelPayment, Canceled, Capture, Checkout, ConfirmPayment, Confirmed, GatewayQuery, Issued,
    PayFromWallet, PaymentReady, PaymentView, RequestPayment, Requested, SettlePayment, Settled,
    Sold,
};
use futures::future::join;
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::identity::bot_signals::{PAYS_AT_SOONEST, SignalKind};
use podo_domain::payments::refunds::RefundTo;
use podo_domain::payments::{Payee, PaymentMethod, PaymentStatus, SHOW_CANCELED};
use podo_domain::{
    Currency, PaymentId, RefundId, Refusal, ReservationId, ScheduleId, SeatId, Timestamp, UserId,
    Won,
};
use std::sync::atomic::Ordering;

pub struct PaymentRequest<'a> {
    pub key: IdempotencyKey,
    pub fan: UserId,
    pub reservation: ReservationId,
    pub method: PaymentMethod,
    pub gateway: Option<&'a str>,
    pub device: Device,
}

/// Prepares a payment and extends the hold for the gateway's page. The hold proves the entry: an
/// entry that ends while the fan pays must not cost the seats.
pub async fn request_payment(
    context: &AppContext,
    asked: PaymentRequest<'_>,
) -> Result<Idempotent<PaymentReady>> {
    let now = context.now();
    let payment = PaymentId::new(context.rng.id(now));
    let mut deposit_due = None;
    let (gateway, checkout) = match asked.method.payee() {
        Payee::Wallet => (None, Checkout { gateway: None, url: None, data: None }),
        // Only an organiser takes money at the desk.
        Payee::BoxOffice => return Err(Refusal::UnknownGateway.into()),
        Payee::Gateway => {
            let reservation = my_reservation(context, asked.fan, asked.reservation).await?;
            let currency = reservation.currency;
            let gateway = context.gateway_for(asked.method, currency, asked.gateway)?;
            let (store, date) = (&*context.store, reservation.schedule_id);
            let schedule = context.catalog.schedules.get(store, date, now).await?;
            let (amount, customer) = (reservation.amount, asked.fan);
            let (name, method, device) = (&schedule.event_title, asked.method, asked.device);
            let starts_at = schedule.times.starts_at;
            deposit_due = deposits::due_at(context, method, schedule.event, starts_at, now).await?;
            let order =
                Order { payment, amount, currency, name, customer, method, device, deposit_due };
            (Some(gateway.name()), gateway.checkout(&order, now).await?)
        }
    };
    let command = RequestPayment {
        key: asked.key,
        payment,
        reservation: asked.reservation,
        user: asked.fan,
        method: asked.method,
        gateway,
        deposit_due,
        checkout,
        now,
    };
    let requested = context.store.request_payment(command).await?;
    if let Idempotent::Fresh(Requested { ready, schedule, extended }) = &requested {
        note_haste(context, asked.fan, *schedule, asked.reservation, now).await;
        if !extended.is_empty() {
            context
                .booking
                .seat_filter
                .keep(*schedule, extended, asked.fan, ready.hold_expires_at)
                .await?;
        }
    }
    Ok(requested.map(|requested| requested.ready))
}

/// A payment within moments of the hold is unlikely to come from a person.
async fn note_haste(
    context: &AppContext,
    fan: UserId,
    schedule: ScheduleId,
    reservation: ReservationId,
    now: Timestamp,
) {
    let took = now.since(reservation.made_at());
    if took < PAYS_AT_SOONEST && context.rules.limits_on {
        let reason = format!("Requested payment {} ms after the hold", took.as_millis());
        bot_signals::note(context, fan, schedule, SignalKind::PaysTooFast, reason).await;
    }
}

pub struct WalletPaymentRequest {
    pub key: IdempotencyKey,
    pub fan: UserId,
    pub reservation: ReservationId,
    /// The amount that the fan saw.
    pub amount: Won,
}

/// Pays a hold from the wallet in one call.
pub async fn pay_from_wallet(
    context: &AppContext,
    asked: WalletPaymentRequest,
) -> Result<Idempotent<Confirmed>> {
    let now = context.now();
    let command = PayFromWallet {
        key: asked.key,
        payment: PaymentId::new(context.rng.id(now)),
        reservation: asked.reservation,
        user: asked.fan,
        amount: asked.amount,
        now,
    };
    match context.store.pay_from_wallet(command).await? {
        Idempotent::Replay(answer) => Ok(Idempotent::Replay(answer)),
        Idempotent::Fresh(sold) => {
            note_haste(context, asked.fan, sold.seats.schedule, asked.reservation, now).await;
            after_sale(context, &sold).await;
            Ok(Idempotent::Fresh(sold.confirmed))
        }
    }
}

/// The result of a confirm call.
#[derive(Debug)]
pub enum ConfirmOutcome {
    Paid(Confirmed),
    /// A virtual account is issued, and keeps the seats until its deadline.
    Awaiting(AwaitingDeposit),
    /// The gateway hasn't answered, so the outcome is unknown. The client asks again later.
    Unknown(PaymentId),
}

pub struct ConfirmationRequest {
    pub key: IdempotencyKey,
    pub fan: UserId,
    pub payment: PaymentId,
    pub payment_key: Option<String>,
    pub amount: Won,
}

/// Charges the payment. A decline is a refusal; an unknown outcome keeps the seats until it's
/// known.
pub async fn confirm_payment(
    context: &AppContext,
    asked: ConfirmationRequest,
) -> Result<Idempotent<ConfirmOutcome>> {
    let (payment, key) = (asked.payment, asked.key.clone());
    let command = ConfirmPayment {
        key: asked.key,
        payment,
        user: asked.fan,
        amount: asked.amount,
        payment_key: asked.payment_key,
        now: context.now(),
    };
    let ask = match context.store.confirm_payment(command).await? {
        Idempotent::Replay(answer) => return Ok(Idempotent::Replay(answer)),
        Idempotent::Fresh(Capture::Sold(sold)) => {
            after_sale(context, &sold).await;
            return Ok(Idempotent::Fresh(ConfirmOutcome::Paid(sold.confirmed)));
        }
        Idempotent::Fresh(Capture::Ask(ask)) => ask,
    };
    let gateway = context.gateway(&ask.gateway)?;
    failpoints::reach(failpoints::CHARGE_BEFORE);
    let answered = gateway.capture(&ask, context.now()).await;
    failpoints::reach(failpoints::CHARGE_AFTER);
    match settle(context, &ask, answered).await? {
        Settled::Sold(sold) => Ok(Idempotent::Fresh(ConfirmOutcome::Paid(sold.confirmed))),
        Settled::Awaiting(awaited) => {
            Ok(Idempotent::Fresh(ConfirmOutcome::Awaiting(awaited.awaiting)))
        }
        Settled::Declined { reason, .. } => Err(not_paid(reason).into()),
        Settled::RefundDue { reason, .. } => Err(not_paid(reason.to_owned()).into()),
        Settled::StillUnknown | Settled::Before(PaymentStatus::Unknown) => {
            Ok(Idempotent::Fresh(ConfirmOutcome::Unknown(payment)))
        }
        // The webhook or the settling job was faster; the answer is stored under the key.
        Settled::Before(_) => match context.store.stored_answer(&key).await? {
            Some(answer) => Ok(Idempotent::Replay(answer)),
            None => Err(Refusal::KeyRunning.into()),
        },
    }
}

/// The refusal for a failed payment. If the date is canceled, trying another card is pointless.
pub fn not_paid(reason: String) -> Refusal {
    if reason == SHOW_CANCELED {
        Refusal::ScheduleCanceled
    } else {
        Refusal::PaymentDeclined { reason }
    }
}

/// Applies a gateway's answer. The confirm call, webhooks and the settling job all end here.
pub async fn settle(
    context: &AppContext,
    ask: &GatewayQuery,
    answered: Answered,
) -> Result<Settled> {
    let command = SettlePayment {
        payment: ask.payment,
        outcome: answered.outcome,
        answer: answered.answer,
        reference: answered.reference,
        paid_with: answered.paid_with,
        now: context.now(),
    };
    let settled = context.store.settle_payment(command).await?;
    tell_settled(context, &settled).await?;
    Ok(settled)
}

/// After the commit: tells the live engines what was sold or released.
pub(crate) async fn tell_settled(context: &AppContext, settled: &Settled) -> Result<()> {
    match settled {
        Settled::Sold(sold) => after_sale(context, sold).await,
        // The seats are kept without the fan, whose place inside is for the next.
        Settled::Awaiting(issued) => {
            let Issued { room, place, .. } = &**issued;
            let ended =
                context.waiting_room.queue.end_entry(*room, issued.user, *place, context.now());
            if let Err(error) = ended.await {
                tracing::warn!(%error, "Could not end the entry of a fan who pays by deposit");
            }
        }
        Settled::Declined { freed, .. } | Settled::RefundDue { freed, .. } => {
            tell_filter(context, freed.as_slice()).await?;
        }
        Settled::StillUnknown | Settled::Before(_) => {}
    }
    Ok(())
}

/// The purchase is committed: the rest is cleanup, and its failure must not fail the request.
pub(crate) async fn after_sale(context: &AppContext, sold: &Sold) {
    failpoints::reach(failpoints::SALE_STORED);
    context.payments.purchases.fetch_add(1, Ordering::Relaxed);
    let seats = &sold.seats;
    let tell = tell_filter_sold(context, seats);
    let end =
        context.waiting_room.queue.end_entry(sold.room, seats.user, sold.place, context.now());
    let (told, ended) = join(tell, end).await;
    if let Err(error) = told.and(ended) {
        tracing::warn!(%error, "Could not update the live engines after a sale");
    }
}

/// A fan's cancellation: some seats, or all if none is named.
pub struct CancellationRequest {
    pub key: IdempotencyKey,
    pub fan: UserId,
    pub reason: String,
    pub seats: Vec<SeatId>,
    pub to: RefundTo,
}

/// Cancels a paid reservation; the refund goes to the original method or to the wallet.
pub async fn cancel_payment(
    context: &AppContext,
    payment: PaymentId,
    asked: CancellationRequest,
) -> Result<Idempotent<Canceled>> {
    let now = context.now();
    let refund = RefundId::new(context.rng.id(now));
    let CancellationRequest { key, fan: user, reason, seats, to } = asked;
    if to == RefundTo::Wallet {
        let paid = my_payment(context, user, payment).await?;
        refuse_foreign_wallet(context, paid.currency)?;
    }
    let command = CancelPayment { key, payment, user, refund, reason, seats, to, now };
    match context.store.cancel_payment(command).await? {
        Idempotent::Replay(answer) => Ok(Idempotent::Replay(answer)),
        Idempotent::Fresh((canceled, freed)) => {
            tell_filter(context, &[freed]).await?;
            Ok(Idempotent::Fresh(canceled))
        }
    }
}

/// A refund to the wallet has to be money of the wallet.
pub(crate) fn refuse_foreign_wallet(
    context: &AppContext,
    currency: Currency,
) -> std::result::Result<(), Refusal> {
    match currency == context.rules.currency {
        true => Ok(()),
        false => Err(Refusal::WalletCurrency { field: "refundTo" }),
    }
}

/// Cancels a reservation by canceling its payment.
pub async fn cancel_reservation(
    context: &AppContext,
    reservation: ReservationId,
    asked: CancellationRequest,
) -> Result<Idempotent<Canceled>> {
    let fan = asked.fan;
    if let Some(payment) = context.store.payment_of(reservation, fan).await? {
        return cancel_payment(context, payment, asked).await;
    }
    // Nothing is paid, perhaps because this very request already succeeded. Checking only now can't
    // miss a cancellation that has just removed the payment.
    if let Some(answer) = context.store.stored_answer(&asked.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    Err(match my_reservation(context, fan, reservation).await?.status {
        ReservationStatus::Canceled => Refusal::AlreadyCanceled,
        ReservationStatus::Held
        | ReservationStatus::Paying
        | ReservationStatus::Confirmed
        | ReservationStatus::Expired
        | ReservationStatus::Released => Refusal::NotPaid,
    }
    .into())
}

pub async fn my_payment(
    context: &AppContext,
    fan: UserId,
    payment: PaymentId,
) -> Result<PaymentView> {
    context.store.payment(payment, fan).await?.ok_or(Error::Refused(Refusal::NotFound))
}

//! Paying: the intent is stored before any money can move, and one function settles the outcome.

use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::points;
use crate::ports::gateway::{Answered, Order};
use crate::ports::keys::{KeyUse, Once};
use crate::ports::payments::{
    AskGateway, CancelPayment, Canceled, Capture, Checkout, ConfirmPayment, Confirmed,
    PaymentReady, PaymentView, RequestPayment, Requested, SettlePayment, Settled, Sold,
};
use crate::reservations::{my_reservation, tell_filter, tell_filter_sold};
use crate::signals;
use domain::payments::{PaymentMethod, PaymentStatus, SHOW_CANCELED};
use domain::refunds::RefundTo;
use domain::reservations::ReservationStatus;
use domain::signals::{PAYS_AT_SOONEST, SignalKind};
use domain::{
    PaymentId, RefundId, Refusal, ReservationId, ScheduleId, SeatId, Timestamp, UserId, Won,
};
use futures::future::join;
use std::sync::atomic::Ordering;

pub struct AskToPay<'a> {
    pub key: KeyUse,
    pub fan: UserId,
    pub reservation: ReservationId,
    pub method: PaymentMethod,
    pub gateway: Option<&'a str>,
}

/// Prepares a payment and gives the hold time for the gateway's page. The hold is the proof of the
/// entry: an entry that ends while the fan pays must not cost the seats.
pub async fn request_payment(
    platform: &Platform,
    asked: AskToPay<'_>,
) -> Result<Once<PaymentReady>> {
    let now = platform.now();
    let payment = PaymentId::new(platform.chance.id(now));
    let (gateway, checkout) = match asked.method {
        PaymentMethod::Wallet => (None, Checkout { gateway: None, url: None, data: None }),
        PaymentMethod::Card => {
            let gateway = platform.gateway_or_default(asked.gateway)?;
            let reservation = my_reservation(platform, asked.fan, asked.reservation).await?;
            let (store, date) = (&*platform.store, reservation.schedule_id);
            let schedule = platform.schedules.get(store, date, now).await?;
            let (amount, customer) = (reservation.amount, asked.fan);
            let order = Order { payment, amount, name: &schedule.event_title, customer };
            gateway.prepare(&order, now).await?;
            (Some(gateway.name()), gateway.checkout(&order))
        }
    };
    let command = RequestPayment {
        key: asked.key,
        payment,
        reservation: asked.reservation,
        user: asked.fan,
        method: asked.method,
        gateway,
        checkout,
        now,
    };
    let requested = platform.store.request_payment(command).await?;
    if let Once::Fresh(Requested { ready, schedule, extended }) = &requested {
        note_haste(platform, (asked.fan, *schedule), asked.reservation, now).await;
        if !extended.is_empty() {
            platform.holds.keep(*schedule, extended, asked.fan, ready.hold_expires_at).await?;
        }
    }
    Ok(requested.map(|requested| requested.ready))
}

/// Seats that were chosen a blink ago are hardly paid for by a person.
async fn note_haste(
    platform: &Platform,
    whose: (UserId, ScheduleId),
    reservation: ReservationId,
    now: Timestamp,
) {
    let took = now.since(reservation.made_at());
    if took < PAYS_AT_SOONEST && platform.rules.limits_on {
        let reason = format!("Went to pay {} ms after the seats were held", took.as_millis());
        signals::note(platform, whose, SignalKind::PaysTooFast, reason).await;
    }
}

/// How a confirm call ends.
#[derive(Debug)]
pub enum ConfirmOutcome {
    Paid(Confirmed),
    /// The gateway has not answered: nobody guesses. Ask again later.
    Unknown(PaymentId),
}

pub struct AskToConfirm {
    pub key: KeyUse,
    pub fan: UserId,
    pub payment: PaymentId,
    pub payment_key: Option<String>,
    pub amount: Won,
}

/// Pays. A decline is a refusal; an unknown outcome keeps the seats until it is known.
pub async fn confirm_payment(
    platform: &Platform,
    asked: AskToConfirm,
) -> Result<Once<ConfirmOutcome>> {
    let (payment, key) = (asked.payment, asked.key.clone());
    let command = ConfirmPayment {
        key: asked.key,
        payment,
        user: asked.fan,
        amount: asked.amount,
        payment_key: asked.payment_key,
        now: platform.now(),
    };
    let ask = match platform.store.confirm_payment(command).await? {
        Once::Replay(answer) => return Ok(Once::Replay(answer)),
        Once::Fresh(Capture::Sold(sold)) => {
            after_sale(platform, &sold).await;
            return Ok(Once::Fresh(ConfirmOutcome::Paid(sold.confirmed)));
        }
        Once::Fresh(Capture::Ask(ask)) => ask,
    };
    let gateway = platform.gateway(&ask.gateway)?;
    points::reach(points::CHARGE_BEFORE);
    let answered = gateway.capture(&ask, platform.now()).await;
    points::reach(points::CHARGE_AFTER);
    match settle(platform, &ask, answered).await? {
        Settled::Sold(sold) => Ok(Once::Fresh(ConfirmOutcome::Paid(sold.confirmed))),
        Settled::Declined { reason, .. } => Err(not_paid(reason).into()),
        Settled::RefundDue { reason, .. } => Err(not_paid(reason.to_owned()).into()),
        Settled::StillUnknown | Settled::Before(PaymentStatus::Unknown) => {
            Ok(Once::Fresh(ConfirmOutcome::Unknown(payment)))
        }
        // The webhook or the reconciler was faster: the answer is stored under the key.
        Settled::Before(_) => match platform.store.stored_answer(&key).await? {
            Some(answer) => Ok(Once::Replay(answer)),
            None => Err(Refusal::KeyRunning.into()),
        },
    }
}

/// What a fan hears whose payment came to nothing: it is no use to try another card for a date that
/// is called off.
pub fn not_paid(reason: String) -> Refusal {
    if reason == SHOW_CANCELED {
        Refusal::ScheduleCanceled
    } else {
        Refusal::PaymentDeclined { reason }
    }
}

/// Brings a gateway's answer home. The confirm call, webhooks and the reconciler all end here.
pub async fn settle(platform: &Platform, ask: &AskGateway, answered: Answered) -> Result<Settled> {
    let command = SettlePayment {
        payment: ask.payment,
        outcome: answered.outcome,
        answer: answered.answer,
        reference: answered.reference,
        now: platform.now(),
    };
    let settled = platform.store.settle_payment(command).await?;
    tell_settled(platform, &settled).await?;
    Ok(settled)
}

/// After the commit: the live engines hear of what was sold or given up.
pub(crate) async fn tell_settled(platform: &Platform, settled: &Settled) -> Result<()> {
    match settled {
        Settled::Sold(sold) => after_sale(platform, sold).await,
        Settled::Declined { freed, .. } | Settled::RefundDue { freed, .. } => {
            tell_filter(platform, freed.as_slice()).await?;
        }
        Settled::StillUnknown | Settled::Before(_) => {}
    }
    Ok(())
}

/// The purchase is committed: what follows only tidies up, and its failure is not the fan's.
async fn after_sale(platform: &Platform, sold: &Sold) {
    points::reach(points::SALE_STORED);
    platform.purchases.fetch_add(1, Ordering::Relaxed);
    let seats = &sold.seats;
    let tell = tell_filter_sold(platform, seats);
    let end = platform.queue.end_entry(seats.schedule, seats.user, sold.place, platform.now());
    let (told, ended) = join(tell, end).await;
    if let Err(error) = told.and(ended) {
        tracing::warn!(%error, "The live engines did not hear of a sale");
    }
}

/// What a fan gives back: some seats or, when none is named, all.
pub struct AskToCancel {
    pub key: KeyUse,
    pub fan: UserId,
    pub reason: String,
    pub seats: Vec<SeatId>,
    pub to: RefundTo,
}

/// Cancels what was paid; the money goes back where it came from or to the wallet.
pub async fn cancel_payment(
    platform: &Platform,
    payment: PaymentId,
    asked: AskToCancel,
) -> Result<Once<Canceled>> {
    let now = platform.now();
    let refund = RefundId::new(platform.chance.id(now));
    let AskToCancel { key, fan: user, reason, seats, to } = asked;
    let command = CancelPayment { key, payment, user, refund, reason, seats, to, now };
    match platform.store.cancel_payment(command).await? {
        Once::Replay(answer) => Ok(Once::Replay(answer)),
        Once::Fresh((canceled, freed)) => {
            tell_filter(platform, &[freed]).await?;
            Ok(Once::Fresh(canceled))
        }
    }
}

/// Cancels a reservation by canceling its payment.
pub async fn cancel_reservation(
    platform: &Platform,
    reservation: ReservationId,
    asked: AskToCancel,
) -> Result<Once<Canceled>> {
    let fan = asked.fan;
    if let Some(payment) = platform.store.payment_of(reservation, fan).await? {
        return cancel_payment(platform, payment, asked).await;
    }
    // Nothing is paid: perhaps because this very request was here before. Asking only now cannot
    // miss a cancellation that has just taken the payment away.
    if let Some(answer) = platform.store.stored_answer(&asked.key).await? {
        return Ok(Once::Replay(answer));
    }
    Err(match my_reservation(platform, fan, reservation).await?.status {
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
    platform: &Platform,
    fan: UserId,
    payment: PaymentId,
) -> Result<PaymentView> {
    platform.store.payment(payment, fan).await?.ok_or(Error::Refused(Refusal::NotFound))
}

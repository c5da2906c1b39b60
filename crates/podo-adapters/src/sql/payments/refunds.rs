//! Refund policies, organisers' refunds, and the refunds of a canceled date.

pub(crate) mod organiser;
mod runs;

use crate::sql::booking::reservations::json_or_default;
use crate::sql::catalog::announce_change;
use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Value, params};
use crate::sql::messaging::announcements::has_open_change;
use crate::sql::payments::cancel::{Paid, load_paid};
use podo_app::booking::port::reservations::Freed;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::refunds::{
    OrganiserRefund, PreviewRefund, RefundByOrganiser, RefundPreview, RefundRun, Refunds, SetPolicy,
};
use podo_app::{Error, Result};
use podo_domain::booking::order::options::{Fee, Fees};
use podo_domain::catalog::ScheduleStatus;
use podo_domain::payments::refunds;
use podo_domain::payments::refunds::{CancelTerms, FeesBack, RefundPolicy};
use podo_domain::{
    EventId, PaymentId, RefundId, Refusal, ReservationId, ScheduleId, Timestamp, Won,
};
use serde_json::json;

commands! {
    impl Refunds for SqlStore {
        read preview_refund(PreviewRefund) -> RefundPreview as Sales => preview;
        write refund_by_organiser(RefundByOrganiser)
            -> Idempotent<OrganiserRefund> as Sales => organiser::refund;
        read refund_policy(PolicyOf { event: EventId })
            -> Option<RefundPolicy> as Event => policy_of;
        write set_refund_policy(SetPolicy) -> () as Event => set_policy;
        read to_refund(ToRefund { schedule: ScheduleId, now: Timestamp, limit: u32 })
            -> Vec<ReservationId> as Worker => runs::to_refund;
        write refund_canceled(RefundCanceled {
            reservation: ReservationId, refund: RefundId, now: Timestamp,
        }) -> Option<Freed> as Worker => runs::refund;
        write finish_run(FinishRun { schedule: ScheduleId, now: Timestamp })
            -> bool as Worker => runs::finish;
        read refund_run(RunOf { schedule: ScheduleId })
            -> Option<RefundRun> as ReadOnly or_replica => runs::view;

        command RunsToStart {} -> Vec<ScheduleId> as Worker => runs::runs_to_start;
        command StartRun { schedule: ScheduleId, now: Timestamp } -> () as Worker => runs::start;
        command RunsToDo {} -> Vec<ScheduleId> as Worker => runs::runs_to_do;

        async fn runs_to_do(&self, now: Timestamp) -> Result<Vec<ScheduleId>> {
            for schedule in self.read(RunsToStart {}).await? {
                self.write(StartRun { schedule, now }).await?;
            }
            self.read(RunsToDo {}).await
        }
    }
}

/// The refund terms of a date.
pub(crate) struct Terms {
    starts_at: Timestamp,
    is_canceled: bool,
    policy: RefundPolicy,
}

impl Terms {
    /// A canceled show has no cancellation fee.
    pub(crate) fn fee_percent(&self, now: Timestamp) -> Result<u32> {
        if self.is_canceled {
            return Ok(0);
        }
        Ok(self.policy.fee_percent(self.starts_at, now)?)
    }
}

pub(crate) async fn terms_of(tx: &mut dyn Tx, schedule: ScheduleId) -> Result<Terms> {
    let sql = "select s.starts_at, s.status, e.refund_policy
                 from event_schedules s join events e on e.id = s.event_id
                where s.id = $1";
    let row = tx.row(sql, params![schedule]).await?.ok_or(Refusal::NotFound)?;
    let is_canceled = row.parse("status", ScheduleStatus::parse)? == ScheduleStatus::Cancelled;
    Ok(Terms {
        starts_at: row.get("starts_at")?,
        is_canceled,
        policy: read_policy(row.get("refund_policy")?)?,
    })
}

/// The terms of a cancellation by the buyer. A show that changed after the booking is refunded in
/// full, until the buyer accepts the change; so is one that is called off.
pub(crate) async fn cancel_terms(
    tx: &mut dyn Tx,
    paid: &Paid,
    now: Timestamp,
) -> Result<CancelTerms> {
    let everything = CancelTerms { fee_percent: 0, fees_back: FeesBack::ALL };
    if has_open_change(tx, paid.reservation.id, paid.reservation.user, now).await? {
        return Ok(everything);
    }
    let terms = terms_of(tx, paid.reservation.schedule).await?;
    if terms.is_canceled {
        return Ok(everything);
    }
    let fee_percent = terms.fee_percent(now)?;
    Ok(CancelTerms { fee_percent, fees_back: fees_back(tx, paid, now).await? })
}

/// Which fees go back by their own rules, as they were when the seats were held.
pub(crate) async fn fees_back(tx: &mut dyn Tx, paid: &Paid, now: Timestamp) -> Result<FeesBack> {
    if !paid.has_fees() {
        return Ok(FeesBack::ALL);
    }
    let sql = "select r.fees, p.created_at, v.time_zone
                 from payments p
                 join reservations r on r.id = p.reservation_id
                 join event_schedules s on s.id = r.schedule_id
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                where p.id = $1";
    let row = tx.row(sql, params![paid.row.payment.id]).await?.ok_or(Refusal::NotFound)?;
    let fees: Fees = json_or_default(&row, "fees")?;
    let zone: String = row.get("time_zone")?;
    let booked_at: Timestamp = row.get("created_at")?;
    let is_booking_day = booked_at.is_same_day(now, &zone);
    let goes_back = |fee: Option<Fee>| fee.is_none_or(|fee| fee.refund.goes_back(is_booking_day));
    Ok(FeesBack { booking: goes_back(fees.booking), order: goes_back(fees.order) })
}

fn read_policy(text: Option<String>) -> Result<RefundPolicy> {
    match text {
        Some(text) => serde_json::from_str(&text).map_err(Error::broken),
        None => Ok(RefundPolicy::default()),
    }
}

async fn preview(tx: &mut dyn Tx, question: &PreviewRefund) -> Result<RefundPreview> {
    let payment = payment_to_refund(tx, question.reservation).await?;
    let paid = load_paid(tx, payment.ok_or(Refusal::NotFound)?).await?;
    if paid.row.user != question.user {
        return Err(Refusal::NotFound.into());
    }
    paid.refuse_unless_paid()?;
    let terms = cancel_terms(tx, &paid, question.now).await?;
    let policy = terms_of(tx, paid.reservation.schedule).await?.policy;
    let seats = paid.choose(&question.seats)?;
    let quote = paid.quote(&seats, terms).quote;
    let prices = seats.iter().map(|seat| seat.price);
    let kept_of_prices = refunds::quote(prices, terms.fee_percent).fee;
    Ok(RefundPreview {
        reservation_id: question.reservation,
        seat_ids: seats.iter().map(|seat| seat.id).collect(),
        refund_amount: quote.refund,
        fee: quote.fee,
        fee_percent: terms.fee_percent,
        fees_kept: quote.fee.checked_sub(kept_of_prices).unwrap_or(Won::ZERO),
        policy,
        now: question.now,
    })
}

/// The payment that bought a reservation: the one with the most left to refund, because a late
/// payment already owes all of its money back.
async fn payment_to_refund(
    tx: &mut dyn Tx,
    reservation: ReservationId,
) -> Result<Option<PaymentId>> {
    let sql = "select id from payments where reservation_id = $1
                  and (captured > 0 or (amount = 0 and status = 'CAPTURED'))
                order by captured - refunded - promised desc limit 1";
    let row = tx.row(sql, params![reservation]).await?;
    Ok(row.map(|row| row.get("id")).transpose()?)
}

async fn policy_of(tx: &mut dyn Tx, question: &PolicyOf) -> Result<Option<RefundPolicy>> {
    let sql = "select refund_policy from events where id = $1";
    let row = tx.row(sql, params![question.event]).await?;
    row.map(|row| read_policy(row.get("refund_policy")?)).transpose()
}

async fn set_policy(tx: &mut dyn Tx, command: &SetPolicy) -> Result<()> {
    let text = serde_json::to_string(&command.policy).map_err(Error::broken)?;
    let sql = "update events set refund_policy = $2, updated_at = $3 where id = $1";
    let values = params![command.event, Value::Json(text), command.now];
    if tx.execute(sql, values).await? == 0 {
        return Err(Refusal::NotFound.into());
    }
    let details = json!(command.policy);
    announce_change(
        tx,
        command.actor,
        "event.refund-policy",
        command.event.uuid(),
        details,
        command.now,
    )
    .await
}

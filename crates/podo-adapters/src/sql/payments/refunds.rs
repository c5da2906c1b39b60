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
    EventPolicy, OrganiserRefund, PreviewRefund, RefundByOrganiser, RefundPreview, RefundRun,
    Refunds, SetPolicy,
};
use podo_app::{Error, Result};
use podo_domain::booking::order::options::{Fee, Fees};
use podo_domain::catalog::ScheduleStatus;
use podo_domain::payments::refund_policy::{CancelMoment, PolicyTerms, RefundPolicy};
use podo_domain::payments::refunds;
use podo_domain::payments::refunds::{CancelTerms, FeesBack};
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
            -> Option<EventPolicy> as Event => policy_of;
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

/// What decides about the cancellation of an order by its buyer.
pub(crate) struct OrderTerms {
    starts_at: Timestamp,
    booked_at: Timestamp,
    zone: String,
    is_canceled: bool,
    /// The policy under which the seats were held, and the fees as they were then.
    policy: RefundPolicy,
    fees: Fees,
}

impl OrderTerms {
    fn at(&self, now: Timestamp) -> CancelMoment<'_> {
        let OrderTerms { starts_at, booked_at, zone, .. } = self;
        CancelMoment { booked_at: *booked_at, starts_at: *starts_at, now, zone }
    }

    /// Which fees go back by their own rules.
    pub(crate) fn fees_back(&self, now: Timestamp) -> FeesBack {
        let is_booking_day = self.booked_at.is_same_day(now, &self.zone);
        let goes_back =
            |fee: Option<Fee>| fee.is_none_or(|fee| fee.refund.goes_back(is_booking_day));
        FeesBack { booking: goes_back(self.fees.booking), order: goes_back(self.fees.order) }
    }
}

pub(crate) async fn terms_of(tx: &mut dyn Tx, paid: &Paid) -> Result<OrderTerms> {
    let sql = "select s.starts_at, s.status, v.time_zone, p.created_at as booked_at, r.fees,
                      (select h.policy from refund_policies h
                        where h.event_id = e.id and h.since <= r.created_at
                        order by h.since desc limit 1) as policy
                 from payments p
                 join reservations r on r.id = p.reservation_id
                 join event_schedules s on s.id = r.schedule_id
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                where p.id = $1";
    let row = tx.row(sql, params![paid.row.payment.id]).await?.ok_or(Refusal::NotFound)?;
    let is_canceled = row.parse("status", ScheduleStatus::parse)? == ScheduleStatus::Cancelled;
    Ok(OrderTerms {
        starts_at: row.get("starts_at")?,
        booked_at: row.get("booked_at")?,
        zone: row.get("time_zone")?,
        is_canceled,
        policy: read_policy(row.get("policy")?)?,
        fees: json_or_default(&row, "fees")?,
    })
}

/// The terms of a cancellation by the buyer, if it is possible now.
pub(crate) async fn cancel_terms(
    tx: &mut dyn Tx,
    paid: &Paid,
    now: Timestamp,
) -> Result<CancelTerms> {
    let order = terms_of(tx, paid).await?;
    terms_at(tx, paid, &order, now).await
}

/// A show that changed after the booking is refunded in full, until the buyer accepts the change; so
/// is one that is called off.
async fn terms_at(
    tx: &mut dyn Tx,
    paid: &Paid,
    order: &OrderTerms,
    now: Timestamp,
) -> Result<CancelTerms> {
    let changed = has_open_change(tx, paid.reservation.id, paid.reservation.user, now).await?;
    if changed || order.is_canceled {
        return Ok(CancelTerms::FREE);
    }
    let PolicyTerms { retained, refunds_fees } = order.policy.terms(&order.at(now))?;
    let fees_back = match refunds_fees {
        true => FeesBack::ALL,
        false => order.fees_back(now),
    };
    Ok(CancelTerms { retained, fees_back })
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
    let order = terms_of(tx, &paid).await?;
    let terms = terms_at(tx, &paid, &order, question.now).await?;
    let seats = paid.choose(&question.seats)?;
    let quote = paid.quote(&seats, terms).quote;
    let prices = seats.iter().map(|seat| seat.price);
    let kept_of_prices = refunds::quote(prices, terms.retained).fee;
    Ok(RefundPreview {
        reservation_id: question.reservation,
        seat_ids: seats.iter().map(|seat| seat.id).collect(),
        refund_amount: quote.refund,
        fee: quote.fee,
        fee_percent: terms.retained.percent,
        fee_amount: terms.retained.amount,
        fees_kept: quote.fee.checked_sub(kept_of_prices).unwrap_or(Won::ZERO),
        periods: order.policy.periods(order.starts_at, question.now, &order.zone),
        policy: order.policy,
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

async fn policy_of(tx: &mut dyn Tx, question: &PolicyOf) -> Result<Option<EventPolicy>> {
    let sql = "select e.refund_policy, v.time_zone
                 from events e join venues v on v.id = e.venue_id
                where e.id = $1";
    let Some(row) = tx.row(sql, params![question.event]).await? else { return Ok(None) };
    let policy = read_policy(row.get("refund_policy")?)?;
    Ok(Some(EventPolicy { policy, time_zone: row.get("time_zone")? }))
}

async fn set_policy(tx: &mut dyn Tx, command: &SetPolicy) -> Result<()> {
    let text = serde_json::to_string(&command.policy).map_err(Error::broken)?;
    let sql = "update events set refund_policy = $2, updated_at = $3 where id = $1";
    let values = params![command.event, Value::Json(text.clone()), command.now];
    if tx.execute(sql, values).await? == 0 {
        return Err(Refusal::NotFound.into());
    }
    let keep = "insert into refund_policies (event_id, since, policy) values ($1, $3, $2)
                on conflict (event_id, since) do update set policy = excluded.policy";
    tx.execute(keep, params![command.event, Value::Json(text), command.now]).await?;
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

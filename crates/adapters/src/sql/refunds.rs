//! Refund policies, refunds by organisers, and the refunds of a whole canceled date.

pub(super) mod organiser;
mod runs;

use super::catalog::note_told;
use super::payments::cancel::load_paid;
use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Value, params};
use app::ports::keys::Once;
use app::ports::refunds::{
    OrganiserRefund, PreviewRefund, RefundByOrganiser, RefundPreview, RefundRun, Refunds, SetPolicy,
};
use app::ports::reservations::Freed;
use app::{Error, Result};
use async_trait::async_trait;
use domain::catalog::ScheduleStatus;
use domain::refunds::{RefundPolicy, quote};
use domain::{EventId, PaymentId, RefundId, Refusal, ReservationId, ScheduleId, Timestamp};
use runs::{FinishRun, RefundCanceled, RunOf, RunsToDo, RunsToStart, StartRun, ToRefund};
use serde_json::json;

struct PolicyOf(EventId);

work!(Sales: PreviewRefund => preview, RefundPreview);
work!(Event: PolicyOf => policy_of, Option<RefundPolicy>);
work!(Event: SetPolicy => set_policy, ());

#[async_trait]
impl Refunds for SqlStore {
    async fn preview_refund(&self, question: PreviewRefund) -> Result<RefundPreview> {
        self.read(question).await
    }

    async fn refund_by_organiser(
        &self,
        command: RefundByOrganiser,
    ) -> Result<Once<OrganiserRefund>> {
        self.write(command).await
    }

    async fn refund_policy(&self, event: EventId) -> Result<Option<RefundPolicy>> {
        self.read(PolicyOf(event)).await
    }

    async fn set_refund_policy(&self, command: SetPolicy) -> Result<()> {
        self.write(command).await
    }

    async fn runs_to_do(&self, now: Timestamp) -> Result<Vec<ScheduleId>> {
        for schedule in self.read(RunsToStart).await? {
            self.write(StartRun { schedule, now }).await?;
        }
        self.read(RunsToDo).await
    }

    async fn to_refund(
        &self,
        schedule: ScheduleId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<ReservationId>> {
        self.read(ToRefund { schedule, now, limit }).await
    }

    async fn refund_canceled(
        &self,
        reservation: ReservationId,
        refund: RefundId,
        now: Timestamp,
    ) -> Result<Option<Freed>> {
        self.write(RefundCanceled { reservation, refund, now }).await
    }

    async fn finish_run(&self, schedule: ScheduleId, now: Timestamp) -> Result<bool> {
        self.write(FinishRun { schedule, now }).await
    }

    async fn refund_run(&self, schedule: ScheduleId) -> Result<Option<RefundRun>> {
        self.read(RunOf(schedule)).await
    }
}

/// On which terms a date's tickets are taken back.
pub(super) struct Terms {
    starts_at: Timestamp,
    is_canceled: bool,
    policy: RefundPolicy,
}

impl Terms {
    /// A show that does not happen costs nobody anything.
    pub(super) fn fee_percent(&self, now: Timestamp) -> Result<u32> {
        if self.is_canceled {
            return Ok(0);
        }
        Ok(self.policy.fee_percent(self.starts_at, now)?)
    }
}

pub(super) async fn terms_of(tx: &mut dyn Tx, schedule: ScheduleId) -> Result<Terms> {
    let sql = "select s.starts_at, s.status, e.refund_policy
                 from event_schedules s join events e on e.id = s.event_id
                where s.id = $1";
    let row = tx.row(sql, params![schedule]).await?.ok_or(Refusal::NotFound)?;
    let is_canceled = row.parse(1, ScheduleStatus::parse)? == ScheduleStatus::Cancelled;
    Ok(Terms { starts_at: row.get(0)?, is_canceled, policy: read_policy(row.get(2)?)? })
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
    let terms = terms_of(tx, paid.reservation.schedule).await?;
    let fee_percent = terms.fee_percent(question.now)?;
    let seats = paid.choose(&question.seats)?;
    let quote = quote(seats.iter().map(|seat| seat.price), fee_percent);
    Ok(RefundPreview {
        reservation_id: question.reservation,
        seat_ids: seats.iter().map(|seat| seat.id).collect(),
        refund_amount: quote.refund,
        fee: quote.fee,
        fee_percent,
        policy: terms.policy,
        now: question.now,
    })
}

/// The payment that bought a reservation: what came too late has nothing left to give.
async fn payment_to_refund(
    tx: &mut dyn Tx,
    reservation: ReservationId,
) -> Result<Option<PaymentId>> {
    let sql = "select id from payments where reservation_id = $1 and captured > 0
                order by captured - refunded - promised desc limit 1";
    let row = tx.row(sql, params![reservation]).await?;
    Ok(row.map(|row| row.get(0)).transpose()?)
}

async fn policy_of(tx: &mut dyn Tx, question: &PolicyOf) -> Result<Option<RefundPolicy>> {
    let sql = "select refund_policy from events where id = $1";
    let row = tx.row(sql, params![question.0]).await?;
    row.map(|row| read_policy(row.get(0)?)).transpose()
}

async fn set_policy(tx: &mut dyn Tx, command: &SetPolicy) -> Result<()> {
    let text = serde_json::to_string(&command.policy).map_err(Error::broken)?;
    let sql = "update events set refund_policy = $2, updated_at = $3 where id = $1";
    let values = params![command.event, Value::Json(text), command.now];
    if tx.execute(sql, values).await? == 0 {
        return Err(Refusal::NotFound.into());
    }
    let details = json!(command.policy);
    note_told(
        tx,
        (command.actor, "event.refund-policy"),
        command.event.uuid(),
        details,
        command.now,
    )
    .await
}

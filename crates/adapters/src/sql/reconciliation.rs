//! The seats that are somebody's, and the record of what was healed.

use super::audit::{self, AuditEntry};
use super::leases;
use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, params};
use app::Result;
use app::ports::reconciliation::{Reconciliation, RecordHealing};
use async_trait::async_trait;
use domain::id::SeatIndex;
use domain::reconciliation::{Claim, Kind};
use domain::seats::SeatState;
use domain::{ScheduleId, Timestamp, UserId};
use std::collections::BTreeMap;
use uuid::Uuid;

struct ClaimsOf {
    schedule: ScheduleId,
    now: Timestamp,
}

work!(Worker: ClaimsOf => claims, BTreeMap<SeatIndex, Claim>);
work!(Worker: RecordHealing => record, ());

/// Nobody's account: the platform itself.
const PLATFORM: UserId = UserId::new(Uuid::nil());

#[async_trait]
impl Reconciliation for SqlStore {
    async fn claims_of(
        &self,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> Result<BTreeMap<SeatIndex, Claim>> {
        self.read(ClaimsOf { schedule, now }).await
    }

    async fn record_healing(&self, command: RecordHealing) -> Result<()> {
        self.write(command).await
    }
}

async fn claims(tx: &mut dyn Tx, question: &ClaimsOf) -> Result<BTreeMap<SeatIndex, Claim>> {
    let sql = "select s.seat_index, r.user_id, s.state, s.expires_at
                 from seats s join reservations r on r.id = s.claim
                where s.schedule_id = $1 and s.state <> 'FREE'
                  and not (s.state = 'HELD' and s.expires_at <= $2)";
    let rows = tx.query(sql, params![question.schedule, question.now]).await?;
    rows.iter().map(read).collect()
}

fn read(row: &Row) -> Result<(SeatIndex, Claim)> {
    let until = match row.parse(2, SeatState::parse)? {
        SeatState::Sold => Some(Timestamp::FAR_FUTURE),
        SeatState::Paying => None,
        SeatState::Held | SeatState::Free => row.get(3)?,
    };
    Ok((row.get(0)?, Claim { fan: row.get(1)?, until }))
}

async fn record(tx: &mut dyn Tx, command: &RecordHealing) -> Result<()> {
    if let Some(lease) = &command.lease {
        leases::check_fence(tx, lease).await?;
    }
    let details: BTreeMap<&str, u64> =
        command.counts.iter().map(|(kind, n)| (Kind::as_str(*kind), *n)).collect();
    let entry = AuditEntry {
        actor: PLATFORM,
        action: "seats.reconcile",
        subject: command.schedule.to_string(),
        details: &details,
    };
    audit::append(tx, entry, command.now).await
}

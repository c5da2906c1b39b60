//! Claimed seats, and the record of repairs to the seat filter.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::operations::audit;
use crate::sql::operations::audit::AuditEntry;
use crate::sql::operations::leases;
use podo_app::Result;
use podo_app::booking::port::reconciliation::{Reconciliation, RecordHealing};
use podo_domain::booking::reconciliation::{Claim, Kind};
use podo_domain::booking::seats::SeatState;
use podo_domain::id::SeatIndex;
use podo_domain::{ScheduleId, Timestamp, UserId};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The actor of changes that the platform itself makes.
const PLATFORM: UserId = UserId::new(Uuid::nil());

commands! {
    impl Reconciliation for SqlStore {
        read claims_of(ClaimsOf { schedule: ScheduleId, now: Timestamp })
            -> BTreeMap<SeatIndex, Claim> as Worker => claims;
        write record_healing(RecordHealing) -> () as Worker => record;
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
    let until = match row.parse("state", SeatState::parse)? {
        SeatState::Sold => Some(Timestamp::FAR_FUTURE),
        SeatState::Paying => None,
        SeatState::Held | SeatState::Free => row.get("expires_at")?,
    };
    Ok((row.get("seat_index")?, Claim { fan: row.get("user_id")?, until }))
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

//! Leases: one row per job, taken by comparing its end with now.

use super::store::SqlStore;
use super::tx::{Guard, Tx, work};
use super::value::{Row, params};
use app::ports::leases::{Lease, Leases, TakeLease};
use app::{Error, Result};
use async_trait::async_trait;
use domain::{NodeId, Timestamp};
use std::time::Duration;

struct GiveUp(Lease);

struct LeadsOf {
    holder: NodeId,
    now: Timestamp,
}

work!(TakeLease => take, Option<Lease>);
work!(GiveUp => give_up, ());
work!(LeadsOf => leads_of, Vec<String>);

#[async_trait]
impl Leases for SqlStore {
    async fn take_lease(&self, command: TakeLease) -> Result<Option<Lease>> {
        self.write(command).await
    }

    async fn give_up_lease(&self, lease: Lease) -> Result<()> {
        self.write(GiveUp(lease)).await
    }

    async fn leads_of(&self, holder: NodeId, now: Timestamp) -> Result<Vec<String>> {
        self.read(LeadsOf { holder, now }).await
    }
}

/// One statement, so that of two nodes one gets it. Whoever let it slip gets a new fence, too:
/// somebody may have led in between. A lease that ends later than any that could be asked for now
/// comes from a clock that ran ahead; waiting for it would leave the job undone.
async fn take(tx: &mut dyn Tx, command: &TakeLease) -> Result<Option<Lease>> {
    let sql = "insert into leases (job, holder, fence, held_until) values ($1, $2, 1, $3)
               on conflict (job) do update
                  set fence = leases.fence + case when leases.holder = excluded.holder
                                                   and leases.held_until > $4 then 0 else 1 end,
                      holder = excluded.holder, held_until = excluded.held_until
                where leases.holder = excluded.holder or leases.held_until <= $4
                   or leases.held_until > $5
               returning fence";
    let TakeLease { job, holder, until, now } = *command;
    let length = Duration::from_millis((until.ms() - now.ms()).unsigned_abs());
    let row = tx.row(sql, params![job, holder, until, now, until.plus(length)]).await?;
    let fence = row.map(|row| row.get(0)).transpose()?;
    Ok(fence.map(|fence| Lease { job, holder, fence, until }))
}

/// It ends at the beginning of time: whatever the clocks of others say, that is past.
async fn give_up(tx: &mut dyn Tx, command: &GiveUp) -> Result<()> {
    let sql = "update leases set held_until = $4
                where job = $1 and holder = $2 and fence = $3";
    let Lease { job, holder, fence, .. } = command.0;
    tx.execute(sql, params![job, holder, fence, Timestamp::from_ms(0)]).await?;
    Ok(())
}

async fn leads_of(tx: &mut dyn Tx, question: &LeadsOf) -> Result<Vec<String>> {
    let sql = "select job from leases where holder = $1 and held_until > $2 order by job";
    let rows = tx.query(sql, params![question.holder, question.now]).await?;
    rows.iter().map(|row: &Row| Ok(row.get(0)?)).collect()
}

/// Refuses what a node does that does not lead any more. The row stays locked to the end of the
/// transaction: the lead cannot pass between the check and the commit.
pub(super) async fn check_fence(tx: &mut dyn Tx, lease: &Lease) -> Result<()> {
    if !tx.has(Guard::Fence) {
        return Ok(());
    }
    let sql = "update leases set held_until = held_until
                where job = $1 and holder = $2 and fence = $3";
    if tx.execute(sql, params![lease.job, lease.holder, lease.fence]).await? == 1 {
        return Ok(());
    }
    Err(Error::Unavailable(format!("another node leads `{}` now", lease.job)))
}

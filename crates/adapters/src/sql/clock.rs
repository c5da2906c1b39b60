//! The database server's clock, which all nodes go by.

use super::store::SqlStore;
use super::tx::{Tx, work};
use app::ports::clock::ReferenceClock;
use app::{Error, Result};
use async_trait::async_trait;
use domain::Timestamp;

struct ReadClock;

work!(Worker: ReadClock => read_clock, Timestamp);

#[async_trait]
impl ReferenceClock for SqlStore {
    async fn shared_time(&self) -> Result<Option<Timestamp>> {
        match self.is_on_another_machine() {
            true => self.read(ReadClock).await.map(Some),
            false => Ok(None),
        }
    }
}

async fn read_clock(tx: &mut dyn Tx, _: &ReadClock) -> Result<Timestamp> {
    let row = tx.row("select clock_timestamp()", &[]).await?;
    let row = row.ok_or_else(|| Error::broken("the clock shows nothing"))?;
    Ok(row.get(0)?)
}

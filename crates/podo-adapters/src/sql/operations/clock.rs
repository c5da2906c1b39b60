//! The database server's clock, which all nodes use.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use podo_app::operations::port::clock::ReferenceClock;
use podo_app::{Error, Result};
use podo_domain::Timestamp;

commands! {
    impl ReferenceClock for SqlStore {
        command ReadClock {} -> Timestamp as Worker => read_clock;

        async fn shared_time(&self) -> Result<Option<Timestamp>> {
            match self.is_on_another_machine() {
                true => self.read(ReadClock {}).await.map(Some),
                false => Ok(None),
            }
        }
    }
}

async fn read_clock(tx: &mut dyn Tx, _: &ReadClock) -> Result<Timestamp> {
    let row = tx.row("select clock_timestamp() as shared_time", &[]).await?;
    let row = row.ok_or_else(|| Error::broken("the clock query returned no row"))?;
    Ok(row.get("shared_time")?)
}

//! The offset between our clock and those of other machines.

use crate::bootstrap;
use crate::bootstrap::Store;
use crate::config::Config;
use podo_adapters::clock::SystemClock;
use podo_adapters::live::redis::Connection;
use podo_adapters::sql::SqlStore;
use podo_app::operations::port::clock::Clock;

/// PostgreSQL's offset; SQLite has no clock of its own.
pub(super) async fn of_store(config: &Config) -> Option<i64> {
    let Ok(Store::Postgres(url)) = Store::named_by(&config.store_url, &config.data) else {
        return None;
    };
    let settings = config.postgres(&url).ok()?;
    apart(async { SqlStore::clock_ms(&settings).await.ok() }).await
}

/// The offset of Redis; the memory engine has no clock of its own.
pub(super) async fn of_live(config: &Config) -> Option<i64> {
    let address = bootstrap::redis_address(config).ok()??;
    let connection = Connection::open(address).await.ok()?;
    apart(async { connection.clock_ms().await.ok() }).await
}

/// The other clock minus ours, in milliseconds. The clock is read at some moment of the round trip,
/// so an offset within the round trip counts as 0.
async fn apart(ask: impl Future<Output = Option<i64>>) -> Option<i64> {
    let before = SystemClock.now().ms();
    let theirs = ask.await?;
    let after = SystemClock.now().ms();
    Some(outside(theirs, before, after))
}

const fn outside(theirs: i64, before: i64, after: i64) -> i64 {
    if theirs < before {
        theirs - before
    } else if after < theirs {
        theirs - after
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cannot_be_waiting_is_a_difference() {
        assert_eq!(outside(150, 100, 200), 0);
        assert_eq!(outside(90, 100, 200), -10);
        assert_eq!(outside(260, 100, 200), 60);
    }
}

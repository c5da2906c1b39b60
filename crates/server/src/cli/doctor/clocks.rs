//! How far the clocks of other machines are from ours.

use crate::config::Config;
use crate::wire::{self, Store};
use adapters::clock::SystemClock;
use adapters::redis::Connection;
use adapters::sql::SqlStore;
use app::ports::clock::Clock;

/// PostgreSQL's; a file has none.
pub(super) async fn of_store(config: &Config) -> Option<i64> {
    let Ok(Store::Postgres(url)) = Store::named_by(&config.store_url, &config.data) else {
        return None;
    };
    let settings = config.postgres(&url).ok()?;
    apart(async { SqlStore::clock_ms(&settings).await.ok() }).await
}

/// That of Redis; the process's own memory has none.
pub(super) async fn of_live(config: &Config) -> Option<i64> {
    let address = wire::redis_address(config).ok()??;
    let connection = Connection::open(address).await.ok()?;
    apart(async { connection.clock_ms().await.ok() }).await
}

/// The other clock minus ours, in milliseconds. It was read at some moment between asking and being
/// answered: what may have passed before or after is no difference.
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

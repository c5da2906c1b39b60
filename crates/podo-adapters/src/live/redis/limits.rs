//! Rate limits on Redis, by the generic cell rate algorithm (GCRA): one timestamp per key, as in
//! memory.

#[path = "limits_shared.rs"]
mod shared;

pub use shared::SharedBuckets;

use crate::live::redis::Connection;
use async_trait::async_trait;
use podo_app::Result;
use podo_app::operations::throttling::limits;
use podo_app::operations::throttling::limits::{Allowance, Quota};
use podo_domain::Timestamp;
use redis::Script;
use std::time::Duration;

/// Numbers in a script are exact up to 2^53, so longer periods are capped here.
const PERIOD_MAX: Duration = Duration::from_secs(10 * 365 * 24 * 3_600);

pub struct Limits {
    connection: Connection,
    take: Script,
}

impl Limits {
    pub fn new(connection: Connection) -> Limits {
        Limits { connection, take: Script::new(include_str!("limits/take.lua")) }
    }
}

#[async_trait]
impl limits::Limits for Limits {
    async fn take(&self, key: &str, quota: Quota, now: Timestamp) -> Result<Allowance> {
        if quota.burst == 0 {
            return Ok(Allowance::No { retry_after: quota.period });
        }
        let mut call = self.take.key(self.connection.key(format_args!("limit:{key}")));
        call.arg(now.ms().saturating_mul(1_000)).arg(token_micros(quota)).arg(quota.burst);
        let (is_allowed, number): (bool, u64) = self.connection.run(&call).await?;
        if is_allowed {
            return Ok(Allowance::Yes { left: u32::try_from(number).unwrap_or(u32::MAX) });
        }
        Ok(Allowance::No { retry_after: Duration::from_millis(number) })
    }
}

/// The refill time of one token. Rounded up, so that a quota is never exceeded by a fraction; never
/// zero, because a script divides by it.
fn token_micros(quota: Quota) -> u64 {
    let period = u64::try_from(quota.period.min(PERIOD_MAX).as_micros()).unwrap_or(u64::MAX);
    period.div_ceil(u64::from(quota.burst)).max(1)
}

#[test]
fn a_token_is_rounded_up_and_never_nothing() {
    let check = |burst, period, expected| {
        assert_eq!(token_micros(Quota { burst, period }), expected, "{burst} per {period:?}");
    };
    check(5, Duration::from_secs(10), 2_000_000);
    check(3, Duration::from_millis(1), 334);
    check(3, Duration::ZERO, 1);
    check(1, Duration::MAX, 315_360_000_000_000);
}

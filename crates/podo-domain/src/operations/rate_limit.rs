//! Rate limits: token buckets by the generic cell rate algorithm (GCRA), on one node or shared.
//!
//! A bucket is one moment: when it is full again. A request moves it forward by the time that
//! refills one token; a request that would move it more than a whole burst ahead is refused and
//! moves nothing.

mod node_bucket;

pub use node_bucket::NodeBucket;

use crate::Refusal;
use std::time::Duration;

/// Nanoseconds since 1970, because a token's refill time is rarely a whole number of milliseconds.
pub type Nanos = i64;

/// `burst` requests at once, refilled at `burst` per `period`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub burst: u32,
    pub period: Duration,
}

impl Quota {
    pub const fn per_second(burst: u32) -> Quota {
        Quota { burst, period: Duration::from_secs(1) }
    }

    pub const fn per_minute(burst: u32) -> Quota {
        Quota { burst, period: Duration::from_secs(60) }
    }

    /// Most tokens that a node takes before the shared bucket has counted them.
    pub const fn share(self) -> u32 {
        self.burst.div_ceil(4)
    }

    /// A node reports a key when it has taken this many of its tokens in one period. Keys below
    /// that cost no call, and over all nodes they stay within the budget.
    pub fn report_at(self, n_nodes: u32) -> u32 {
        (self.share() / 2).min(self.burst / n_nodes.max(1)).max(1)
    }

    /// How far below empty a shared bucket can go: a share of every node, plus one that a node took
    /// since.
    pub const fn overdraft(self, n_nodes: u32) -> u32 {
        self.share().saturating_mul(n_nodes.saturating_add(1))
    }

    /// The time that refills one token. Rounded up, so that a quota is never exceeded by a
    /// fraction.
    #[inline]
    fn token(self) -> Nanos {
        let burst = i64::from(self.burst.max(1));
        self.period_nanos().saturating_add(burst - 1) / burst
    }

    /// 73 years count as forever.
    #[inline]
    fn period_nanos(self) -> Nanos {
        const SECONDS_MAX: u64 = (i64::MAX / 4) as u64 / 1_000_000_000;
        let nanos = self.period.as_secs().min(SECONDS_MAX) * 1_000_000_000;
        nanos as i64 + i64::from(self.period.subsec_nanos())
    }

    fn tokens(self, count: u32) -> Nanos {
        self.token().saturating_mul(count.into())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowance {
    Yes { left: u32 },
    No { retry_after: Duration },
}

impl Allowance {
    /// How many are left; the refusal says when to retry.
    pub fn or_refuse(self) -> Result<u32, Refusal> {
        match self {
            Allowance::Yes { left } => Ok(left),
            Allowance::No { retry_after } => {
                Err(Refusal::TooManyRequests { retry_after_s: retry_after.as_secs() + 1 })
            }
        }
    }
}

/// Tokens that a node took and reports to the shared bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    pub quota: Quota,
    pub taken: u32,
    /// How many nodes share the bucket.
    pub n_nodes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    pub full_at: Nanos,
}

impl TokenBucket {
    pub const FULL: TokenBucket = TokenBucket { full_at: i64::MIN };

    pub const fn is_full(self, now: Nanos) -> bool {
        self.full_at <= now
    }

    /// Takes one token, if there is one.
    #[inline]
    pub fn take(&mut self, quota: Quota, now: Nanos) -> Allowance {
        self.take_above(quota, 0, now)
    }

    /// The same for a bucket that may be below empty by this many tokens at most. More means that a
    /// clock was set back.
    #[inline]
    fn take_above(&mut self, quota: Quota, overdraft: u32, now: Nanos) -> Allowance {
        if quota.burst == 0 {
            return Allowance::No { retry_after: quota.period };
        }
        let token = quota.token();
        // Divides only once, because this runs on every request.
        let latest = now.saturating_add(token.saturating_mul(quota.burst.into()));
        let furthest = latest.saturating_add(token.saturating_mul(overdraft.into()));
        self.full_at = self.full_at.clamp(now, furthest);
        let next = self.full_at.saturating_add(token);
        let over = next.saturating_sub(latest);
        if over > 0 {
            return Allowance::No { retry_after: whole_ms(over) };
        }
        self.full_at = next;
        let left = if token == 0 { quota.burst.into() } else { -over / token };
        Allowance::Yes { left: u32::try_from(left).unwrap_or(u32::MAX) }
    }

    /// The bucket after a node took tokens from it, available or not. The deficit is kept up to the
    /// overdraft, so that in the long run no more is taken than was refilled.
    #[must_use]
    pub fn after(self, report: Report, now: Nanos) -> TokenBucket {
        let Report { quota, taken, n_nodes } = report;
        let ahead = quota.burst.saturating_add(quota.overdraft(n_nodes));
        let full_at = self.full_at.max(now).saturating_add(quota.tokens(taken));
        TokenBucket { full_at: full_at.min(now.saturating_add(quota.tokens(ahead))) }
    }
}

/// Rounded up to the clock's resolution, so that a client that waits exactly this long isn't too
/// early.
fn whole_ms(nanos: Nanos) -> Duration {
    let ms = nanos.saturating_add(999_999) / 1_000_000;
    Duration::from_millis(u64::try_from(ms).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;

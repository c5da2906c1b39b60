//! What one node knows of a bucket that all nodes share.
//!
//! The node answers from this copy and reports what it took. The shared bucket counts the reports of
//! all nodes, and its answer replaces the copy, plus what the node took meanwhile. Until the answer
//! is there the node takes one share at most, so `n` nodes together take at most
//! `burst + n × share` in excess of the refill, however slow the reports are. What was taken in
//! excess is missing in the shared bucket and is refilled before anybody takes more.

use super::{Allowance, Nanos, Quota, Report, TokenBucket, whole_ms};

#[derive(Clone, Copy, Debug)]
pub struct NodeBucket {
    tokens: TokenBucket,
    /// When the first of the unreported tokens was taken.
    since: Nanos,
    /// Taken here and not counted by the shared bucket yet, those on their way included.
    unreported: u32,
    pub(super) is_due: bool,
    /// The last report failed: this node's own limit is all that there is.
    is_alone: bool,
}

impl Default for NodeBucket {
    fn default() -> NodeBucket {
        NodeBucket {
            tokens: TokenBucket::FULL,
            since: Nanos::MIN,
            unreported: 0,
            is_due: false,
            is_alone: false,
        }
    }
}

impl NodeBucket {
    /// Takes one token; also says whether the key has just become due for a report. With one node
    /// there is nothing to share, and nothing is counted for reports.
    #[inline]
    pub fn take(&mut self, quota: Quota, n_nodes: u32, now: Nanos) -> (Allowance, bool) {
        if n_nodes < 2 {
            return (self.tokens.take(quota, now), false);
        }
        if !self.is_due && self.is_count_over(quota, now) {
            self.unreported = 0;
        }
        if self.is_due && !self.is_alone && quota.share() <= self.unreported {
            return (Allowance::No { retry_after: whole_ms(quota.token()) }, false);
        }
        let allowance = self.tokens.take_above(quota, quota.overdraft(n_nodes), now);
        if let Allowance::No { .. } = allowance {
            return (allowance, false);
        }
        if self.unreported == 0 {
            self.since = now;
        }
        self.unreported = self.unreported.saturating_add(1).min(quota.burst);
        let becomes_due = !self.is_due && quota.report_at(n_nodes) <= self.unreported;
        self.is_due |= becomes_due;
        (allowance, becomes_due)
    }

    /// What the next report says.
    pub const fn report(&self, quota: Quota, n_nodes: u32) -> Report {
        Report { quota, taken: self.unreported, n_nodes }
    }

    /// The shared bucket has counted a report of this node. Says whether the next one is due already.
    pub fn reported(&mut self, report: Report, shared: TokenBucket, now: Nanos) -> bool {
        let Report { quota, taken, n_nodes } = report;
        self.unreported = self.unreported.saturating_sub(taken);
        let full_at = shared.full_at.saturating_add(quota.tokens(self.unreported));
        self.tokens.full_at = self.tokens.full_at.max(full_at);
        (self.since, self.is_alone) = (now, false);
        self.is_due = quota.report_at(n_nodes) <= self.unreported;
        self.is_due
    }

    /// Nobody knows whether the tokens were counted. They are not reported again: when the shared
    /// bucket is back, they have long been refilled.
    pub fn report_failed(&mut self, report: Report) {
        self.unreported = self.unreported.saturating_sub(report.taken);
        (self.is_due, self.is_alone) = (false, true);
    }

    /// No answer is to be expected: this node's own limit counts until one comes.
    pub fn stand_alone(&mut self, is_due: bool) {
        (self.is_due, self.is_alone) = (is_due, true);
    }

    /// Whether forgetting the bucket changes nothing.
    pub fn is_idle(&self, quota: Quota, now: Nanos) -> bool {
        let is_counting = 0 < self.unreported && !self.is_count_over(quota, now);
        self.tokens.is_full(now) && !self.is_due && !is_counting
    }

    /// Tokens of a key that is not due in a whole period are never reported. A clock that was set
    /// back ends the count, too.
    #[inline]
    fn is_count_over(&self, quota: Quota, now: Nanos) -> bool {
        now < self.since || quota.period_nanos() <= now.saturating_sub(self.since)
    }
}

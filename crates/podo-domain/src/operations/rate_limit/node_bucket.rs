//! One node's view of a bucket that all nodes share.
//!
//! The node decides from this copy and reports what it took. The shared bucket adds up the reports
//! of all nodes, and its answer replaces the copy, plus what the node took meanwhile. Until the
//! answer arrives the node takes one share at most, so `n` nodes together take at most `burst + n ×
//! share` in excess of the refill, however slow the reports are. The excess is missing in the
//! shared bucket and is refilled before more can be taken.

use crate::operations::rate_limit::{Allowance, Nanos, Quota, Report, TokenBucket, whole_ms};

#[derive(Clone, Copy, Debug)]
pub struct NodeBucket {
    tokens: TokenBucket,
    /// When the first of the unreported tokens was taken.
    since: Nanos,
    /// Taken here and not yet counted by the shared bucket, including those in a pending report.
    unreported: u32,
    pub(crate) is_due: bool,
    /// The last report failed: only this node's own limit applies.
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
    /// Takes one token, and returns whether the key has just become due for a report. With a single
    /// node nothing is counted for reports.
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

    /// The next report.
    pub const fn report(&self, quota: Quota, n_nodes: u32) -> Report {
        Report { quota, taken: self.unreported, n_nodes }
    }

    /// Applies the answer to a report. Returns whether the next one is already due.
    pub fn reported(&mut self, report: Report, shared: TokenBucket, now: Nanos) -> bool {
        let Report { quota, taken, n_nodes } = report;
        self.unreported = self.unreported.saturating_sub(taken);
        let full_at = shared.full_at.saturating_add(quota.tokens(self.unreported));
        self.tokens.full_at = self.tokens.full_at.max(full_at);
        (self.since, self.is_alone) = (now, false);
        self.is_due = quota.report_at(n_nodes) <= self.unreported;
        self.is_due
    }

    /// Whether the tokens were counted is unknown. They aren't reported again, because they will
    /// have been refilled by the time the shared bucket is back.
    pub fn report_failed(&mut self, report: Report) {
        self.unreported = self.unreported.saturating_sub(report.taken);
        (self.is_due, self.is_alone) = (false, true);
    }

    /// No answer is expected: this node's own limit applies until one arrives.
    pub fn stand_alone(&mut self, is_due: bool) {
        (self.is_due, self.is_alone) = (is_due, true);
    }

    /// Whether the bucket can be dropped without any effect.
    pub fn is_idle(&self, quota: Quota, now: Nanos) -> bool {
        let is_counting = 0 < self.unreported && !self.is_count_over(quota, now);
        self.tokens.is_full(now) && !self.is_due && !is_counting
    }

    /// Tokens of a key that doesn't become due within a whole period are never reported. A clock
    /// that was set back also ends the count.
    #[inline]
    fn is_count_over(&self, quota: Quota, now: Nanos) -> bool {
        now < self.since || quota.period_nanos() <= now.saturating_sub(self.since)
    }
}

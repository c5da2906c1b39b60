//! Rate limits.

pub mod contract;
pub mod shared_contract;

use crate::error::Result;
use async_trait::async_trait;
use domain::Timestamp;
use domain::rate_limit::{Report, TokenBucket};
use fnv::FnvHasher;
use std::hash::Hasher;

pub use domain::rate_limit::{Allowance, Quota};

/// Every engine keeps these rules; `contract` checks them:
/// - at most `burst` requests pass at one instant, and `burst` per `period` in the long run;
/// - a refused request costs nothing: a client that keeps knocking is let in again in time;
/// - different keys do not disturb each other.
#[async_trait]
pub trait Limits: Send + Sync {
    async fn take(&self, key: &str, quota: Quota, now: Timestamp) -> Result<Allowance>;
}

/// What a node took of the bucket of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    pub key: String,
    pub report: Report,
}

/// Buckets that all nodes share. No request waits for them: nodes answer from memory and report
/// afterwards, many keys in one call.
///
/// Every engine keeps these rules; `shared_contract` checks them:
/// - the reports of all nodes add up, and are refilled at the quota's rate;
/// - a bucket is kept below empty as far as the quota's overdraft, and no further;
/// - the answers come in the order of the reports, and different keys do not disturb each other.
#[async_trait]
pub trait SharedBuckets: Send + Sync {
    /// Counts the reports of keys of one group, and gives their buckets as they are then.
    async fn report(
        &self,
        group: Group,
        usage: &[Usage],
        now: Timestamp,
    ) -> Result<Vec<TokenBucket>>;
}

/// Keys that are reported in one call: on a cluster they are in one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group(u8);

impl Group {
    pub const COUNT: usize = 8;

    /// The group of a key, the same on every node.
    pub fn of(key: &str) -> Group {
        Group((fnv1a(key.as_bytes()) % Group::COUNT as u64) as u8)
    }

    pub fn all() -> impl Iterator<Item = Group> {
        (0..Group::COUNT as u8).map(Group)
    }

    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A hash that is the same on every node and in every version.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

#[test]
fn groups_are_the_same_for_ever_and_all_are_used() {
    assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    let mut counts = [0; Group::COUNT];
    (0..8_000).for_each(|number| counts[Group::of(&format!("ip:{number}")).index()] += 1);
    assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
}

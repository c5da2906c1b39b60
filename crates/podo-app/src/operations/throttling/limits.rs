//! Rate limits.

#[path = "limits_contract.rs"]
pub mod contract;
#[path = "limits_shared_contract.rs"]
pub mod shared_contract;

use crate::error::Result;
use async_trait::async_trait;
use fnv::FnvHasher;
use podo_domain::Timestamp;
use podo_domain::operations::rate_limit::{Report, TokenBucket};
use std::hash::Hasher;

pub use podo_domain::operations::rate_limit::{Allowance, Quota};

/// Every engine keeps these rules; `contract` checks them:
/// - at most `burst` requests pass at one instant, and `burst` per `period` in the long run;
/// - a refused request costs nothing, so a client that keeps retrying passes again in time;
/// - different keys don't affect each other.
#[async_trait]
pub trait Limits: Send + Sync {
    async fn take(&self, key: &str, quota: Quota, now: Timestamp) -> Result<Allowance>;
}

/// What a node took from the bucket of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    pub key: String,
    pub report: Report,
}

/// Buckets that all nodes share. No request waits for them: nodes decide from memory and report
/// afterwards, many keys in one call.
///
/// Every engine keeps these rules; `shared_contract` checks them:
/// - the reports of all nodes add up, and the bucket refills at the quota's rate;
/// - a bucket can go negative down to the quota's overdraft, and no further;
/// - the answers are in the order of the reports, and different keys don't affect each other.
#[async_trait]
pub trait SharedBuckets: Send + Sync {
    /// Counts the reports for keys of one group and returns the resulting buckets.
    async fn report(
        &self,
        group: Group,
        usage: &[Usage],
        now: Timestamp,
    ) -> Result<Vec<TokenBucket>>;
}

/// Keys that are reported in one call; on a cluster they share a hash slot.
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

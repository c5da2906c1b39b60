//! Jobs do one bounded round each. The binary runs the loops that call them.

use crate::context::AppContext;
use crate::error::{Error, Result};
use uuid::Uuid;

/// The names under which failed items are postponed; the same as in `podo jobs list`.
pub(crate) const ANNOUNCE: &str = "announce";
pub(crate) const DEPOSITS: &str = "deposits";
pub(crate) const DRAW: &str = "draw";
pub(crate) const EXPIRE: &str = "expire";
pub(crate) const RELEASE_KEPT: &str = "release-kept";
pub(crate) const OFFER: &str = "offer";
pub(crate) const OFFER_DRAWN: &str = "offer-drawn";
pub(crate) const SETTLE: &str = "settle";
pub(crate) const REFUND_CANCELED: &str = "refund-canceled";
pub(crate) const FOLLOW: &str = "webhooks";
pub(crate) const RETENTION: &str = "retention";
pub(crate) const RESELL: &str = "resell";
pub(crate) const NAMES: &str = "names";
pub(crate) const ERASE: &str = "payment-retention";

/// A failing item is postponed with growing delays while the others continue. The round fails only
/// if that can't be stored.
pub(crate) async fn put_off(
    context: &AppContext,
    job: &'static str,
    item: Uuid,
    error: &Error,
) -> Result<()> {
    tracing::warn!(job, %item, %error, "Item of job {job} postponed after a failure");
    context.store.put_off(job, item, error.to_string(), context.now()).await
}

/// The result of a round. A full round means that there may be more to do at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    pub done: u64,
    pub failed: u64,
    pub is_full: bool,
}

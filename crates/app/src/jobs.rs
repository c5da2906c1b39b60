//! Jobs: one bounded round each. The loops that call them live in the server.

mod admit;
mod clean;
mod deliver;
mod erase;
mod expire;
mod notify;
mod offer;
mod reconcile;
mod refund;
mod refund_canceled;
mod relay;
mod replay;
mod schedule_status;
mod settle;
mod verify;
mod webhooks;

pub use admit::{admit_fans, open_rooms};
pub use clean::{forget_messages, forget_rooms, keep_less, keep_logins};
pub use deliver::deliver_webhooks;
pub use erase::erase_old_records;
pub use expire::expire_holds;
pub use notify::send_notices;
pub use offer::offer_seats;
pub use reconcile::reconcile_seats;
pub use refund::make_refunds;
pub use refund_canceled::refund_canceled_shows;
pub use relay::relay_messages;
pub use replay::replay_dead_letters;
pub use schedule_status::update_schedule_statuses;
pub use settle::settle_unknown_payments;
pub use verify::verify_promises;
pub use webhooks::follow_webhooks;

use crate::error::{Error, Result};
use crate::platform::Platform;
use uuid::Uuid;

/// The names under which the items of jobs are put off; those of `podo jobs list`.
const EXPIRE: &str = "expire";
const OFFER: &str = "offer";
const SETTLE: &str = "settle";
const REFUND_CANCELED: &str = "refund-canceled";
const FOLLOW: &str = "webhooks";
const RETENTION: &str = "retention";
const ERASE: &str = "payment-retention";

/// The failure of an item is the item's: it waits, longer each time, and the others go on. Only when
/// that cannot be stored is it the round's.
async fn put_off(platform: &Platform, job: &'static str, item: Uuid, error: &Error) -> Result<()> {
    tracing::warn!(job, %item, %error, "An item of {job} is put off");
    platform.store.put_off(job, item, error.to_string(), platform.now()).await
}

/// What a round did. A full round means that there may be more to do at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    pub done: u64,
    pub failed: u64,
    pub is_full: bool,
}

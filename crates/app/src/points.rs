//! Points at which a test ends the process: before and after whatever must not be torn apart.
//! Only builds with the feature `fail-points` have them; what is shipped reads no switch.
//!
//! Twenty lines instead of a crate: the only thing a point does is to die.

/// Every point, so that a test can visit each. Those of led jobs are far apart: a process that dies
/// leads on until its lease is over.
pub const ALL: [&str; 12] = [
    WORKED,
    STORE_BEFORE_COMMIT,
    STORE_AFTER_COMMIT,
    HOLD_FILTERED,
    HOLD_STORED,
    CHARGE_BEFORE,
    CHARGE_AFTER,
    SALE_STORED,
    REFUND_BEFORE,
    REFUND_AFTER,
    ADMITTED,
    PUBLISHED,
];

pub const STORE_BEFORE_COMMIT: &str = "store-before-commit";
pub const STORE_AFTER_COMMIT: &str = "store-after-commit";
/// The filter promised seats, the store does not know.
pub const HOLD_FILTERED: &str = "hold-filtered";
/// The store has the hold, the fan does not know.
pub const HOLD_STORED: &str = "hold-stored";
pub const CHARGE_BEFORE: &str = "charge-before";
pub const CHARGE_AFTER: &str = "charge-after";
/// The purchase is stored, the live engines do not know.
pub const SALE_STORED: &str = "sale-stored";
pub const REFUND_BEFORE: &str = "refund-before";
pub const REFUND_AFTER: &str = "refund-after";
/// The engine let fans in, the store does not know.
pub const ADMITTED: &str = "admitted";
/// The bus took a message, the outbox does not know.
pub const PUBLISHED: &str = "published";
/// A worker is done with messages, the bus does not know.
pub const WORKED: &str = "worked";

/// Comes by a point; nothing happens in what is shipped.
#[cfg(not(feature = "fail-points"))]
#[inline]
pub const fn reach(_point: &'static str) {}

/// Comes by a point: `PODO_FAIL_POINT=name:n` ends the process at the n-th time, as a power cut
/// would.
#[cfg(feature = "fail-points")]
pub fn reach(point: &'static str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static ARMED: OnceLock<Option<(String, AtomicU64)>> = OnceLock::new();
    let armed = ARMED.get_or_init(|| {
        #[expect(clippy::disallowed_methods, reason = "a switch of tests, not a setting")]
        let text = std::env::var("PODO_FAIL_POINT").ok()?;
        let (name, n_left) = text.split_once(':')?;
        Some((name.to_owned(), AtomicU64::new(n_left.parse().ok()?)))
    });
    let Some((name, n_left)) = armed else { return };
    if name == point && n_left.fetch_sub(1, Ordering::SeqCst) == 1 {
        std::process::abort();
    }
}

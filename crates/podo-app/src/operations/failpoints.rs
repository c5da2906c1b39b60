//! Failpoints: places where a test kills the process, before and after steps that must be atomic.
//! They exist only with the feature `fail-points`; a shipped build reads no switch.
//!
//! Twenty lines instead of a crate, because the only action of a failpoint is to exit.

/// Every failpoint, so that a test can visit each. Those of jobs with a lease are far apart,
/// because a killed process keeps its leases until they expire.
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
/// The filter accepted the seats; the store doesn't know yet.
pub const HOLD_FILTERED: &str = "hold-filtered";
/// The store has the hold; the fan doesn't know yet.
pub const HOLD_STORED: &str = "hold-stored";
pub const CHARGE_BEFORE: &str = "charge-before";
pub const CHARGE_AFTER: &str = "charge-after";
/// The purchase is stored; the live engines don't know yet.
pub const SALE_STORED: &str = "sale-stored";
pub const REFUND_BEFORE: &str = "refund-before";
pub const REFUND_AFTER: &str = "refund-after";
/// The engine admitted fans; the store doesn't know yet.
pub const ADMITTED: &str = "admitted";
/// The bus accepted a message; the outbox doesn't know yet.
pub const PUBLISHED: &str = "published";
/// A worker processed messages; the bus doesn't know yet.
pub const WORKED: &str = "worked";

/// Does nothing in a shipped build.
#[cfg(not(feature = "fail-points"))]
#[inline]
pub const fn reach(_point: &'static str) {}

/// `PODO_FAIL_POINT=name:n` kills the process the n-th time it reaches this point, like a power
/// cut.
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

//! Erases purchase records after the configured retention period.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::operations::jobs::{ERASE, Round, put_off};
use crate::operations::retention::cleanup::count;
use podo_domain::Timestamp;

/// Reservations in one round: each has a transaction of its own.
const RESERVATIONS_MAX: u32 = 200;
const ROWS_MAX: u32 = 1_000;

/// Erases reservations one by one, then wallet charges, notifications and stored answers of the
/// same age.
pub async fn erase_old_records(context: &AppContext, now: Timestamp) -> Result<Round> {
    let (store, before) = (&context.store, now.minus(context.rules.records_for));
    let mut round = Round::default();
    let old = store.old_reservations(before, RESERVATIONS_MAX, now).await?;
    for reservation in &old {
        match store.erase_reservation(*reservation, before).await {
            Ok(is_erased) => round.done += u64::from(is_erased),
            Err(error @ Error::Unavailable(_)) => return Err(error),
            Err(error) => {
                put_off(context, ERASE, reservation.uuid(), &error).await?;
                round.failed += 1;
            }
        }
    }
    // Reservations that couldn't be erased are postponed, so the next round finds others.
    round.is_full = old.len() >= RESERVATIONS_MAX as usize && round.done + round.failed > 0;
    count(&mut round, "wallet charges", store.erase_charges(before, ROWS_MAX).await);
    count(&mut round, "notifications", store.erase_notifications(before, ROWS_MAX).await);
    count(&mut round, "payment idempotency keys", store.forget_money_keys(before, ROWS_MAX).await);
    Ok(round)
}

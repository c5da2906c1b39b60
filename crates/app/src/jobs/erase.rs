//! Erases the records of purchases when they have been kept for as long as the operator chose.

use super::clean::count;
use super::{ERASE, Round, put_off};
use crate::error::{Error, Result};
use crate::platform::Platform;
use domain::Timestamp;

/// Reservations of one round: each has a transaction of its own.
const RESERVATIONS_MAX: u32 = 200;
const ROWS_MAX: u32 = 1_000;

/// Reservations one by one; then charges of wallets, letters and answers that are as old.
pub async fn erase_old_records(platform: &Platform, now: Timestamp) -> Result<Round> {
    let (store, before) = (&platform.store, now.minus(platform.rules.records_for));
    let mut round = Round::default();
    let old = store.old_reservations(before, RESERVATIONS_MAX, now).await?;
    for reservation in &old {
        match store.erase_reservation(*reservation, before).await {
            Ok(is_erased) => round.done += u64::from(is_erased),
            Err(error @ Error::Unavailable(_)) => return Err(error),
            Err(error) => {
                put_off(platform, ERASE, reservation.uuid(), &error).await?;
                round.failed += 1;
            }
        }
    }
    // Those that could not be erased are put off: the next round finds others.
    round.is_full = old.len() >= RESERVATIONS_MAX as usize && round.done + round.failed > 0;
    count(&mut round, "wallet charges", store.erase_charges(before, ROWS_MAX).await);
    count(&mut round, "letters", store.erase_letters(before, ROWS_MAX).await);
    count(&mut round, "keys of money", store.forget_money_keys(before, ROWS_MAX).await);
    Ok(round)
}

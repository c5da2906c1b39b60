//! Confirmations that staff send again.

use crate::booking::issued::Channel;
use crate::booking::reservations::ReservationStatus;
use crate::{Refusal, Timestamp};
use std::time::Duration;

/// Most confirmations of one booking that are sent again within [`RESEND_PERIOD`], so that no one's
/// mailbox is flooded.
pub const RESENDS_MAX: usize = 5;

pub const RESEND_PERIOD: Duration = Duration::from_secs(24 * 60 * 60);

/// Whether a booking's confirmation may be sent again. `recent` are the earlier ones of the period.
pub fn check_resend(
    channel: Channel,
    status: ReservationStatus,
    recent: &[Timestamp],
    now: Timestamp,
) -> Result<(), Refusal> {
    // The customer of the desk has no account: the tickets are printed.
    if !channel.is_fan() {
        return Err(Refusal::DeskOrder);
    }
    match status {
        ReservationStatus::Confirmed => {}
        ReservationStatus::Canceled => return Err(Refusal::AlreadyCanceled),
        ReservationStatus::Held
        | ReservationStatus::Paying
        | ReservationStatus::Expired
        | ReservationStatus::Released => return Err(Refusal::NotPaid),
    }
    let Some(oldest) = recent.iter().min().filter(|_| recent.len() >= RESENDS_MAX) else {
        return Ok(());
    };
    let ms = oldest.plus(RESEND_PERIOD).ms() - now.ms();
    let retry_after_s = u64::try_from(ms).unwrap_or(0).div_ceil(1_000).max(1);
    Err(Refusal::TooManyRequests { retry_after_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_paid_booking_has_a_confirmation() {
        let check = |status| check_resend(Channel::Fan, status, &[], Timestamp::from_ms(0));
        assert_eq!(check(ReservationStatus::Confirmed), Ok(()));
        assert_eq!(check(ReservationStatus::Canceled), Err(Refusal::AlreadyCanceled));
        assert_eq!(check(ReservationStatus::Held), Err(Refusal::NotPaid));
    }

    #[test]
    fn the_sixth_within_a_day_waits_until_the_first_is_a_day_old() {
        let now = Timestamp::from_ms(100_000_000);
        let recent: Vec<Timestamp> = (1..=5).map(|hours| now.minus(HOUR * hours)).collect();
        let check = |recent: &[Timestamp]| {
            check_resend(Channel::Fan, ReservationStatus::Confirmed, recent, now)
        };
        assert_eq!(check(&recent[..4]), Ok(()));
        let retry_after_s = 19 * 3_600;
        assert_eq!(check(&recent), Err(Refusal::TooManyRequests { retry_after_s }));
    }

    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn a_customer_of_the_desk_gets_no_confirmation() {
        for channel in [Channel::BoxOffice, Channel::Complimentary] {
            let told =
                check_resend(channel, ReservationStatus::Confirmed, &[], Timestamp::from_ms(0));
            assert_eq!(told, Err(Refusal::DeskOrder));
        }
    }
}

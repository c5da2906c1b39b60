//! Retention of purchase records.

use crate::Timestamp;
use crate::booking::reservations::ReservationStatus;
use crate::payments::PaymentStatus;
use crate::payments::refunds::RefundStatus;
use std::time::Duration;

/// Korean law requires records of contracts and payments for five years (Act on the Consumer
/// Protection in Electronic Commerce, Enforcement Decree, article 6). Operators who keep books for
/// longer can choose up to seven.
pub const YEARS_MIN: u32 = 5;
pub const YEARS_MAX: u32 = 7;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// At least this many calendar years, whichever of them are leap years; `None` outside the limits.
pub fn records_kept_for(years: u32) -> Option<Duration> {
    let is_allowed = (YEARS_MIN..=YEARS_MAX).contains(&years);
    is_allowed.then(|| DAY * (years * 365 + 2))
}

/// The facts about a reservation whose records may be erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub status: ReservationStatus,
    pub changed_at: Timestamp,
    /// When both the show and the sale are over.
    pub over_at: Timestamp,
    pub payments: Vec<(PaymentStatus, Timestamp)>,
    pub refunds: Vec<(RefundStatus, Timestamp)>,
}

impl Record {
    /// Whether the record is final and hasn't changed since `before`.
    pub fn may_be_erased(&self, before: Timestamp) -> bool {
        let is_old = |at: Timestamp| at < before;
        is_over(self.status)
            && is_old(self.changed_at)
            && is_old(self.over_at)
            && self.payments.iter().all(|(status, at)| is_settled(*status) && is_old(*at))
            && self
                .refunds
                .iter()
                .all(|(status, at)| *status == RefundStatus::Refunded && is_old(*at))
    }
}

fn is_over(status: ReservationStatus) -> bool {
    match status {
        ReservationStatus::Held | ReservationStatus::Paying => false,
        ReservationStatus::Confirmed
        | ReservationStatus::Canceled
        | ReservationStatus::Expired
        | ReservationStatus::Released => true,
    }
}

/// Whether no money is in transit.
fn is_settled(status: PaymentStatus) -> bool {
    match status {
        PaymentStatus::Requested
        | PaymentStatus::Unknown
        | PaymentStatus::AwaitingDeposit
        | PaymentStatus::RefundDue => false,
        PaymentStatus::Ready
        | PaymentStatus::Captured
        | PaymentStatus::PartiallyRefunded
        | PaymentStatus::Refunded
        | PaymentStatus::Failed
        | PaymentStatus::Canceled => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn record() -> Record {
        Record {
            status: ReservationStatus::Confirmed,
            changed_at: at(9),
            over_at: at(9),
            payments: vec![(PaymentStatus::Failed, at(8)), (PaymentStatus::Captured, at(9))],
            refunds: vec![(RefundStatus::Refunded, at(9))],
        }
    }

    #[test]
    fn years_are_five_to_seven_and_never_shorter_than_on_the_calendar() {
        assert_eq!((records_kept_for(4), records_kept_for(8)), (None, None));
        // 2028 and 2032 are leap years.
        let calendar = [(5, "2033-02-01"), (6, "2034-02-01"), (7, "2035-02-01")];
        let start: Timestamp = "2028-02-01T00:00:00Z".parse().unwrap();
        for (years, end) in calendar {
            let end: Timestamp = format!("{end}T00:00:00Z").parse().unwrap();
            assert_eq!(start.plus(records_kept_for(years).unwrap()), end, "{years}");
        }
    }

    #[test]
    fn a_record_is_erased_when_all_of_it_is_over_and_old() {
        assert!(record().may_be_erased(at(10)));
        assert!(!record().may_be_erased(at(9)));
        let young: [fn(&mut Record); 4] = [
            |it| it.changed_at = at(10),
            |it| it.over_at = at(10),
            |it| it.payments[0].1 = at(10),
            |it| it.refunds[0].1 = at(10),
        ];
        for change in young {
            let mut record = record();
            change(&mut record);
            assert!(!record.may_be_erased(at(10)), "{record:?}");
        }
    }

    #[test]
    fn a_record_with_money_on_its_way_stays_however_old_it_is() {
        use PaymentStatus::{RefundDue, Requested, Unknown};
        for status in [Requested, Unknown, RefundDue] {
            let record = Record { payments: vec![(status, at(1))], ..record() };
            assert!(!record.may_be_erased(at(10)), "{status:?}");
        }
        let due = Record { refunds: vec![(RefundStatus::Due, at(1))], ..record() };
        assert!(!due.may_be_erased(at(10)));
        for status in [ReservationStatus::Held, ReservationStatus::Paying] {
            assert!(!Record { status, ..record() }.may_be_erased(at(10)), "{status:?}");
        }
    }
}

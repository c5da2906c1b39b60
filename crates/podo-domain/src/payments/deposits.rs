//! Virtual accounts: until when a deposit is awaited, what each deposit means, and the account that
//! a refund goes to.

pub mod banks;
mod settling;
#[cfg(test)]
mod tests;

pub use banks::Bank;
pub(super) use settling::{settle_awaited, settle_more};

use crate::catalog::text::Line;
use crate::{Refusal, Timestamp, Won};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A deposit is awaited until a day before the show at the latest, so that its seats can still be
/// sold to other fans.
pub const BEFORE_SHOW: Duration = Duration::from_secs(24 * 3_600);

/// The least time that a fan gets for the transfer.
pub const TIME_MIN: Duration = Duration::from_secs(3_600);

/// Banks report a deposit of the last second a little later, so the account is closed after this.
pub const CLOSE_AFTER: Duration = Duration::from_secs(2 * 60);

/// How long before the deadline a fan who hasn't paid is reminded.
pub const REMIND_BEFORE: Duration = Duration::from_secs(3 * 3_600);

/// For how long after the deadline the gateway is asked about deposits that came late or twice.
pub const WATCH_FOR: Duration = Duration::from_secs(3 * 86_400);

/// Why an account was closed.
pub const EXPIRED: &str = "DEPOSIT_EXPIRED";
pub const CANCELED: &str = "DEPOSIT_CANCELED";

/// Why money of a virtual account goes back.
pub const TOO_LITTLE: &str = "DEPOSIT_TOO_LITTLE";
pub const TOO_MUCH: &str = "DEPOSIT_TOO_MUCH";

/// How long the fans of an event may take for the transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(try_from = "DeadlineText", into = "DeadlineText", rename_all = "camelCase")]
pub enum DepositDeadline {
    /// Until the end of the day, so many days after the booking.
    Days(u32),
    Hours(u32),
}

/// A deadline before its numbers are checked.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum DeadlineText {
    Days(u32),
    Hours(u32),
}

impl DepositDeadline {
    pub const DAYS_MAX: u32 = 7;
    pub const HOURS_MAX: u32 = 168;

    /// As one text for the store.
    pub fn to_text(self) -> String {
        match self {
            DepositDeadline::Days(days) => format!("days:{days}"),
            DepositDeadline::Hours(hours) => format!("hours:{hours}"),
        }
    }

    pub fn parse(text: &str) -> Option<DepositDeadline> {
        let (unit, count) = text.split_once(':')?;
        let count = count.parse().ok()?;
        let read = match unit {
            "days" => DeadlineText::Days(count),
            "hours" => DeadlineText::Hours(count),
            _ => return None,
        };
        DepositDeadline::try_from(read).ok()
    }

    /// Until when an order of this moment can be paid. Refused if the show is too close for it.
    pub fn due_at(
        self,
        now: Timestamp,
        starts_at: Timestamp,
        zone: &str,
    ) -> Result<Timestamp, Refusal> {
        let due = match self {
            DepositDeadline::Days(days) => end_of_day(now, days, zone),
            DepositDeadline::Hours(hours) => {
                now.plus(Duration::from_secs(u64::from(hours) * 3_600))
            }
        };
        let due = due.min(starts_at.minus(BEFORE_SHOW));
        if due < now.plus(TIME_MIN) { Err(Refusal::DepositTooLate) } else { Ok(due) }
    }
}

/// The day of the booking counts as none: Korean fans expect 23:59 of the next day.
impl Default for DepositDeadline {
    fn default() -> DepositDeadline {
        DepositDeadline::Days(1)
    }
}

impl TryFrom<DeadlineText> for DepositDeadline {
    type Error = String;

    fn try_from(text: DeadlineText) -> Result<DepositDeadline, String> {
        let (count, max, deadline) = match text {
            DeadlineText::Days(days) => (days, Self::DAYS_MAX, DepositDeadline::Days(days)),
            DeadlineText::Hours(hours) => (hours, Self::HOURS_MAX, DepositDeadline::Hours(hours)),
        };
        match (1..=max).contains(&count) {
            true => Ok(deadline),
            false => Err(format!("out_of_range:1..{max}")),
        }
    }
}

impl From<DepositDeadline> for DeadlineText {
    fn from(deadline: DepositDeadline) -> DeadlineText {
        match deadline {
            DepositDeadline::Days(days) => DeadlineText::Days(days),
            DepositDeadline::Hours(hours) => DeadlineText::Hours(hours),
        }
    }
}

/// The last second of the day that is so many days after this one; days have 23 to 25 hours.
fn end_of_day(now: Timestamp, days: u32, zone: &str) -> Timestamp {
    const DAY_AND_A_HALF: Duration = Duration::from_secs(36 * 3_600);
    let start_of = |moment: Timestamp| Timestamp::start_of_day(&moment.day_before(0, zone), zone);
    let mut start = start_of(now).unwrap_or(now);
    for _ in 0..=days {
        let next = start.plus(DAY_AND_A_HALF);
        start = start_of(next).unwrap_or(next);
    }
    start.minus(Duration::from_secs(1))
}

/// Where the fan pays to, as the gateway issued it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualAccount {
    /// A bank's code of [`Bank`], or the name that the gateway gave.
    pub bank: String,
    pub number: String,
    pub holder: String,
    /// Until when the gateway takes the money.
    pub until: Option<Timestamp>,
}

/// A virtual account, and what came so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    pub account: VirtualAccount,
    pub received: Won,
}

/// The account that a refund of a deposit goes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RefundAccount {
    pub bank: Bank,
    /// Digits; hyphens and spaces are removed.
    pub number: AccountNumber,
    pub holder: Line<50>,
}

/// The number of a bank account: 8 to 16 digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = String))]
#[serde(try_from = "String", into = "String")]
pub struct AccountNumber(String);

impl AccountNumber {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last four digits, for people who check which account it is.
    pub fn last_digits(&self) -> &str {
        &self.0[self.0.len() - 4..]
    }
}

impl TryFrom<String> for AccountNumber {
    type Error = String;

    fn try_from(text: String) -> Result<AccountNumber, String> {
        let digits: String = text.chars().filter(|it| !matches!(it, '-' | ' ')).collect();
        let is_number = digits.bytes().all(|it| it.is_ascii_digit());
        match is_number && (8..=16).contains(&digits.len()) {
            true => Ok(AccountNumber(digits)),
            false => Err("not_an_account".to_owned()),
        }
    }
}

impl From<AccountNumber> for String {
    fn from(number: AccountNumber) -> String {
        number.0
    }
}

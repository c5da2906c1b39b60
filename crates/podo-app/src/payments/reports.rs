//! The daily report compares the gateways' records with our payments and tickets.

use crate::context::AppContext;
use crate::error::Result;
use crate::payments::port::gateway::Booked;
use crate::payments::port::reports::DayRow;
use crate::payments::settlement::day_after;
use podo_domain::payments::PaymentStatus;
use podo_domain::{Currency, PaymentId, Refusal, Timestamp, Won};
use serde::Serialize;
use utoipa::ToSchema;

/// Rows per read.
const BATCH: u32 = 500;

/// Most differences listed; all are counted.
const LISTED_MAX: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DifferenceKind {
    /// The gateway charged another amount than we recorded.
    Captured,
    /// The gateway refunded another amount than we recorded.
    Refunded,
    /// A paid reservation has another number of tickets than seats.
    Tickets,
    /// The outcome is still unknown.
    Open,
    /// The gateway didn't answer.
    NotRead,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    pub payment_id: PaymentId,
    pub gateway: String,
    pub currency: Currency,
    pub kind: DifferenceKind,
    pub ours: i64,
    pub theirs: i64,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DayReport {
    pub day: String,
    pub payments: u64,
    /// The sums of the server's own currency.
    pub captured: Won,
    pub refunded: Won,
    /// The sums of every currency in which something was paid.
    pub sums: Vec<CurrencySum>,
    pub tickets: u64,
    pub n_differences: u64,
    pub differences: Vec<Difference>,
}

/// What was paid in one currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CurrencySum {
    pub currency: Currency,
    pub payments: u64,
    pub captured: Won,
    pub refunded: Won,
}

/// A calendar day of this zone, `YYYY-MM-DD`: its first moment and the next day's.
pub fn day_in(text: &str, zone: &str) -> std::result::Result<(Timestamp, Timestamp), Refusal> {
    let problem = podo_domain::catalog::text::FieldError::NotATime;
    let from = Timestamp::start_of_day(text, zone);
    let from = from.ok_or(Refusal::Invalid { field: "day", problem })?;
    Ok((from, day_after(from, zone)))
}

/// Compares every payment of a day. Gateways are queried payment by payment.
pub async fn reconcile_day(context: &AppContext, day: &str) -> Result<DayReport> {
    let (from, to) = day_in(day, &context.rules.time_zone)?;
    let home = context.rules.currency;
    let mut report = DayReport {
        day: day.to_owned(),
        payments: 0,
        captured: Won::ZERO,
        refunded: Won::ZERO,
        sums: Vec::new(),
        tickets: 0,
        n_differences: 0,
        differences: Vec::new(),
    };
    let mut after = None;
    loop {
        let rows = context.store.day_rows(from, to, after, BATCH).await?;
        for row in &rows {
            let booked = book_of(context, row).await;
            add(&mut report, row, booked);
        }
        after = rows.last().map(|row| row.ask.payment);
        if rows.len() < BATCH as usize {
            let at_home = report.sums.iter().find(|sum| sum.currency == home);
            if let Some(CurrencySum { captured, refunded, .. }) = at_home.copied() {
                (report.captured, report.refunded) = (captured, refunded);
            }
            return Ok(report);
        }
    }
}

/// The gateway's records; for a wallet our own records are the only ones.
async fn book_of(context: &AppContext, row: &DayRow) -> Option<Booked> {
    if row.ask.gateway.is_empty() {
        return Some(Booked { captured: row.captured, refunded: row.refunded });
    }
    let gateway = context.gateway(&row.ask.gateway).ok()?;
    gateway.booked(&row.ask, context.now()).await
}

fn add(report: &mut DayReport, row: &DayRow, booked: Option<Booked>) {
    report.payments += 1;
    let sum = sum_of(report, row.ask.currency);
    sum.payments += 1;
    sum.captured = sum.captured.checked_add(row.captured).unwrap_or(Won::MAX);
    sum.refunded = sum.refunded.checked_add(row.refunded).unwrap_or(Won::MAX);
    report.tickets += u64::from(row.tickets);
    for (kind, ours, theirs) in compare(row, booked) {
        report.n_differences += 1;
        if report.differences.len() < LISTED_MAX {
            report.differences.push(Difference {
                payment_id: row.ask.payment,
                gateway: row.ask.gateway.clone(),
                currency: row.ask.currency,
                kind,
                ours,
                theirs,
            });
        }
    }
}

/// Sums of different currencies are never added.
fn sum_of(report: &mut DayReport, currency: Currency) -> &mut CurrencySum {
    let sums = &mut report.sums;
    let at = sums.iter().position(|sum| sum.currency == currency).unwrap_or_else(|| {
        sums.push(CurrencySum { currency, payments: 0, captured: Won::ZERO, refunded: Won::ZERO });
        sums.len() - 1
    });
    &mut sums[at]
}

fn compare(row: &DayRow, booked: Option<Booked>) -> Vec<(DifferenceKind, i64, i64)> {
    let mut found = Vec::new();
    if row.seats != row.tickets {
        found.push((DifferenceKind::Tickets, row.seats.into(), row.tickets.into()));
    }
    let Some(booked) = booked else {
        // Inicis can be queried only by the id of a charge: without a charge there is no answer.
        if !row.captured.is_zero() {
            found.push((DifferenceKind::NotRead, row.captured.get(), 0));
        }
        return found;
    };
    match row.status {
        PaymentStatus::Requested | PaymentStatus::Unknown => {
            found.push((DifferenceKind::Open, row.captured.get(), booked.captured.get()));
        }
        // Its deposit, or a part of it, is on the way.
        PaymentStatus::AwaitingDeposit => {}
        // A voided charge was refunded in full: neither side kept anything.
        PaymentStatus::Ready | PaymentStatus::Failed | PaymentStatus::Canceled => {
            if booked.captured != booked.refunded {
                found.push((DifferenceKind::Captured, 0, booked.captured.get()));
            }
        }
        PaymentStatus::Captured
        | PaymentStatus::PartiallyRefunded
        | PaymentStatus::RefundDue
        | PaymentStatus::Refunded => {
            if booked.captured != row.captured {
                found.push((DifferenceKind::Captured, row.captured.get(), booked.captured.get()));
            }
            if booked.refunded != row.refunded {
                found.push((DifferenceKind::Refunded, row.refunded.get(), booked.refunded.get()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payments::port::payments::GatewayQuery;
    use podo_domain::payments::PaymentMethod;
    use std::time::Duration;
    use uuid::Uuid;

    fn won(amount: i64) -> Won {
        Won::new(amount).unwrap()
    }

    fn row(status: PaymentStatus, captured: i64, refunded: i64) -> DayRow {
        let payment = PaymentId::new(Uuid::nil());
        let (gateway, method) = ("toss".to_owned(), PaymentMethod::Card);
        let (payment_key, amount, currency) = (None, won(100), Currency::Krw);
        DayRow {
            ask: GatewayQuery { payment, gateway, method, payment_key, amount, currency },
            status,
            captured: won(captured),
            refunded: won(refunded),
            seats: 1,
            tickets: 1,
        }
    }

    fn kinds(row: &DayRow, captured: i64, refunded: i64) -> Vec<DifferenceKind> {
        let booked = Booked { captured: won(captured), refunded: won(refunded) };
        compare(row, Some(booked)).into_iter().map(|(kind, _, _)| kind).collect()
    }

    #[test]
    fn books_that_agree_differ_in_nothing() {
        assert_eq!(kinds(&row(PaymentStatus::Captured, 100, 0), 100, 0), []);
        assert_eq!(kinds(&row(PaymentStatus::Refunded, 100, 100), 100, 100), []);
        assert_eq!(kinds(&row(PaymentStatus::Failed, 0, 0), 100, 100), [], "voided");
    }

    #[test]
    fn every_kind_of_difference_is_found() {
        let captured = row(PaymentStatus::Captured, 100, 0);
        assert_eq!(kinds(&captured, 90, 0), [DifferenceKind::Captured]);
        assert_eq!(kinds(&captured, 100, 10), [DifferenceKind::Refunded]);
        assert_eq!(kinds(&row(PaymentStatus::Failed, 0, 0), 100, 0), [DifferenceKind::Captured]);
        assert_eq!(kinds(&row(PaymentStatus::Unknown, 0, 0), 0, 0), [DifferenceKind::Open]);
        assert_eq!(kinds(&DayRow { tickets: 0, ..captured }, 100, 0), [DifferenceKind::Tickets]);
    }

    #[test]
    fn a_day_begins_and_ends_at_midnight_in_its_zone() {
        let (from, to) = day_in("2026-11-16", "Asia/Seoul").unwrap();
        assert_eq!(from.to_string(), "2026-11-15T15:00:00.000Z");
        assert_eq!(to.since(from), Duration::from_secs(86_400));
        let (from, to) = day_in("2026-10-25", "Europe/Berlin").unwrap();
        assert_eq!(to.since(from), Duration::from_secs(25 * 3_600), "summer time ends");
        assert!(day_in("16.11.2026", "Asia/Seoul").is_err());
    }

    #[test]
    fn sums_of_different_currencies_are_not_added() {
        let paid = |currency, amount| {
            let mut paid = row(PaymentStatus::Captured, amount, 0);
            paid.ask.currency = currency;
            paid
        };
        let mut report = DayReport {
            day: String::new(),
            payments: 0,
            captured: Won::ZERO,
            refunded: Won::ZERO,
            sums: Vec::new(),
            tickets: 0,
            n_differences: 0,
            differences: Vec::new(),
        };
        for row in [paid(Currency::Krw, 100), paid(Currency::Eur, 7), paid(Currency::Krw, 5)] {
            let booked = Booked { captured: row.captured, refunded: row.refunded };
            add(&mut report, &row, Some(booked));
        }
        let sums: Vec<_> =
            report.sums.iter().map(|it| (it.currency, it.payments, it.captured)).collect();
        assert_eq!(sums, [(Currency::Krw, 2, won(105)), (Currency::Eur, 1, won(7))]);
    }
}

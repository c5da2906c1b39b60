//! The daily report compares the gateways' records with our payments and tickets.

use crate::context::AppContext;
use crate::error::Result;
use crate::payments::port::gateway::Booked;
use crate::payments::port::reports::DayRow;
use podo_domain::payments::PaymentStatus;
use podo_domain::{PaymentId, Refusal, Timestamp, Won};
use serde::Serialize;
use std::time::Duration;
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
    pub kind: DifferenceKind,
    pub ours: i64,
    pub theirs: i64,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DayReport {
    pub day: String,
    pub payments: u64,
    pub captured: Won,
    pub refunded: Won,
    pub tickets: u64,
    pub n_differences: u64,
    pub differences: Vec<Difference>,
}

/// A day in Seoul, `YYYY-MM-DD`: its first moment and the next day's.
pub fn day_in_seoul(text: &str) -> std::result::Result<(Timestamp, Timestamp), Refusal> {
    let wrong = || Refusal::Invalid {
        field: "day",
        problem: podo_domain::catalog::text::FieldError::NotATime,
    };
    let is_day = text.len() == 10 && text.is_ascii();
    let from: Option<Timestamp> =
        is_day.then(|| format!("{text}T00:00:00+09:00").parse().ok()).flatten();
    let from = from.ok_or_else(wrong)?;
    Ok((from, from.plus(Duration::from_secs(86_400))))
}

/// Compares every payment of a day. Gateways are queried payment by payment.
pub async fn reconcile_day(context: &AppContext, day: &str) -> Result<DayReport> {
    let (from, to) = day_in_seoul(day)?;
    let mut report = DayReport {
        day: day.to_owned(),
        payments: 0,
        captured: Won::ZERO,
        refunded: Won::ZERO,
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
    report.captured = report.captured.checked_add(row.captured).unwrap_or(Won::MAX);
    report.refunded = report.refunded.checked_add(row.refunded).unwrap_or(Won::MAX);
    report.tickets += u64::from(row.tickets);
    for (kind, ours, theirs) in compare(row, booked) {
        report.n_differences += 1;
        if report.differences.len() < LISTED_MAX {
            let (payment_id, gateway) = (row.ask.payment, row.ask.gateway.clone());
            report.differences.push(Difference { payment_id, gateway, kind, ours, theirs });
        }
    }
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
    use uuid::Uuid;

    fn won(amount: i64) -> Won {
        Won::new(amount).unwrap()
    }

    fn row(status: PaymentStatus, captured: i64, refunded: i64) -> DayRow {
        let payment = PaymentId::new(Uuid::nil());
        let (gateway, method) = ("toss".to_owned(), PaymentMethod::Card);
        let (payment_key, amount) = (None, won(100));
        DayRow {
            ask: GatewayQuery { payment, gateway, method, payment_key, amount },
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
    fn a_day_is_seouls() {
        let (from, to) = day_in_seoul("2026-11-16").unwrap();
        assert_eq!(from.to_string(), "2026-11-15T15:00:00.000Z");
        assert_eq!(to.since(from), Duration::from_secs(86_400));
        assert!(day_in_seoul("16.11.2026").is_err());
    }
}

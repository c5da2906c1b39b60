//! What an event brought in a period, as an accountant settles it: gross, discounts, fees, refunds, what
//! gateways take, and the rest.

use crate::context::AppContext;
use crate::error::Result;
use crate::payments::port::reports::SettlementRow;
use podo_domain::catalog::text::FieldError;
use podo_domain::{Currency, EventId, Refusal, Timestamp};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// What gateways take of each charge, in hundredths of a percent, by their names.
pub type GatewayRates = BTreeMap<String, u32>;

/// A way of paying, or the sum of all, with what is left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettlementLine {
    #[serde(flatten)]
    pub row: SettlementRow,
    /// What the gateway takes of `charged`, by the rate in the settings.
    pub gateway_fees: i64,
    /// `charged` less `refunded` and `gatewayFees`.
    pub net: i64,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Settlement {
    pub event_id: EventId,
    /// The first day, where the venue is.
    pub from: String,
    /// The last day.
    pub to: String,
    pub time_zone: String,
    /// Of all amounts.
    pub currency: Currency,
    pub lines: Vec<SettlementLine>,
    pub total: SettlementLine,
}

/// Days are `2026-03-21` and count with both ends.
pub async fn settle_event(
    context: &AppContext,
    event: EventId,
    first: &str,
    last: &str,
) -> Result<Settlement> {
    let found = context.store.event(event).await?.ok_or(Refusal::NotFound)?;
    let (zone, currency) = (found.time_zone, found.currency);
    let start = |field, day| {
        let wrong = Refusal::Invalid { field, problem: FieldError::NotATime };
        Timestamp::start_of_day(day, &zone).ok_or(wrong)
    };
    let (from, last_start) = (start("from", first)?, start("to", last)?);
    if last_start < from {
        return Err(Refusal::Invalid { field: "to", problem: FieldError::NotATime }.into());
    }
    let to = day_after(last_start, &zone);
    let rows = context.store.settlement(event, from, to).await?;
    let rates = &context.rules.gateway_rates;
    let lines: Vec<SettlementLine> = rows.into_iter().map(|row| line(row, rates)).collect();
    let total = lines.iter().fold(SettlementLine::default(), sum);
    let (from, to) = (first.to_owned(), last.to_owned());
    Ok(Settlement { event_id: event, from, to, time_zone: zone, currency, lines, total })
}

/// The first moment of the next day; days have 23 to 25 hours.
pub(crate) fn day_after(start: Timestamp, zone: &str) -> Timestamp {
    const DAY_AND_A_HALF: std::time::Duration = std::time::Duration::from_secs(36 * 3_600);
    let next = start.plus(DAY_AND_A_HALF).day_before(0, zone);
    Timestamp::start_of_day(&next, zone).unwrap_or(start.plus(DAY_AND_A_HALF))
}

fn line(row: SettlementRow, rates: &GatewayRates) -> SettlementLine {
    let rate = rates.get(&row.gateway.to_lowercase()).copied().unwrap_or_default();
    let gateway_fees = row.charged * i64::from(rate) / 10_000;
    SettlementLine { gateway_fees, net: row.charged - row.refunded - gateway_fees, row }
}

fn sum(total: SettlementLine, line: &SettlementLine) -> SettlementLine {
    let (sum, row) = (total.row, &line.row);
    let row = SettlementRow {
        orders: sum.orders + row.orders,
        tickets: sum.tickets + row.tickets,
        gross: sum.gross + row.gross,
        discounts: sum.discounts + row.discounts,
        fees: sum.fees + row.fees,
        unmatched: sum.unmatched + row.unmatched,
        charged: sum.charged + row.charged,
        refunded: sum.refunded + row.refunded,
        due: sum.due + row.due,
        retained: sum.retained + row.retained,
        ..SettlementRow::default()
    };
    let gateway_fees = total.gateway_fees + line.gateway_fees;
    SettlementLine { row, gateway_fees, net: total.net + line.net }
}

/// Reads `toss:3.3, kcp:2.9`: names with percentages.
pub fn read_rates(text: &str) -> Option<GatewayRates> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(read_rate).collect()
}

fn read_rate(part: &str) -> Option<(String, u32)> {
    let (name, percent) = part.split_once(':')?;
    let (whole, rest) = percent.trim().split_once('.').unwrap_or((percent.trim(), "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    if !is_number(whole) || !is_number(rest) || rest.len() > 2 {
        return None;
    }
    let rest: u32 = format!("{rest:0<2}").parse().ok()?;
    let rate = whole.parse::<u32>().ok()?.checked_mul(100)?.checked_add(rest)?;
    let name = name.trim().to_lowercase();
    (!name.is_empty() && rate <= 10_000).then_some((name, rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_with_two_decimals() {
        let rates = read_rates("toss:3.3, KCP : 2.95,sandbox:0").unwrap();
        let expected = [("kcp", 295), ("sandbox", 0), ("toss", 330)];
        assert_eq!(rates, expected.map(|(name, rate)| (name.to_owned(), rate)).into());
        assert_eq!(read_rates("").unwrap(), GatewayRates::new());
        for odd in ["toss", "toss:", "toss:-1", "toss:3.333", "toss:101", ":3", "toss:x"] {
            assert_eq!(read_rates(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_line_is_charged_less_refunds_and_what_the_gateway_takes() {
        let row = SettlementRow {
            method: "CARD".into(),
            gateway: "TOSS".into(),
            charged: 102_000,
            refunded: 30_000,
            ..SettlementRow::default()
        };
        let line = line(row, &read_rates("toss:3.3").unwrap());
        assert_eq!((line.gateway_fees, line.net), (3_366, 68_634));
        let total = [line.clone(), line].iter().fold(SettlementLine::default(), sum);
        assert_eq!((total.net, total.row.charged, &*total.row.method), (137_268, 204_000, ""));
    }
}

//! The queries of reports: payments and wallet charges of a day with their tickets, and what an event
//! brought in a period.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, first_at, params};
use podo_app::Result;
use podo_app::payments::port::payments::GatewayQuery;
use podo_app::payments::port::reports::{DayRow, Reports, SettlementRow};
use podo_domain::payments::{PaymentMethod, PaymentStatus};
use podo_domain::{Currency, EventId, PaymentId, Timestamp};

commands! {
    impl Reports for SqlStore {
        read day_rows(DayRows {
            from: Timestamp, to: Timestamp, after: Option<PaymentId>, limit: u32,
        }) -> Vec<DayRow> as ReadOnly or_replica => day_rows;
        read settlement(SettlementOf { event: EventId, from: Timestamp, to: Timestamp })
            -> Vec<SettlementRow> as ReadOnly or_replica => settlement;
    }
}

async fn day_rows(tx: &mut dyn Tx, question: &DayRows) -> Result<Vec<DayRow>> {
    // Select the page by ids before counting for its rows: a day may have a million.
    let sql = "with paid as (
                 select id, gateway, method, gateway_ref, amount, currency, status, captured,
                        reservation_id
                   from payments
                  where id > $1 and id < $2 and (gateway is not null or captured > 0)
                  order by id limit $3),
               charged as (
                 select id, gateway, 'CARD' as method, gateway_ref, amount, currency, status,
                        captured
                   from wallet_charges where id > $1 and id < $2 order by id limit $3),
               page as (
                 select id, gateway, method, gateway_ref, amount, currency, status, captured,
                        reservation_id from paid
                  union all
                 select id, gateway, method, gateway_ref, amount, currency, status, captured, null
                   from charged
                  order by 1 limit $3)
               select p.id, p.gateway, p.method, p.gateway_ref, p.amount, p.currency, p.status,
                      p.captured,
                      cast(coalesce((select sum(f.amount) from refunds f
                                      where f.payment_id = p.id and f.status = 'REFUNDED'
                                        and f.destination = 'ORIGINAL'
                                        and not f.by_hand), 0) as bigint) as refunded,
                      case when r.status = 'CONFIRMED'
                            and p.status in ('CAPTURED', 'PARTIALLY_REFUNDED')
                           then r.n_seats else 0 end as n_seats,
                      case when p.status in ('CAPTURED', 'PARTIALLY_REFUNDED')
                           then (select count(*) from tickets t
                                  where t.reservation_id = p.reservation_id and t.status <> 'VOID')
                           else 0 end as n_tickets
                 from page p left join reservations r on r.id = p.reservation_id
                order by p.id";
    let after = question.after.map_or(first_at(question.from), PaymentId::uuid);
    let values = params![after, first_at(question.to), question.limit];
    tx.query(sql, values).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<DayRow> {
    let gateway: Option<String> = row.get("gateway")?;
    Ok(DayRow {
        ask: GatewayQuery {
            payment: row.get("id")?,
            gateway: gateway.unwrap_or_default(),
            method: row.parse("method", PaymentMethod::parse)?,
            payment_key: row.get("gateway_ref")?,
            amount: row.get("amount")?,
            currency: row.parse("currency", Currency::parse)?,
        },
        status: row.parse("status", PaymentStatus::parse)?,
        captured: row.get("captured")?,
        refunded: row.get("refunded")?,
        seats: row.get("n_seats")?,
        tickets: row.get("n_tickets")?,
    })
}

/// A payment that passed `CAPTURED` bought its order, so the lines of the order are its own: ticket
/// prices and booking fees by seat, and the rest is the order's fee.
async fn settlement(tx: &mut dyn Tx, question: &SettlementOf) -> Result<Vec<SettlementRow>> {
    let sql = "with paid as (
                 select p.id, coalesce(p.paid_with, p.method) as method, coalesce(p.gateway, '') as gateway, p.captured,
                        p.reservation_id,
                        -- More may come to a virtual account; it goes back.
                        case when p.captured > p.amount then p.captured - p.amount else 0 end
                          as excess,
                        case when exists (select 1 from payment_history h
                                           where h.payment_id = p.id and h.status = 'CAPTURED')
                             then 1 else 0 end as sold
                   from payments p
                   join reservations r on r.id = p.reservation_id
                   join event_schedules s on s.id = r.schedule_id
                  where s.event_id = $1 and p.id > $2 and p.id < $3
                    and p.status in ('CAPTURED', 'PARTIALLY_REFUNDED', 'REFUND_DUE', 'REFUNDED')),
               lines as (
                 select p.id, count(*) as n_tickets, sum(coalesce(c.list_price, c.price)) as gross,
                        sum(c.type_off + c.code_off) as discounts, sum(c.price) as prices
                   from paid p join reservation_seats c on c.reservation_id = p.reservation_id
                  where p.sold = 1 group by p.id),
               given as (
                 select coalesce(p.paid_with, p.method) as method,
                        coalesce(p.gateway, '') as gateway, f.amount, f.fee, f.status
                   from refunds f
                   join payments p on p.id = f.payment_id
                   join reservations r on r.id = p.reservation_id
                   join event_schedules s on s.id = r.schedule_id
                  where s.event_id = $1 and f.id > $2 and f.id < $3),
               moves as (
                 select p.method, p.gateway, p.sold as orders, coalesce(l.n_tickets, 0) as tickets,
                        coalesce(l.gross, 0) as gross, coalesce(l.discounts, 0) as discounts,
                        case when p.sold = 1 then p.captured - p.excess - coalesce(l.prices, 0) else 0 end
                          as fees,
                        case when p.sold = 1 then p.excess else p.captured end as unmatched,
                        p.captured as charged, 0 as refunded, 0 as due, 0 as retained
                   from paid p left join lines l on l.id = p.id
                  union all
                 select method, gateway, 0, 0, 0, 0, 0, 0, 0, amount,
                        case when status = 'DUE' then amount else 0 end, fee
                   from given)
               select method, gateway, cast(sum(orders) as bigint) as orders,
                      cast(sum(tickets) as bigint) as tickets, cast(sum(gross) as bigint) as gross,
                      cast(sum(discounts) as bigint) as discounts,
                      cast(sum(fees) as bigint) as fees,
                      cast(sum(unmatched) as bigint) as unmatched,
                      cast(sum(charged) as bigint) as charged,
                      cast(sum(refunded) as bigint) as refunded, cast(sum(due) as bigint) as due,
                      cast(sum(retained) as bigint) as retained
                 from moves group by method, gateway order by method, gateway";
    let values = params![question.event, first_at(question.from), first_at(question.to)];
    let read = |row: &Row| {
        Ok(SettlementRow {
            method: row.get("method")?,
            gateway: row.get("gateway")?,
            orders: row.get("orders")?,
            tickets: row.get("tickets")?,
            gross: row.get("gross")?,
            discounts: row.get("discounts")?,
            fees: row.get("fees")?,
            unmatched: row.get("unmatched")?,
            charged: row.get("charged")?,
            refunded: row.get("refunded")?,
            due: row.get("due")?,
            retained: row.get("retained")?,
        })
    };
    tx.query(sql, values).await?.iter().map(read).collect()
}

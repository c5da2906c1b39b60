//! The daily report's queries: payments and wallet charges of a day with their tickets.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, first_at, params};
use podo_app::Result;
use podo_app::payments::port::payments::GatewayQuery;
use podo_app::payments::port::reports::{DayRow, Reports};
use podo_domain::payments::PaymentStatus;
use podo_domain::{PaymentId, Timestamp};

commands! {
    impl Reports for SqlStore {
        read day_rows(DayRows {
            from: Timestamp, to: Timestamp, after: Option<PaymentId>, limit: u32,
        }) -> Vec<DayRow> as ReadOnly or_replica => day_rows;
    }
}

async fn day_rows(tx: &mut dyn Tx, question: &DayRows) -> Result<Vec<DayRow>> {
    // Select the page by ids before counting for its rows: a day may have a million.
    let sql = "with paid as (
                 select id, gateway, gateway_ref, amount, status, captured, reservation_id
                   from payments
                  where id > $1 and id < $2 and (gateway is not null or captured > 0)
                  order by id limit $3),
               charged as (
                 select id, gateway, gateway_ref, amount, status, captured
                   from wallet_charges where id > $1 and id < $2 order by id limit $3),
               page as (
                 select id, gateway, gateway_ref, amount, status, captured, reservation_id from paid
                  union all
                 select id, gateway, gateway_ref, amount, status, captured, null from charged
                  order by 1 limit $3)
               select p.id, p.gateway, p.gateway_ref, p.amount, p.status, p.captured,
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
            payment_key: row.get("gateway_ref")?,
            amount: row.get("amount")?,
        },
        status: row.parse("status", PaymentStatus::parse)?,
        captured: row.get("captured")?,
        refunded: row.get("refunded")?,
        seats: row.get("n_seats")?,
        tickets: row.get("n_tickets")?,
    })
}

//! What the daily report reads: payments and wallet charges of a day with their tickets.

use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, first_at, params};
use app::Result;
use app::ports::payments::AskGateway;
use app::ports::reports::{DayRow, Reports};
use async_trait::async_trait;
use domain::payments::PaymentStatus;
use domain::{PaymentId, Timestamp};

struct DayRows {
    from: Timestamp,
    to: Timestamp,
    after: Option<PaymentId>,
    limit: u32,
}

work!(ReadOnly or_replica: DayRows => day_rows, Vec<DayRow>);

#[async_trait]
impl Reports for SqlStore {
    async fn day_rows(
        &self,
        from: Timestamp,
        to: Timestamp,
        after: Option<PaymentId>,
        limit: u32,
    ) -> Result<Vec<DayRow>> {
        self.read(DayRows { from, to, after, limit }).await
    }
}

async fn day_rows(tx: &mut dyn Tx, question: &DayRows) -> Result<Vec<DayRow>> {
    // A page is cut out by its ids before anything is counted for its rows: a day may have a million.
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
                                        and not f.by_hand), 0) as bigint),
                      case when r.status = 'CONFIRMED'
                            and p.status in ('CAPTURED', 'PARTIALLY_REFUNDED')
                           then r.n_seats else 0 end,
                      case when p.status in ('CAPTURED', 'PARTIALLY_REFUNDED')
                           then (select count(*) from tickets t
                                  where t.reservation_id = p.reservation_id and t.status <> 'VOID')
                           else 0 end
                 from page p left join reservations r on r.id = p.reservation_id
                order by p.id";
    let after = question.after.map_or(first_at(question.from), PaymentId::uuid);
    let values = params![after, first_at(question.to), question.limit];
    tx.query(sql, values).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<DayRow> {
    let gateway: Option<String> = row.get(1)?;
    Ok(DayRow {
        ask: AskGateway {
            payment: row.get(0)?,
            gateway: gateway.unwrap_or_default(),
            payment_key: row.get(2)?,
            amount: row.get(3)?,
        },
        status: row.parse(4, PaymentStatus::parse)?,
        captured: row.get(5)?,
        refunded: row.get(6)?,
        seats: row.get(7)?,
        tickets: row.get(8)?,
    })
}

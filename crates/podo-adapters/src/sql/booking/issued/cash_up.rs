//! What the desk took and gave back, by tender.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_app::booking::port::issued::{CashUpQuery, TenderTotal};
use podo_domain::Won;
use podo_domain::booking::issued::Tender;

/// An issued order has no payment but that of the desk. Sales count by the time of the order, refunds
/// by the time at which the money was given back.
pub(super) async fn cash_up(tx: &mut dyn Tx, asked: &CashUpQuery) -> Result<Vec<TenderTotal>> {
    let sold = "select o.tender, count(*) as n_moves, cast(sum(p.captured) as bigint) as amount
                  from issued_orders o
                  join payments p on p.reservation_id = o.id and p.method = 'BOX_OFFICE'
                 where o.schedule_id = $1 and o.tender is not null
                   and o.created_at >= $2 and o.created_at < $3
                 group by o.tender";
    let given = "select o.tender, count(*) as n_moves, cast(sum(f.amount) as bigint) as amount
                   from issued_orders o
                   join payments p on p.reservation_id = o.id
                   join refunds f on f.payment_id = p.id and f.status = 'REFUNDED'
                  where o.schedule_id = $1 and o.tender is not null
                    and f.updated_at >= $2 and f.updated_at < $3
                  group by o.tender";
    let values = params![asked.schedule, asked.from, asked.until];
    tx.follow_indexes().await?;
    let sold = tx.query(sold, values).await?;
    let given = tx.query(given, values).await?;
    let total = |tender: Tender| {
        let (orders, taken) = sum_of(&sold, tender)?;
        let (refunds, refunded) = sum_of(&given, tender)?;
        Ok(TenderTotal { tender, orders, taken, refunds, refunded })
    };
    Tender::ALL.into_iter().map(total).collect()
}

fn sum_of(rows: &[Row], tender: Tender) -> Result<(u64, Won)> {
    for row in rows {
        if row.parse("tender", Tender::parse)? == tender {
            return Ok((row.get("n_moves")?, row.get("amount")?));
        }
    }
    Ok((0, Won::ZERO))
}

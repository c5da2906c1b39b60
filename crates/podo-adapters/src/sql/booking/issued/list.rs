//! Issued orders as the desk, support and the gate read them.

use crate::sql::booking::issued::{OrdersAmong, OrdersOf, OrdersTo};
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_app::booking::port::issued::IssuedRow;
use podo_domain::Currency;
use podo_domain::booking::issued::{Channel, Tender};
use podo_domain::booking::reservations::ReservationStatus;
use uuid::Uuid;

/// The start of every query that `read` reads. An issued order has exactly one payment.
macro_rules! orders {
    () => {
        "select o.id, s.event_id, r.booking_number, r.status, r.channel, o.tender, r.amount, r.currency,
                r.n_seats, o.actor_id, o.name, o.phone, o.note, o.created_at, p.captured, p.refunded
           from issued_orders o
           join reservations r on r.id = o.id
           join event_schedules s on s.id = o.schedule_id
           join payments p on p.reservation_id = o.id and p.method = 'BOX_OFFICE'"
    };
}

pub(super) async fn of_schedule(tx: &mut dyn Tx, question: &OrdersOf) -> Result<Vec<IssuedRow>> {
    let sql =
        concat!(orders!(), " where o.schedule_id = $1 and o.id < $2 order by o.id desc limit $3");
    let OrdersOf { schedule, page } = question;
    let values = params![*schedule, page.after.unwrap_or(Uuid::max()), page.limit + 1];
    tx.query(sql, values).await?.iter().map(read).collect()
}

pub(super) async fn among(tx: &mut dyn Tx, question: &OrdersAmong) -> Result<Vec<IssuedRow>> {
    let sql = concat!(orders!(), " where o.id = $1");
    let sets = question.reservations.iter().map(|id| params![*id].to_vec()).collect();
    tx.query_each(sql, sets).await?.iter().flatten().map(read).collect()
}

pub(super) async fn to(tx: &mut dyn Tx, question: &OrdersTo) -> Result<Vec<IssuedRow>> {
    let sql = concat!(
        orders!(),
        " where o.id in (select reservation_id from issued_lookups
                          where hash = $1 order by reservation_id desc limit $2)
          order by o.id desc"
    );
    tx.query(sql, params![question.hash, question.limit]).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<IssuedRow> {
    let tender: Option<String> = row.get("tender")?;
    Ok(IssuedRow {
        reservation: row.get("id")?,
        event: row.get("event_id")?,
        booking_number: row.get("booking_number")?,
        status: row.parse("status", ReservationStatus::parse)?,
        channel: row.parse("channel", Channel::parse)?,
        tender: tender.map(|_| row.parse("tender", Tender::parse)).transpose()?,
        amount: row.get("amount")?,
        currency: row.parse("currency", Currency::parse)?,
        paid: row.get("captured")?,
        refunded: row.get("refunded")?,
        n_seats: row.get("n_seats")?,
        actor: row.get("actor_id")?,
        name: row.get("name")?,
        phone: row.get("phone")?,
        note: row.get("note")?,
        created_at: row.get("created_at")?,
    })
}

//! The tickets of a date in the order of their last change, for devices that keep a list.

use crate::sql::booking::reservations::json_or_default;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::tickets::gate::{CountGateTickets, GateTickets};
use podo_app::Result;
use podo_app::tickets::gate_port::GateTicket;
use podo_domain::tickets::TicketStatus;

/// Void tickets too: a device deletes them.
pub(super) async fn changed(tx: &mut dyn Tx, question: &GateTickets) -> Result<Vec<GateTicket>> {
    let sql = "select t.id, t.user_id, t.schedule_id, t.seat_index, t.seat_number, t.grade,
                      r.booking_number, t.status, t.used_at, t.code, t.updated_at, t.ticket_type,
                      case when t.status = 'USED' then
                          (select c.gate from check_ins c
                            where c.ticket_id = t.id and c.kind = 'ADMITTED'
                            order by c.created_at desc, c.id desc limit 1) end as used_gate,
                      t.reservation_id, o.name as customer
                 from tickets t join reservations r on r.id = t.reservation_id
                 left join issued_orders o on o.id = t.reservation_id and o.actor_id = t.user_id
                where t.schedule_id = $1 and (t.updated_at, t.id) > ($2, $3)
                order by t.updated_at, t.id limit $4";
    let GateTickets { schedule, since, limit } = *question;
    let values = params![schedule, since.at, since.ticket, limit];
    tx.query(sql, values).await?.iter().map(read).collect()
}

pub(super) async fn count(tx: &mut dyn Tx, question: &CountGateTickets) -> Result<u64> {
    let sql = "select count(*) as n_tickets from tickets
                where schedule_id = $1 and status <> 'VOID'";
    let row = tx.row(sql, params![question.schedule]).await?;
    Ok(row.map_or(Ok(0), |row| row.get("n_tickets"))?)
}

pub(super) fn read(row: &Row) -> Result<GateTicket> {
    Ok(GateTicket {
        ticket: row.get("id")?,
        holder: row.get("user_id")?,
        reservation: row.get("reservation_id")?,
        customer: row.get("customer")?,
        schedule: row.get("schedule_id")?,
        seat: row.get("seat_index")?,
        seat_number: row.get("seat_number")?,
        grade: row.get("grade")?,
        ticket_type: json_or_default(row, "ticket_type")?,
        booking_number: row.get::<Option<String>>("booking_number")?.unwrap_or_default(),
        status: row.parse("status", TicketStatus::parse)?,
        used_at: row.get("used_at")?,
        used_gate: row.get("used_gate")?,
        code: row.get("code")?,
        changed_at: row.get("updated_at")?,
    })
}

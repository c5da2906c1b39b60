//! Tickets as their owners see them.

use crate::sql::booking::reservations::json_or_default;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::tickets::{TicketOf, TicketsIn, TicketsOf};
use podo_app::Result;
use podo_app::tickets::port::TicketView;
use podo_domain::tickets::TicketStatus;
use uuid::Uuid;

pub(super) async fn list(tx: &mut dyn Tx, question: &TicketsOf) -> Result<Vec<TicketView>> {
    let sql =
        "select t.id, t.reservation_id, t.schedule_id, e.title, v.name as venue_name, v.time_zone,
                      s.starts_at, t.seat_number, t.grade, r.booking_number, t.status, t.code,
                      e.transferable, t.offered_until, t.ticket_type
                 from tickets t
                 join reservations r on r.id = t.reservation_id
                 join event_schedules s on s.id = t.schedule_id
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                where t.user_id = $1 and t.id < $2
                order by t.id desc limit $3";
    let before = question.page.after.unwrap_or(Uuid::max());
    let values = params![question.user, before, question.page.limit + 1];
    tx.query(sql, values).await?.iter().map(read).collect()
}

pub(super) async fn one(tx: &mut dyn Tx, question: &TicketOf) -> Result<Option<TicketView>> {
    let sql =
        "select t.id, t.reservation_id, t.schedule_id, e.title, v.name as venue_name, v.time_zone,
                      s.starts_at, t.seat_number, t.grade, r.booking_number, t.status, t.code,
                      e.transferable, t.offered_until, t.ticket_type
                 from tickets t
                 join reservations r on r.id = t.reservation_id
                 join event_schedules s on s.id = t.schedule_id
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                where t.id = $1 and t.user_id = $2";
    tx.row(sql, params![question.ticket, question.user]).await?.as_ref().map(read).transpose()
}

pub(super) async fn in_booking(tx: &mut dyn Tx, question: &TicketsIn) -> Result<Vec<TicketView>> {
    let sql =
        "select t.id, t.reservation_id, t.schedule_id, e.title, v.name as venue_name, v.time_zone,
                      s.starts_at, t.seat_number, t.grade, r.booking_number, t.status, t.code,
                      e.transferable, t.offered_until, t.ticket_type
                 from tickets t
                 join reservations r on r.id = t.reservation_id
                 join event_schedules s on s.id = t.schedule_id
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                where t.reservation_id = $1 and t.user_id = $2
                order by t.seat_index";
    let values = params![question.reservation, question.user];
    tx.query(sql, values).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<TicketView> {
    Ok(TicketView {
        id: row.get("id")?,
        reservation_id: row.get("reservation_id")?,
        schedule_id: row.get("schedule_id")?,
        event_title: row.get("title")?,
        venue_name: row.get("venue_name")?,
        starts_at: row.get("starts_at")?,
        time_zone: row.get("time_zone")?,
        seat_number: row.get("seat_number")?,
        grade: row.get("grade")?,
        ticket_type: json_or_default(row, "ticket_type")?,
        booking_number: row.get("booking_number")?,
        status: row.parse("status", TicketStatus::parse)?,
        code: row.get("code")?,
        transferable: row.get("transferable")?,
        offered_until: row.get("offered_until")?,
    })
}

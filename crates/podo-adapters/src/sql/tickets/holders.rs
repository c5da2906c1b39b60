//! Tickets as their owners see them.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::operations::audit::note;
use crate::sql::tickets::{AtGate, TicketOf, TicketsOf};
use podo_app::Result;
use podo_app::tickets::port::{CheckIn, CheckedIn, GateTicket, TicketView};
use podo_domain::tickets::TicketStatus;
use podo_domain::{Refusal, ScheduleId, TicketId};
use serde_json::json;
use uuid::Uuid;

pub(super) async fn list(tx: &mut dyn Tx, question: &TicketsOf) -> Result<Vec<TicketView>> {
    let sql = "select t.id, t.reservation_id, t.schedule_id, e.title, v.name as venue_name,
                      s.starts_at, t.seat_number, t.grade, r.booking_number, t.status, t.code,
                      e.transferable, t.offered_until
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
    let sql = "select t.id, t.reservation_id, t.schedule_id, e.title, v.name as venue_name,
                      s.starts_at, t.seat_number, t.grade, r.booking_number, t.status, t.code,
                      e.transferable, t.offered_until
                 from tickets t
                 join reservations r on r.id = t.reservation_id
                 join event_schedules s on s.id = t.schedule_id
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                where t.id = $1 and t.user_id = $2";
    tx.row(sql, params![question.ticket, question.user]).await?.as_ref().map(read).transpose()
}

pub(super) async fn at_gate(tx: &mut dyn Tx, question: &AtGate) -> Result<Option<GateTicket>> {
    let sql = "select schedule_id, code from tickets where id = $1";
    let read =
        |row: &Row| Ok(GateTicket { schedule: row.get("schedule_id")?, code: row.get("code")? });
    tx.row(sql, params![question.ticket]).await?.as_ref().map(read).transpose()
}

/// One compare-and-set: of many gates that scan the same code, one opens.
pub(super) async fn check_in(tx: &mut dyn Tx, command: &CheckIn) -> Result<CheckedIn> {
    let sql = "update tickets set status = 'USED', used_at = $3, updated_at = $3
                where id = $1 and code = $2 and status = 'VALID'
               returning schedule_id, seat_number, grade";
    let values = params![command.ticket, command.code.as_slice(), command.now];
    let Some(row) = tx.row(sql, values).await? else {
        return Err(why_not_valid(tx, command.ticket).await?.into());
    };
    let schedule_id: ScheduleId = row.get("schedule_id")?;
    let details = json!({ "scheduleId": schedule_id });
    note(tx, (command.actor, "ticket.check-in"), command.ticket, details, command.now).await?;
    Ok(CheckedIn {
        ticket_id: command.ticket,
        schedule_id,
        seat_number: row.get("seat_number")?,
        grade: row.get("grade")?,
        used_at: command.now,
    })
}

/// A valid ticket that wasn't found has another code.
pub(crate) async fn why_not_valid(tx: &mut dyn Tx, ticket: TicketId) -> Result<Refusal> {
    let sql = "select status, used_at from tickets where id = $1";
    let Some(row) = tx.row(sql, params![ticket]).await? else { return Ok(Refusal::NotFound) };
    Ok(match row.parse("status", TicketStatus::parse)? {
        TicketStatus::Used => Refusal::TicketUsed { at: row.get("used_at")? },
        TicketStatus::Void => Refusal::TicketVoid,
        TicketStatus::Valid => Refusal::TicketInvalid,
    })
}

fn read(row: &Row) -> Result<TicketView> {
    Ok(TicketView {
        id: row.get("id")?,
        reservation_id: row.get("reservation_id")?,
        schedule_id: row.get("schedule_id")?,
        event_title: row.get("title")?,
        venue_name: row.get("venue_name")?,
        starts_at: row.get("starts_at")?,
        seat_number: row.get("seat_number")?,
        grade: row.get("grade")?,
        booking_number: row.get("booking_number")?,
        status: row.parse("status", TicketStatus::parse)?,
        code: row.get("code")?,
        transferable: row.get("transferable")?,
        offered_until: row.get("offered_until")?,
    })
}

//! Check-ins.

mod attendance;
mod list;
mod scans;

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, Value, params};
use crate::sql::operations::audit::note;
use podo_app::Result;
use podo_app::tickets::gate_port::{
    Attendance, ChangedSince, CheckIn, GateShow, GateTicket, Gates, RecordScan, ScanResult,
    SetGates, UndoCheckIn,
};
use podo_domain::id::SeatIndex;
use podo_domain::tickets::TicketStatus;
use podo_domain::tickets::gate::Gate;
use podo_domain::{HallId, Refusal, ScheduleId, TicketId, Timestamp, UserId};
use serde_json::json;
use uuid::Uuid;

commands! {
    impl Gates for SqlStore {
        read shows_between(ShowsBetween { from: Timestamp, to: Timestamp })
            -> Vec<GateShow> as Event => shows;
        read gates_of(GatesOf { schedule: ScheduleId }) -> Vec<Gate> as Event => gates;
        read gates_of_hall(GatesOfHall { hall: HallId })
            -> Option<Vec<Gate>> as Event => gates_of_hall;
        write set_gates(SetGates) -> () as Event => set_gates;
        read ticket_at_gate(AtGate { ticket: TicketId })
            -> Option<GateTicket> as Sales => at_gate;
        write check_in(CheckIn) -> () as Sales => check_in;
        write undo_check_in(UndoCheckIn) -> () as Sales => undo;
        write record_scan(RecordScan) -> ScanResult as Sales => scans::record;
        read gate_tickets(GateTickets { schedule: ScheduleId, since: ChangedSince, limit: u32 })
            -> Vec<GateTicket> as Sales => list::changed;
        read count_gate_tickets(CountGateTickets { schedule: ScheduleId })
            -> u64 as Sales or_replica => list::count;
        read attendance(AttendanceOf { schedule: ScheduleId })
            -> Attendance as Sales or_replica => attendance::attendance;
        read seats_at_gate(SeatsAtGate { schedule: ScheduleId })
            -> Vec<(SeatIndex, bool)> as Sales or_replica => attendance::seats;
    }
}

async fn shows(tx: &mut dyn Tx, question: &ShowsBetween) -> Result<Vec<GateShow>> {
    let sql =
        "select s.id, s.event_id, e.title, v.name as venue_name, v.time_zone, h.name as hall_name, s.starts_at,
                      s.ends_at, h.gates
                 from event_schedules s
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                 join halls h on h.id = e.hall_id
                where s.starts_at >= $1 and s.starts_at < $2 and s.status <> 'CANCELLED'
                order by s.starts_at limit 200";
    let read = |row: &Row| {
        Ok(GateShow {
            schedule_id: row.get("id")?,
            event_id: row.get("event_id")?,
            event_title: row.get("title")?,
            venue_name: row.get("venue_name")?,
            hall_name: row.get("hall_name")?,
            starts_at: row.get("starts_at")?,
            time_zone: row.get("time_zone")?,
            ends_at: row.get("ends_at")?,
            gates: row.json("gates")?,
        })
    };
    tx.query(sql, params![question.from, question.to]).await?.iter().map(read).collect()
}

async fn gates(tx: &mut dyn Tx, question: &GatesOf) -> Result<Vec<Gate>> {
    let sql = "select h.gates from event_schedules s
                 join events e on e.id = s.event_id join halls h on h.id = e.hall_id
                where s.id = $1";
    let row = tx.row(sql, params![question.schedule]).await?.ok_or(Refusal::NotFound)?;
    Ok(row.json("gates")?)
}

async fn gates_of_hall(tx: &mut dyn Tx, question: &GatesOfHall) -> Result<Option<Vec<Gate>>> {
    let row = tx.row("select gates from halls where id = $1", params![question.hall]).await?;
    Ok(row.map(|row| row.json("gates")).transpose()?)
}

async fn set_gates(tx: &mut dyn Tx, command: &SetGates) -> Result<()> {
    let sql = "update halls set gates = $2, updated_at = $3 where id = $1";
    let text = serde_json::to_string(&command.gates).map_err(podo_app::Error::broken)?;
    let values = &[command.hall.into(), Value::Json(text), command.now.into()];
    if tx.execute(sql, values).await? == 0 {
        return Err(Refusal::NotFound.into());
    }
    let details = json!({ "gates": command.gates });
    note(tx, command.actor, "hall.gates", command.hall, details, command.now).await
}

async fn at_gate(tx: &mut dyn Tx, question: &AtGate) -> Result<Option<GateTicket>> {
    let sql = "select t.id, t.user_id, t.schedule_id, t.seat_index, t.seat_number, t.grade,
                      r.booking_number, t.status, t.used_at, null as used_gate, t.code,
                      t.updated_at, t.ticket_type, t.reservation_id, o.name as customer
                 from tickets t join reservations r on r.id = t.reservation_id
                 left join issued_orders o on o.id = t.reservation_id and o.actor_id = t.user_id
                where t.id = $1";
    tx.row(sql, params![question.ticket]).await?.as_ref().map(list::read).transpose()
}

/// One compare-and-set: of many gates that scan the same code, one opens.
async fn check_in(tx: &mut dyn Tx, command: &CheckIn) -> Result<()> {
    if is_repeat(tx, command).await? {
        return Ok(());
    }
    let sql = "update tickets set status = 'USED', used_at = $3, updated_at = $3
                where id = $1 and code = $2 and status = 'VALID'
               returning schedule_id";
    let values = params![command.ticket, command.code.as_slice(), command.now];
    let Some(row) = tx.row(sql, values).await? else {
        // The same call may have run at the same time.
        return match is_repeat(tx, command).await? {
            true => Ok(()),
            false => Err(why_not_valid(tx, command.ticket).await?.into()),
        };
    };
    let record = CheckInRecord {
        id: command.id,
        ticket: command.ticket,
        schedule: row.get("schedule_id")?,
        gate: &command.gate,
        kind: "ADMITTED",
        actor: command.actor,
        reason: None,
        scanned_at: command.now,
    };
    insert(tx, &record, command.now).await?;
    let details = json!({ "scheduleId": record.schedule, "gate": command.gate });
    note(tx, command.actor, "ticket.check-in", command.ticket, details, command.now).await
}

/// Whether this check-in is already recorded, and the device didn't get the answer.
async fn is_repeat(tx: &mut dyn Tx, command: &CheckIn) -> Result<bool> {
    let sql = "select ticket_id from check_ins where id = $1";
    let Some(row) = tx.row(sql, params![command.id]).await? else { return Ok(false) };
    match row.get::<TicketId>("ticket_id")? == command.ticket {
        true => Ok(true),
        false => Err(Refusal::KeyReused.into()),
    }
}

struct CheckInRecord<'a> {
    id: Uuid,
    ticket: TicketId,
    schedule: ScheduleId,
    gate: &'a str,
    kind: &'static str,
    actor: UserId,
    reason: Option<&'a str>,
    scanned_at: Timestamp,
}

async fn insert(tx: &mut dyn Tx, record: &CheckInRecord<'_>, now: Timestamp) -> Result<()> {
    let sql = "insert into check_ins (id, ticket_id, schedule_id, gate, kind, actor_id, reason,
                                      scanned_at, created_at)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let values = params![
        record.id,
        record.ticket,
        record.schedule,
        record.gate,
        record.kind,
        record.actor,
        record.reason.map(str::to_owned),
        record.scanned_at,
        now
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

/// A valid ticket that wasn't found has another code.
pub(crate) async fn why_not_valid(tx: &mut dyn Tx, ticket: TicketId) -> Result<Refusal> {
    let sql = "select status, used_at from tickets where id = $1";
    let Some(row) = tx.row(sql, params![ticket]).await? else { return Ok(Refusal::NotFound) };
    Ok(match row.parse("status", TicketStatus::parse)? {
        TicketStatus::Used => {
            Refusal::TicketUsed { at: row.get("used_at")?, gate: last_gate(tx, ticket).await? }
        }
        TicketStatus::Void => Refusal::TicketVoid,
        TicketStatus::Valid => Refusal::TicketInvalid,
    })
}

/// The check-in that admitted the ticket last, and its gate. Devices choose the ids of their scans,
/// so ids are in no order.
async fn last_admission(tx: &mut dyn Tx, ticket: TicketId) -> Result<Option<(Uuid, String)>> {
    let sql = "select id, gate from check_ins where ticket_id = $1 and kind = 'ADMITTED'
                order by created_at desc, id desc limit 1";
    let row = tx.row(sql, params![ticket]).await?;
    row.map(|row| Ok((row.get("id")?, row.get("gate")?))).transpose()
}

/// Where the ticket was admitted last.
async fn last_gate(tx: &mut dyn Tx, ticket: TicketId) -> Result<Option<String>> {
    Ok(last_admission(tx, ticket).await?.map(|(_, gate)| gate))
}

async fn undo(tx: &mut dyn Tx, command: &UndoCheckIn) -> Result<()> {
    let sql = "update tickets set status = 'VALID', used_at = null, updated_at = $3
                where id = $1 and schedule_id = $2 and status = 'USED'";
    let values = params![command.ticket, command.schedule, command.now];
    if tx.execute(sql, values).await? == 0 {
        let sql = "select 1 from tickets where id = $1 and schedule_id = $2";
        let known = tx.row(sql, params![command.ticket, command.schedule]).await?;
        return Err(known.map_or(Refusal::NotFound, |_| Refusal::TicketNotUsed).into());
    }
    let record = CheckInRecord {
        id: command.id,
        ticket: command.ticket,
        schedule: command.schedule,
        gate: &command.gate,
        kind: "UNDONE",
        actor: command.actor,
        reason: Some(&command.reason),
        scanned_at: command.now,
    };
    insert(tx, &record, command.now).await?;
    let details = json!({ "scheduleId": command.schedule, "gate": command.gate,
                          "reason": command.reason });
    note(tx, command.actor, "ticket.check-in.undo", command.ticket, details, command.now).await
}

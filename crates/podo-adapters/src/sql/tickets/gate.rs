//! Check-ins.

use crate::sql::booking::reservations::json_or_default;
use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, Value, params};
use crate::sql::operations::audit::note;
use podo_app::Result;
use podo_app::tickets::gate_port::{
    Attendance, CheckIn, GateAttendance, GateShow, GateTicket, Gates, GradeAttendance, RecordScan,
    ScanResult, SetGates, UndoCheckIn,
};
use podo_domain::tickets::TicketStatus;
use podo_domain::tickets::gate::{Gate, ScanVerdict};
use podo_domain::{Refusal, ScheduleId, TicketId, Timestamp, UserId};
use serde_json::json;
use uuid::Uuid;

commands! {
    impl Gates for SqlStore {
        read shows_between(ShowsBetween { from: Timestamp, to: Timestamp })
            -> Vec<GateShow> as Event => shows;
        read gates_of(GatesOf { schedule: ScheduleId }) -> Vec<Gate> as Event => gates;
        write set_gates(SetGates) -> () as Event => set_gates;
        read ticket_at_gate(AtGate { ticket: TicketId })
            -> Option<GateTicket> as Sales => at_gate;
        write check_in(CheckIn) -> () as Sales => check_in;
        write undo_check_in(UndoCheckIn) -> () as Sales => undo;
        write record_scan(RecordScan) -> ScanResult as Sales => record_scan;
        read gate_tickets(GateTickets { schedule: ScheduleId, after: Option<Uuid>, limit: u32 })
            -> Vec<GateTicket> as Sales or_replica => list;
        read attendance(AttendanceOf { schedule: ScheduleId })
            -> Attendance as Sales or_replica => attendance;
    }
}

async fn shows(tx: &mut dyn Tx, question: &ShowsBetween) -> Result<Vec<GateShow>> {
    let sql =
        "select s.id, s.event_id, e.title, v.name as venue_name, h.name as hall_name, s.starts_at,
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

async fn set_gates(tx: &mut dyn Tx, command: &SetGates) -> Result<()> {
    let sql = "update halls set gates = $2, updated_at = $3 where id = $1";
    let text = serde_json::to_string(&command.gates).map_err(podo_app::Error::broken)?;
    let values = &[command.hall.into(), Value::Json(text), command.now.into()];
    if tx.execute(sql, values).await? == 0 {
        return Err(Refusal::NotFound.into());
    }
    let details = json!({ "gates": command.gates });
    note(tx, (command.actor, "hall.gates"), command.hall, details, command.now).await
}

async fn at_gate(tx: &mut dyn Tx, question: &AtGate) -> Result<Option<GateTicket>> {
    let sql = "select t.id, t.user_id, t.schedule_id, t.seat_index, t.seat_number, t.grade,
                      r.booking_number, t.status, t.used_at, t.code, t.ticket_type
                 from tickets t join reservations r on r.id = t.reservation_id
                where t.id = $1";
    tx.row(sql, params![question.ticket]).await?.as_ref().map(read).transpose()
}

async fn list(tx: &mut dyn Tx, question: &GateTickets) -> Result<Vec<GateTicket>> {
    let sql = "select t.id, t.user_id, t.schedule_id, t.seat_index, t.seat_number, t.grade,
                      r.booking_number, t.status, t.used_at, t.code, t.ticket_type
                 from tickets t join reservations r on r.id = t.reservation_id
                where t.schedule_id = $1 and t.id > $2 and t.status <> 'VOID'
                order by t.id limit $3";
    let after = question.after.unwrap_or(Uuid::nil());
    let values = params![question.schedule, after, question.limit];
    tx.query(sql, values).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<GateTicket> {
    Ok(GateTicket {
        ticket: row.get("id")?,
        holder: row.get("user_id")?,
        schedule: row.get("schedule_id")?,
        seat: row.get("seat_index")?,
        seat_number: row.get("seat_number")?,
        grade: row.get("grade")?,
        ticket_type: json_or_default(row, "ticket_type")?,
        booking_number: row.get::<Option<String>>("booking_number")?.unwrap_or_default(),
        status: row.parse("status", TicketStatus::parse)?,
        used_at: row.get("used_at")?,
        code: row.get("code")?,
    })
}

/// One compare-and-set: of many gates that scan the same code, one opens.
async fn check_in(tx: &mut dyn Tx, command: &CheckIn) -> Result<()> {
    let sql = "update tickets set status = 'USED', used_at = $3, updated_at = $3
                where id = $1 and code = $2 and status = 'VALID'
               returning schedule_id";
    let values = params![command.ticket, command.code.as_slice(), command.now];
    let Some(row) = tx.row(sql, values).await? else {
        return Err(why_not_valid(tx, command.ticket).await?.into());
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
    note(tx, (command.actor, "ticket.check-in"), command.ticket, details, command.now).await
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

/// Where the ticket was admitted last.
async fn last_gate(tx: &mut dyn Tx, ticket: TicketId) -> Result<Option<String>> {
    let sql = "select gate from check_ins where ticket_id = $1 and kind = 'ADMITTED'
                order by id desc limit 1";
    let row = tx.row(sql, params![ticket]).await?;
    Ok(row.map(|row| row.get("gate")).transpose()?)
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
    note(tx, (command.actor, "ticket.check-in.undo"), command.ticket, details, command.now).await
}

/// The id of a scan makes a repeat harmless.
async fn record_scan(tx: &mut dyn Tx, command: &RecordScan) -> Result<ScanResult> {
    let scan = &command.scan;
    let result = |verdict: ScanVerdict| ScanResult {
        id: scan.id,
        ticket_id: scan.ticket,
        verdict,
        used_at: None,
        used_gate: None,
    };
    tx.lock(scan.ticket.uuid()).await?;
    let sql = "select status, used_at from tickets where id = $1 and schedule_id = $2";
    let Some(row) = tx.row(sql, params![scan.ticket, command.schedule]).await? else {
        return Ok(result(ScanVerdict::Unknown));
    };
    let known = "select kind from check_ins where id = $1";
    if let Some(known) = tx.row(known, params![scan.id]).await? {
        let kind: String = known.get("kind")?;
        let is_double = kind == "DOUBLE";
        return match is_double {
            true => double(tx, &row, scan.ticket, result(ScanVerdict::Double)).await,
            false => Ok(result(ScanVerdict::Admitted)),
        };
    }
    let verdict = ScanVerdict::of(row.parse("status", TicketStatus::parse)?);
    let kind = match verdict {
        ScanVerdict::Void | ScanVerdict::Unknown => return Ok(result(verdict)),
        ScanVerdict::Admitted => "ADMITTED",
        ScanVerdict::Double => "DOUBLE",
    };
    let found = match verdict {
        ScanVerdict::Double => double(tx, &row, scan.ticket, result(verdict)).await?,
        ScanVerdict::Admitted | ScanVerdict::Void | ScanVerdict::Unknown => result(verdict),
    };
    if verdict == ScanVerdict::Admitted {
        let sql = "update tickets set status = 'USED', used_at = $2, updated_at = $3
                    where id = $1 and status = 'VALID'";
        tx.execute(sql, params![scan.ticket, scan.scanned_at, command.now]).await?;
    }
    let record = CheckInRecord {
        id: scan.id,
        ticket: scan.ticket,
        schedule: command.schedule,
        gate: &scan.gate,
        kind,
        actor: command.actor,
        reason: None,
        scanned_at: scan.scanned_at,
    };
    insert(tx, &record, command.now).await?;
    let details = json!({ "scheduleId": command.schedule, "gate": scan.gate, "offline": true,
                          "verdict": verdict });
    note(tx, (command.actor, "ticket.check-in"), scan.ticket, details, command.now).await?;
    Ok(found)
}

/// When and where the other scan admitted the ticket.
async fn double(
    tx: &mut dyn Tx,
    row: &Row,
    ticket: TicketId,
    result: ScanResult,
) -> Result<ScanResult> {
    let used_gate = last_gate(tx, ticket).await?;
    Ok(ScanResult { used_at: row.get("used_at")?, used_gate, ..result })
}

async fn attendance(tx: &mut dyn Tx, question: &AttendanceOf) -> Result<Attendance> {
    let sql = "select grade, count(*) as n_tickets,
                      sum(case when status = 'USED' then 1 else 0 end) as n_admitted
                 from tickets where schedule_id = $1 and status <> 'VOID'
                group by grade order by grade";
    let read = |row: &Row| {
        Ok(GradeAttendance {
            grade: row.get("grade")?,
            tickets: row.get("n_tickets")?,
            admitted: row.get("n_admitted")?,
        })
    };
    let rows = tx.query(sql, params![question.schedule]).await?;
    let grades = rows.iter().map(read).collect::<Result<Vec<GradeAttendance>>>()?;
    let sql = "select gate, sum(case when kind = 'ADMITTED' then 1 else 0 end) as n_admitted,
                      sum(case when kind = 'UNDONE' then 1 else 0 end) as n_undone,
                      sum(case when kind = 'DOUBLE' then 1 else 0 end) as n_doubles
                 from check_ins where schedule_id = $1 group by gate order by gate";
    let read = |row: &Row| {
        Ok(GateAttendance {
            gate: row.get("gate")?,
            admitted: row.get("n_admitted")?,
            undone: row.get("n_undone")?,
            doubles: row.get("n_doubles")?,
        })
    };
    let rows = tx.query(sql, params![question.schedule]).await?;
    let gates = rows.iter().map(read).collect::<Result<Vec<GateAttendance>>>()?;
    Ok(Attendance {
        schedule_id: question.schedule,
        tickets: grades.iter().map(|grade| grade.tickets).sum(),
        admitted: grades.iter().map(|grade| grade.admitted).sum(),
        grades,
        gates,
    })
}

//! Scans and undos that devices made without a network and sent later.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::operations::audit::note;
use crate::sql::tickets::gate::{CheckInRecord, insert, last_admission, last_gate};
use podo_app::Result;
use podo_app::tickets::gate_port::{OfflineUndo, RecordScan, ScanResult};
use podo_domain::TicketId;
use podo_domain::tickets::TicketStatus;
use podo_domain::tickets::gate::ScanVerdict;
use serde_json::json;

/// The id of a scan makes a repeat harmless.
pub(super) async fn record(tx: &mut dyn Tx, command: &RecordScan) -> Result<ScanResult> {
    let scan = &command.scan;
    tx.lock(scan.ticket.uuid()).await?;
    let sql = "select status, used_at, seat_number from tickets
                where id = $1 and schedule_id = $2";
    let Some(row) = tx.row(sql, params![scan.ticket, command.schedule]).await? else {
        return Ok(result(command, ScanVerdict::Unknown));
    };
    let found = apply(tx, command, &row).await?;
    Ok(ScanResult { seat_number: row.get("seat_number")?, ..found })
}

/// The code isn't compared: the guest is inside. An organiser may have moved the ticket since.
async fn apply(tx: &mut dyn Tx, command: &RecordScan, row: &Row) -> Result<ScanResult> {
    let scan = &command.scan;
    let known = "select kind from check_ins where id = $1";
    let known = tx.row(known, params![scan.id]).await?;
    let known = known.map(|row| row.get::<String>("kind")).transpose()?;
    let status = row.parse("status", TicketStatus::parse)?;
    match (&scan.undo, known.as_deref()) {
        (Some(_), Some(_)) => Ok(result(command, ScanVerdict::Undone)),
        (Some(undo), None) => take_back(tx, command, undo, status).await,
        (None, Some("DOUBLE")) => {
            double(tx, row, scan.ticket, result(command, ScanVerdict::Double)).await
        }
        (None, Some(_)) => Ok(result(command, ScanVerdict::Admitted)),
        (None, None) => admit(tx, command, row, status).await,
    }
}

fn result(command: &RecordScan, verdict: ScanVerdict) -> ScanResult {
    let scan = &command.scan;
    ScanResult {
        id: scan.id,
        ticket_id: scan.ticket,
        verdict,
        seat_number: None,
        used_at: None,
        used_gate: None,
    }
}

async fn admit(
    tx: &mut dyn Tx,
    command: &RecordScan,
    row: &Row,
    status: TicketStatus,
) -> Result<ScanResult> {
    let scan = &command.scan;
    let verdict = ScanVerdict::of(status);
    let found = result(command, verdict);
    let (kind, found) = match verdict {
        ScanVerdict::Void | ScanVerdict::Unknown | ScanVerdict::Undone => return Ok(found),
        ScanVerdict::Admitted => ("ADMITTED", found),
        ScanVerdict::Double => ("DOUBLE", double(tx, row, scan.ticket, found).await?),
    };
    if verdict == ScanVerdict::Admitted {
        let sql = "update tickets set status = 'USED', used_at = $2, updated_at = $3
                    where id = $1 and status = 'VALID'";
        tx.execute(sql, params![scan.ticket, scan.scanned_at, command.now]).await?;
    }
    insert(tx, &record_of(command, kind, None), command.now).await?;
    let details = json!({ "scheduleId": command.schedule, "gate": scan.gate, "offline": true,
                          "verdict": verdict });
    note(tx, command.actor, "ticket.check-in", scan.ticket, details, command.now).await?;
    Ok(found)
}

/// Takes back the check-in that the device names, and no later one of another gate.
async fn take_back(
    tx: &mut dyn Tx,
    command: &RecordScan,
    undo: &OfflineUndo,
    status: TicketStatus,
) -> Result<ScanResult> {
    let scan = &command.scan;
    let last = last_admission(tx, scan.ticket).await?.map(|(id, _)| id);
    let is_changed = match status == TicketStatus::Used && last == Some(undo.check_in) {
        true => {
            let sql = "update tickets set status = 'VALID', used_at = null, updated_at = $2
                        where id = $1 and status = 'USED'";
            tx.execute(sql, params![scan.ticket, command.now]).await?;
            insert(tx, &record_of(command, "UNDONE", Some(&undo.reason)), command.now).await?;
            true
        }
        false => resolve_double(tx, scan.ticket, undo).await?,
    };
    if is_changed {
        let details = json!({ "scheduleId": command.schedule, "gate": scan.gate, "offline": true,
                              "reason": undo.reason });
        note(tx, command.actor, "ticket.check-in.undo", scan.ticket, details, command.now).await?;
    }
    Ok(result(command, ScanVerdict::Undone))
}

/// The second guest of a double was sent back out. The first one stays inside, so the ticket stays
/// used; a reason marks the double as resolved.
async fn resolve_double(tx: &mut dyn Tx, ticket: TicketId, undo: &OfflineUndo) -> Result<bool> {
    let sql = "update check_ins set reason = $3
                where id = $1 and ticket_id = $2 and kind = 'DOUBLE' and reason is null";
    let values = params![undo.check_in, ticket, undo.reason.clone()];
    Ok(tx.execute(sql, values).await? == 1)
}

fn record_of<'a>(
    command: &'a RecordScan,
    kind: &'static str,
    reason: Option<&'a str>,
) -> CheckInRecord<'a> {
    CheckInRecord {
        id: command.scan.id,
        ticket: command.scan.ticket,
        schedule: command.schedule,
        gate: &command.scan.gate,
        kind,
        actor: command.actor,
        reason,
        scanned_at: command.scan.scanned_at,
    }
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

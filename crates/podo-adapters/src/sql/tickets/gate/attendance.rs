//! Counts of a date by grade and by gate.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::tickets::gate::{AttendanceOf, SeatsAtGate};
use podo_app::Result;
use podo_app::tickets::gate_port::{Attendance, GateAttendance, GradeAttendance};
use podo_domain::id::SeatIndex;

pub(super) async fn attendance(tx: &mut dyn Tx, question: &AttendanceOf) -> Result<Attendance> {
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
                      sum(case when kind = 'DOUBLE' and reason is null then 1 else 0 end)
                          as n_doubles
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
        sections: Vec::new(),
        gates,
    })
}

pub(super) async fn seats(
    tx: &mut dyn Tx,
    question: &SeatsAtGate,
) -> Result<Vec<(SeatIndex, bool)>> {
    let sql = "select seat_index, status = 'USED' as is_admitted
                 from tickets where schedule_id = $1 and status <> 'VOID'";
    let rows = tx.query(sql, params![question.schedule]).await?;
    rows.iter().map(|row| Ok((row.get("seat_index")?, row.get("is_admitted")?))).collect()
}

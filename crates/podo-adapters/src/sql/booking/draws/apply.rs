//! Fans apply, change and withdraw.

use crate::sql::booking::draws::{
    ApplicationOf, WithdrawApplication, application_of, load, notices,
};
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use podo_app::catalog::phases::draws_port::{ApplicationRecord, Apply};
use podo_app::{Error, Result};
use podo_domain::booking::draws::ApplicationState;
use podo_domain::catalog::{EventStatus, ScheduleStatus};
use podo_domain::{PhaseId, Refusal, Timestamp};

/// The row of the draw serialises applications with the end of their window: an application either
/// has its index when the window ends, or is refused.
pub(super) async fn apply(tx: &mut dyn Tx, command: &Apply) -> Result<ApplicationRecord> {
    let Apply { phase, user, grade, count, now } = command;
    let draw = load(tx, *phase).await?.ok_or(Refusal::NotFound)?;
    draw.terms.check_window(draw.closed_at.is_some(), *now)?;
    draw.terms.check_application(grade, *count)?;
    check_on_sale(tx, *phase).await?;
    let question = ApplicationOf { user: *user, phase: *phase };
    let known = application_of(tx, &question).await?;
    let is_same = known.as_ref().is_some_and(|known| {
        known.state == ApplicationState::Applied && known.grade == *grade && known.count == *count
    });
    match known {
        Some(known) if is_same => return Ok(known),
        Some(_) => change(tx, command).await?,
        None => insert(tx, command).await?,
    }
    let application = application_of(tx, &question).await?;
    let application = application
        .ok_or_else(|| Error::broken("an application disappeared in its transaction"))?;
    notices::tell_applied(tx, &draw, &application, *now).await?;
    Ok(application)
}

/// A canceled date takes no applications.
async fn check_on_sale(tx: &mut dyn Tx, phase: PhaseId) -> Result<()> {
    let sql = "select s.status, e.status as event_status
                 from event_schedules s join events e on e.id = s.event_id where s.id = $1";
    let row = tx.row(sql, params![phase.schedule()]).await?.ok_or(Refusal::NotFound)?;
    row.parse("status", ScheduleStatus::parse)?
        .check_on_sale(row.parse("event_status", EventStatus::parse)?)?;
    Ok(())
}

async fn insert(tx: &mut dyn Tx, command: &Apply) -> Result<()> {
    let sql = "update draws set n_applied = n_applied + 1, updated_at = $2
                where phase_id = $1 and closed_at is null
               returning n_applied";
    let row = tx.row(sql, params![command.phase, command.now]).await?.ok_or(Refusal::DrawClosed)?;
    let n_applied: u32 = row.get("n_applied")?;
    let sql = "insert into draw_applications
                 (phase_id, user_id, idx, grade, n_seats, state, created_at, updated_at)
               values ($1, $2, $3, $4, $5, 'APPLIED', $6, $6)";
    let index = n_applied - 1;
    let Apply { phase, user, grade, count, now } = command;
    tx.execute(sql, params![*phase, *user, index, grade, *count, *now]).await?;
    Ok(())
}

async fn change(tx: &mut dyn Tx, command: &Apply) -> Result<()> {
    hold_open(tx, command.phase, command.now).await?;
    let sql = "update draw_applications
                  set grade = $3, n_seats = $4, state = 'APPLIED', updated_at = $5
                where phase_id = $1 and user_id = $2 and state in ('APPLIED', 'WITHDRAWN')";
    let Apply { phase, user, grade, count, now } = command;
    match tx.execute(sql, params![*phase, *user, grade, *count, *now]).await? {
        1 => Ok(()),
        _ => Err(Refusal::DrawClosed.into()),
    }
}

/// The window can't end before this transaction does.
async fn hold_open(tx: &mut dyn Tx, phase: PhaseId, now: Timestamp) -> Result<()> {
    let sql = "update draws set updated_at = $2 where phase_id = $1 and closed_at is null";
    match tx.execute(sql, params![phase, now]).await? {
        1 => Ok(()),
        _ => Err(Refusal::DrawClosed.into()),
    }
}

pub(super) async fn withdraw(tx: &mut dyn Tx, command: &WithdrawApplication) -> Result<()> {
    let WithdrawApplication { user, phase, now } = *command;
    let draw = load(tx, phase).await?.ok_or(Refusal::NotFound)?;
    let known = application_of(tx, &ApplicationOf { user, phase }).await?;
    let state = known.ok_or(Refusal::NotFound)?.state;
    let next = state.give_up()?;
    if next == state {
        return Ok(());
    }
    if state == ApplicationState::Applied {
        draw.terms.check_window(draw.closed_at.is_some(), now)?;
        hold_open(tx, phase, now).await?;
    }
    let sql = "update draw_applications set state = $4, updated_at = $5
                where phase_id = $1 and user_id = $2 and state = $3";
    let values = params![phase, user, state.as_str(), next.as_str(), now];
    match tx.execute(sql, values).await? {
        1 => Ok(()),
        _ => Err(Error::Conflict("the draw took place meanwhile".into())),
    }
}

//! Sale phases of a date.

use crate::sql::booking::draws::{check_phase, remove_draw};
use crate::sql::catalog::announce::announce_change;
use crate::sql::catalog::create::json_text;
use crate::sql::catalog::{phase_people, phase_webhooks};
use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::{SqlError, Tx};
use crate::sql::engine::value::{Row, Value, params};
use podo_app::Result;
use podo_app::catalog::phases::port::{
    AddCodes, AddMembers, ImportView, KeyHash, MemberWebhook, PhasePeople, Phases,
    SetMemberWebhook, SetPhases, StartImport, Verify,
};
use podo_domain::catalog::phases::{
    Phase, PhaseAudience, PhaseTerms, PhasedDate, SeatRanges, change_phases,
};
use podo_domain::catalog::{SaleWindow, SeatTemplate};
use podo_domain::{PhaseId, Refusal, ScheduleId, Timestamp, UserId};
use serde_json::json;

commands! {
    impl Phases for SqlStore {
        write set_phases(SetPhases) -> Vec<Phase> as Event => set;
        write add_codes(AddCodes) -> u64 as Event => phase_people::add_codes;
        write start_import(StartImport) -> () as Event => phase_people::start_import;
        write add_members(AddMembers) -> ImportView as Event => phase_people::add_members;
        read phase_people(PeopleOf { schedule: ScheduleId })
            -> Vec<PhasePeople> as Event => phase_people::people;
        write verify(Verify) -> () as Sales => phase_people::verify;
        read has_free_member(FreeMember { phase: PhaseId, key: KeyHash })
            -> bool as Sales => phase_people::has_free_member;
        read member_webhook(WebhookOf { phase: PhaseId })
            -> Option<MemberWebhook> as Event => phase_webhooks::webhook_of;
        write set_member_webhook(SetMemberWebhook) -> () as Event => phase_webhooks::set;
        write remove_member_webhook(RemoveWebhook {
            phase: PhaseId, actor: UserId, now: Timestamp,
        }) -> () as Event => phase_webhooks::remove;
        read eligible_phases(EligiblePhases { user: UserId, schedule: ScheduleId })
            -> Vec<PhaseId> as Sales => phase_people::eligible;
        write forget_phase_people(ForgetPeople { schedule: ScheduleId, limit: u32 })
            -> u64 as Event => phase_people::forget;
    }
}

/// The phases of a date, in the order of their windows.
pub(crate) const PHASE: &str =
    "select id, name, name_en, starts_at, ends_at, audience, seats_per_person, inventory,
            seat_ranges, draw_seed, seats_per_order
       from sale_phases where schedule_id = $1 order by starts_at";

pub(crate) async fn phases_of(tx: &mut dyn Tx, schedule: ScheduleId) -> Result<Vec<Phase>> {
    tx.query(PHASE, params![schedule]).await?.iter().map(read_phase).collect()
}

pub(crate) fn read_phase(row: &Row) -> Result<Phase> {
    let ranges: Option<String> = row.get("seat_ranges")?;
    let read = |text: String| {
        serde_json::from_str::<SeatRanges>(&text)
            .map_err(|error| SqlError::Broken(format!("column `seat_ranges`: {error}")))
    };
    Ok(Phase {
        id: row.get("id")?,
        terms: PhaseTerms {
            name: row.get("name")?,
            name_en: row.get("name_en")?,
            window: SaleWindow { starts_at: row.get("starts_at")?, ends_at: row.get("ends_at")? },
            audience: row.parse("audience", PhaseAudience::parse)?,
            seats_per_person: row.get("seats_per_person")?,
            seats_per_order: row.get("seats_per_order")?,
            inventory: row.json("inventory")?,
        },
        seats: ranges.map(read).transpose()?,
        draw_seed: row.get("draw_seed")?,
    })
}

async fn set(tx: &mut dyn Tx, command: &SetPhases) -> Result<Vec<Phase>> {
    let schedule = command.schedule;
    // Serialise the changes of a date's phases and of its sale.
    tx.lock(schedule.uuid()).await?;
    let sql = "select sale_starts_at, sale_ends_at, seats_per_person, last_phase, seat_template,
                      seats_per_order
                 from event_schedules where id = $1";
    let row = tx.row(sql, params![schedule]).await?.ok_or(Refusal::NotFound)?;
    let template: SeatTemplate = row.json("seat_template")?;
    let plan = template.plan()?;
    let date = PhasedDate {
        schedule,
        sale: SaleWindow {
            starts_at: row.get("sale_starts_at")?,
            ends_at: row.get("sale_ends_at")?,
        },
        seats_per_person: row.get("seats_per_person")?,
        seats_per_order: row.get("seats_per_order")?,
        plan: &plan,
        last_number: row.get("last_phase")?,
    };
    let before = phases_of(tx, schedule).await?;
    let seed = || tx.rng().secret();
    let next = change_phases(&date, &before, command.phases.clone(), command.now, seed)?;
    for phase in &next {
        if let Some(known) = before.iter().find(|it| it.id == phase.id) {
            check_phase(tx, known, phase, &plan, command.now).await?;
        }
    }
    store(tx, command, &before, &next, date.last_number).await?;
    let shown: Vec<_> = next.iter().map(audited).collect();
    let details = json!({ "phases": shown });
    announce_change(tx, command.actor, "schedule.phases", schedule.uuid(), details, command.now)
        .await?;
    Ok(next)
}

fn audited(phase: &Phase) -> serde_json::Value {
    let terms = &phase.terms;
    json!({
        "id": phase.id, "name": terms.name, "startsAt": terms.window.starts_at,
        "endsAt": terms.window.ends_at, "audience": terms.audience,
        "seatsPerPerson": terms.seats_per_person, "seatsPerOrder": terms.seats_per_order,
        "grades": terms.inventory.grades,
        "sections": terms.inventory.sections,
    })
}

async fn store(
    tx: &mut dyn Tx,
    command: &SetPhases,
    before: &[Phase],
    next: &[Phase],
    last_number: u32,
) -> Result<()> {
    for phase in before.iter().filter(|phase| !next.iter().any(|it| it.id == phase.id)) {
        remove(tx, phase.id, command.now).await?;
    }
    for phase in next {
        match before.iter().any(|it| it.id == phase.id) {
            true => update(tx, phase, command.now).await?,
            false => insert(tx, phase, command.now).await?,
        }
    }
    let numbers = next.iter().map(|phase| phase.id.number());
    let last = numbers.max().unwrap_or(0).max(last_number);
    let sql = "update event_schedules set last_phase = $2, updated_at = $3 where id = $1";
    tx.execute(sql, params![command.schedule, last, command.now]).await?;
    Ok(())
}

/// A phase that hasn't begun, with its codes, members and verified fans.
pub(super) async fn remove(tx: &mut dyn Tx, phase: PhaseId, now: Timestamp) -> Result<()> {
    remove_draw(tx, phase, now).await?;
    for sql in [
        "delete from phase_eligibilities where phase_id = $1",
        "delete from phase_members where phase_id = $1",
        "delete from phase_codes where phase_id = $1",
        "delete from phase_webhooks where id = $1",
        "delete from phase_imports where phase_id = $1",
        "delete from sale_phases where id = $1",
    ] {
        tx.execute(sql, params![phase]).await?;
    }
    Ok(())
}

async fn insert(tx: &mut dyn Tx, phase: &Phase, now: Timestamp) -> Result<()> {
    let sql = "insert into sale_phases
                 (id, name, name_en, starts_at, ends_at, audience, seats_per_person, inventory,
                  seat_ranges, updated_at, seats_per_order, schedule_id, draw_seed, created_at)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $10)";
    let mut values = values_of(phase, now)?;
    values.extend([phase.id.schedule().into(), phase.draw_seed.into()]);
    tx.execute(sql, &values).await?;
    Ok(())
}

async fn update(tx: &mut dyn Tx, phase: &Phase, now: Timestamp) -> Result<()> {
    let sql = "update sale_phases
                  set name = $2, name_en = $3, starts_at = $4, ends_at = $5, audience = $6,
                      seats_per_person = $7, inventory = $8, seat_ranges = $9, updated_at = $10,
                      seats_per_order = $11
                where id = $1";
    tx.execute(sql, &values_of(phase, now)?).await?;
    Ok(())
}

fn values_of(phase: &Phase, now: Timestamp) -> Result<Vec<Value>> {
    let terms = &phase.terms;
    Ok(vec![
        phase.id.into(),
        (&terms.name).into(),
        (&terms.name_en).into(),
        terms.window.starts_at.into(),
        terms.window.ends_at.into(),
        terms.audience.as_str().into(),
        terms.seats_per_person.into(),
        json_text(&terms.inventory)?,
        phase.seats.as_ref().map_or(Ok(Value::Null), json_text)?,
        now.into(),
        terms.seats_per_order.into(),
    ])
}

//! Organisers' changes and removals. What fans rely on can't be changed, and what was ever held
//! can't be removed.

use crate::sql::catalog::announce::announce_change;
use crate::sql::catalog::create::json_text;
use crate::sql::catalog::moved;
use crate::sql::catalog::phases::{phases_of, remove as remove_phase};
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_app::catalog::port::{
    CancelSchedule, ChangeSchedule, EditHall, EditVenue, Remove, Unwanted,
};
use podo_domain::catalog::phases::check_sale;
use podo_domain::catalog::{
    ResaleDelay, ScheduleStatus, ScheduleTerms, ScheduleTimes, SeatTemplate, price_seats,
};
use podo_domain::{Currency, Refusal, ScheduleId, Won};
use serde_json::json;
use std::collections::BTreeMap;

pub(super) async fn edit_venue(tx: &mut dyn Tx, command: &EditVenue) -> Result<()> {
    let EditVenue { venue, name, address, city, time_zone, now, .. } = command;
    let find = "select name, address from venues where id = $1";
    let row = tx.row(find, params![*venue]).await?.ok_or(Refusal::NotFound)?;
    let (name_before, address_before) = (row.get("name")?, row.get("address")?);
    let sql = "update venues set name = coalesce($2, name), address = coalesce($3, address),
                      city = coalesce($4, city), updated_at = $5,
                      time_zone = coalesce($6, time_zone)
                where id = $1";
    let values =
        params![*venue, name.clone(), address.clone(), city.clone(), *now, time_zone.clone()];
    found(tx.execute(sql, values).await?)?;
    if command.announces {
        moved::announce_venue(tx, command, name_before, address_before).await?;
    }
    let details = json!({ "name": name, "address": address, "city": city,
        "timeZone": time_zone, "announced": command.announces });
    announce_change(tx, command.actor, "venue.edit", command.venue.uuid(), details, command.now)
        .await
}

pub(super) async fn edit_hall(tx: &mut dyn Tx, command: &EditHall) -> Result<()> {
    let sql = "update halls set name = coalesce($2, name), capacity = coalesce($3, capacity),
                      updated_at = $4
                where id = $1";
    let values = params![command.hall, command.name.clone(), command.capacity, command.now];
    let changed = tx.execute(sql, values).await.map_err(|error| {
        if error.is_constraint("halls_name") {
            podo_app::Error::from(Refusal::NameTaken)
        } else {
            error.into()
        }
    })?;
    found(changed)?;
    if let Some(template) = &command.template {
        let sql = "update halls set seat_template = $2, updated_at = $3 where id = $1";
        tx.execute(sql, &[command.hall.into(), json_text(template)?, command.now.into()]).await?;
    }
    let details = json!({ "name": command.name, "capacity": command.capacity });
    announce_change(tx, command.actor, "hall.edit", command.hall.uuid(), details, command.now).await
}

fn found(n_changed: u64) -> Result<()> {
    if n_changed == 0 { Err(Refusal::NotFound.into()) } else { Ok(()) }
}

pub(super) async fn change_schedule(
    tx: &mut dyn Tx,
    command: &ChangeSchedule,
) -> Result<ScheduleTerms> {
    let sql = "select starts_at, ends_at, sale_starts_at, sale_ends_at, seats_per_person, prices,
                      resale_min_seconds, resale_max_seconds, seat_template, seats_per_order,
                      (select e.currency from events e where e.id = event_id) as currency
                 from event_schedules where id = $1";
    // Serialise it with a change of the date's phases, which lie inside the sale.
    tx.lock(command.schedule.uuid()).await?;
    let row = tx.row(sql, params![command.schedule]).await?.ok_or(Refusal::NotFound)?;
    let terms = read_terms(&row)?;
    let next = terms.change(&command.change, command.now)?;
    check_sale(&phases_of(tx, command.schedule).await?, next.times.sale())?;
    if next.prices != terms.prices {
        let template: SeatTemplate = row.json("seat_template")?;
        price_seats(&template.plan()?, &next.prices, row.parse("currency", Currency::parse)?)?;
        set_prices(tx, command.schedule, &next.prices).await?;
    }
    store_terms(tx, command, &terms, &next).await?;
    moved::announce_date(tx, command, &terms.times, &next.times).await?;
    let details = json!({
        "startsAt": next.times.starts_at, "endsAt": next.times.ends_at,
        "saleStartsAt": next.times.sale_starts_at, "saleEndsAt": next.times.sale_ends_at,
        "seatsPerPerson": next.seats_per_person, "seatsPerOrder": next.seats_per_order,
        "prices": next.prices,
        "resaleDelay": next.resale_delay,
    });
    announce_change(
        tx,
        command.actor,
        "schedule.change",
        command.schedule.uuid(),
        details,
        command.now,
    )
    .await?;
    Ok(next)
}

fn read_terms(row: &Row) -> Result<ScheduleTerms> {
    Ok(ScheduleTerms {
        times: ScheduleTimes {
            starts_at: row.get("starts_at")?,
            ends_at: row.get("ends_at")?,
            sale_starts_at: row.get("sale_starts_at")?,
            sale_ends_at: row.get("sale_ends_at")?,
        },
        seats_per_person: row.get("seats_per_person")?,
        seats_per_order: row.get("seats_per_order")?,
        prices: row.json("prices")?,
        resale_delay: ResaleDelay {
            min_seconds: row.get("resale_min_seconds")?,
            max_seconds: row.get("resale_max_seconds")?,
        },
    })
}

/// Allowed only before the sale opens, so no seat has been held at the old price.
async fn set_prices(
    tx: &mut dyn Tx,
    schedule: ScheduleId,
    prices: &BTreeMap<String, Won>,
) -> Result<()> {
    let sql = "update seats set price = $3 where schedule_id = $1 and grade = $2";
    for (grade, price) in prices {
        tx.execute(sql, params![schedule, grade, *price]).await?;
    }
    Ok(())
}

async fn store_terms(
    tx: &mut dyn Tx,
    command: &ChangeSchedule,
    before: &ScheduleTerms,
    next: &ScheduleTerms,
) -> Result<()> {
    let sql = "update event_schedules
                  set starts_at = $2, ends_at = $3, sale_starts_at = $4, sale_ends_at = $5,
                      seats_per_person = $6, prices = $7, resale_min_seconds = $8,
                      resale_max_seconds = $9, updated_at = $10, seats_per_order = $14,
                      status = case status when 'CANCELLED' then status else $13 end
                where id = $1 and sale_starts_at = $11 and seats_per_person = $12";
    let values = &[
        command.schedule.into(),
        next.times.starts_at.into(),
        next.times.ends_at.into(),
        next.times.sale_starts_at.into(),
        next.times.sale_ends_at.into(),
        next.seats_per_person.into(),
        json_text(&next.prices)?,
        next.resale_delay.min_seconds.into(),
        next.resale_delay.max_seconds.into(),
        command.now.into(),
        before.times.sale_starts_at.into(),
        before.seats_per_person.into(),
        next.times.sale().status_at(command.now).as_str().into(),
        next.seats_per_order.into(),
    ];
    match tx.execute(sql, values).await? {
        0 => Err(podo_app::Error::Conflict("a concurrent command changed the schedule".into())),
        _ => Ok(()),
    }
}

pub(super) async fn cancel_schedule(tx: &mut dyn Tx, command: &CancelSchedule) -> Result<()> {
    let status = "select status from event_schedules where id = $1";
    let row = tx.row(status, params![command.schedule]).await?.ok_or(Refusal::NotFound)?;
    if row.parse("status", ScheduleStatus::parse)? == ScheduleStatus::Cancelled {
        return Ok(());
    }
    let sql = "update event_schedules set status = 'CANCELLED', updated_at = $2 where id = $1";
    tx.execute(sql, params![command.schedule, command.now]).await?;
    announce_change(
        tx,
        command.actor,
        "schedule.cancel",
        command.schedule.uuid(),
        json!({}),
        command.now,
    )
    .await
}

/// Refuses while other rows refer to it; the foreign keys are the last line of defence.
pub(super) async fn remove(tx: &mut dyn Tx, command: &Remove) -> Result<()> {
    let (actor, now) = (command.actor, command.now);
    let (uuid, users, deletes, action): (_, _, &[&str], _) = match command.what {
        Unwanted::Venue(venue) => (
            venue.uuid(),
            "select 1 from halls where venue_id = $1 limit 1",
            &["delete from venues where id = $1"],
            "venue.remove",
        ),
        Unwanted::Hall(hall) => (
            hall.uuid(),
            "select 1 from events where hall_id = $1 limit 1",
            &["delete from halls where id = $1"],
            "hall.remove",
        ),
        Unwanted::Event(event) => (
            event.uuid(),
            "select 1 from event_schedules where event_id = $1 limit 1",
            &[
                "delete from event_images where event_id = $1",
                "delete from events_search where id = $1",
                "delete from refund_policies where event_id = $1",
                "delete from events where id = $1",
            ],
            "event.remove",
        ),
        Unwanted::Schedule(schedule) => (
            schedule.uuid(),
            // A seat that was ever held has a fence above zero.
            "select 1 from seats where schedule_id = $1 and fence > 0 limit 1",
            &[
                "delete from seats where schedule_id = $1",
                "delete from allocations where schedule_id = $1",
                "delete from event_schedules where id = $1",
            ],
            "schedule.remove",
        ),
    };
    if tx.row(users, params![uuid]).await?.is_some() {
        return Err(Refusal::InUse.into());
    }
    if let Unwanted::Schedule(schedule) = command.what {
        for phase in phases_of(tx, schedule).await? {
            remove_phase(tx, phase.id, now).await?;
        }
    }
    let mut n_deleted = 0;
    for sql in deletes {
        n_deleted = tx.execute(sql, params![uuid]).await?;
    }
    found(n_deleted)?;
    announce_change(tx, actor, action, uuid, json!({}), now).await
}

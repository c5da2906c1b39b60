//! What organisers create and change. Every change adds an audit entry.

use crate::sql::catalog::announce::announce_change;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Value, params};
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::Outgoing;
use crate::sql::operations::audit::note;
use podo_app::Result;
use podo_app::catalog::port::{
    ChangeEvent, ChangeQueue, CreateHall, CreateSchedule, CreateVenue, EventVerb,
};
use podo_domain::catalog::{EventStatus, PlannedSeat, SeatTemplate, price_seats};
use podo_domain::id::SeatIndex;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{Currency, HallId, Refusal, ScheduleId, Won};
use serde::Serialize;
use serde_json::json;

pub(super) fn json_text(value: &impl Serialize) -> Result<Value> {
    serde_json::to_string(value).map(Value::Json).map_err(podo_app::Error::broken)
}

pub(super) async fn create_venue(tx: &mut dyn Tx, command: &CreateVenue) -> Result<()> {
    let sql = "insert into venues (id, name, address, city, created_at, updated_at, time_zone)
               values ($1, $2, $3, $4, $5, $5, $6)";
    let CreateVenue { venue, name, address, city, time_zone, now, .. } = command;
    tx.execute(sql, params![*venue, name, address, city, *now, time_zone]).await?;
    let details = json!({ "name": command.name });
    note(tx, command.actor, "venue.create", command.venue, details, command.now).await
}

pub(super) async fn create_hall(tx: &mut dyn Tx, command: &CreateHall) -> Result<()> {
    let venue = tx.row("select 1 from venues where id = $1", params![command.venue]).await?;
    venue.ok_or(Refusal::NotFound)?;
    let sql = "insert into halls
                 (id, venue_id, name, capacity, seat_template, created_at, updated_at)
               values ($1, $2, $3, $4, $5, $6, $6)";
    let values = &[
        command.hall.into(),
        command.venue.into(),
        Value::from(&command.name),
        command.capacity.into(),
        json_text(&command.template)?,
        command.now.into(),
    ];
    tx.execute(sql, values).await.map_err(|error| {
        if error.is_constraint("halls_name") {
            podo_app::Error::from(Refusal::NameTaken)
        } else {
            error.into()
        }
    })?;
    let details = json!({ "name": command.name, "capacity": command.capacity });
    note(tx, command.actor, "hall.create", command.hall, details, command.now).await
}

/// Creates the schedule, with its sequence number, and its seats in one transaction, so a partial
/// hall is never visible.
pub(super) async fn create_schedule(tx: &mut dyn Tx, command: &CreateSchedule) -> Result<u32> {
    let event = tx
        .row("select status, hall_id, currency from events where id = $1", params![command.event])
        .await?
        .ok_or(Refusal::NotFound)?;
    match event.parse("status", EventStatus::parse)? {
        EventStatus::Preparing | EventStatus::Open => {}
        EventStatus::Ended | EventStatus::Cancelled => return Err(Refusal::WrongEventState.into()),
    }
    let template = template_of_hall(tx, event.get("hall_id")?).await?.without_shapes();
    let plan = template.plan()?;
    let prices = price_seats(&plan, &command.prices, event.parse("currency", Currency::parse)?)?;
    let n_seats = u32::try_from(plan.seats.len()).unwrap_or(u32::MAX);
    insert_schedule(tx, command, &template, n_seats).await?;
    insert_seats(tx, command.schedule, &plan.seats, &prices).await?;
    let details = json!({ "event": command.event, "seats": n_seats });
    announce_change(
        tx,
        command.actor,
        "schedule.create",
        command.schedule.uuid(),
        details,
        command.now,
    )
    .await?;
    Ok(n_seats)
}

async fn template_of_hall(tx: &mut dyn Tx, hall: HallId) -> Result<SeatTemplate> {
    let row = tx.row("select seat_template from halls where id = $1", params![hall]).await?;
    Ok(row.ok_or(Refusal::NotFound)?.json("seat_template")?)
}

async fn insert_schedule(
    tx: &mut dyn Tx,
    command: &CreateSchedule,
    template: &SeatTemplate,
    n_seats: u32,
) -> Result<()> {
    let sql = "insert into event_schedules
                 (id, event_id, play_sequence, starts_at, ends_at, sale_starts_at, sale_ends_at,
                  status, seat_template, prices, n_seats, seats_per_person, queue_settings,
                  draw_seed, created_at, updated_at, resale_min_seconds, resale_max_seconds,
                  seats_per_order)
               select $1, $2, coalesce(max(play_sequence), 0) + 1, $3, $4, $5, $6, $16, $7,
                      $8, $9, $10, $11, $12, $13, $13, $14, $15, $17
                 from event_schedules where event_id = $2";
    let values = &[
        command.schedule.into(),
        command.event.into(),
        command.times.starts_at.into(),
        command.times.ends_at.into(),
        command.times.sale_starts_at.into(),
        command.times.sale_ends_at.into(),
        json_text(template)?,
        json_text(&command.prices)?,
        n_seats.into(),
        command.seats_per_person.into(),
        json_text(&command.queue)?,
        command.draw_seed.into(),
        command.now.into(),
        command.resale_delay.min_seconds.into(),
        command.resale_delay.max_seconds.into(),
        command.times.sale().status_at(command.now).as_str().into(),
        command.seats_per_order.into(),
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

/// Seats per insert statement.
const SEATS_PER_INSERT: usize = 1_000;

async fn insert_seats(
    tx: &mut dyn Tx,
    schedule: ScheduleId,
    seats: &[PlannedSeat],
    prices: &[Won],
) -> Result<()> {
    let sql = "insert into seats (schedule_id, seat_index, number, grade, price)
               values ($1, $2, $3, $4, $5)";
    let set = |((index, seat), price): ((SeatIndex, &PlannedSeat), &Won)| {
        params![schedule, index, &seat.number, &seat.grade, *price].to_vec()
    };
    let all: Vec<_> = (0..).zip(seats).zip(prices).map(set).collect();
    for sets in all.chunks(SEATS_PER_INSERT) {
        tx.execute_each(sql, sets.to_vec()).await?;
    }
    Ok(())
}

pub(super) async fn change_event(tx: &mut dyn Tx, command: &ChangeEvent) -> Result<EventStatus> {
    let sql = "select status from events where id = $1";
    let row = tx.row(sql, params![command.event]).await?.ok_or(Refusal::NotFound)?;
    let status = row.parse("status", EventStatus::parse)?;
    let (next, action) = match command.verb {
        EventVerb::Open => (status.open()?, "event.open"),
        EventVerb::End => (status.end()?, "event.end"),
        EventVerb::Cancel => (status.cancel()?, "event.cancel"),
    };
    if next == status {
        return Ok(status);
    }
    let sql = "update events set status = $3, updated_at = $4 where id = $1 and status = $2";
    let values = params![command.event, status.as_str(), next.as_str(), command.now];
    tx.execute(sql, values).await?;
    announce_change(tx, command.actor, action, command.event.uuid(), json!({}), command.now)
        .await?;
    match next {
        EventStatus::Open => announce(tx, command).await?,
        EventStatus::Cancelled => call_off_dates(tx, command).await?,
        EventStatus::Preparing | EventStatus::Ended => {}
    }
    Ok(next)
}

/// Past dates stay as they are: their audience gets no refund.
async fn call_off_dates(tx: &mut dyn Tx, command: &ChangeEvent) -> Result<()> {
    let sql = "update event_schedules set status = 'CANCELLED', updated_at = $2
                where event_id = $1 and status <> 'CANCELLED' and ends_at > $2
               returning id";
    for row in tx.query(sql, params![command.event, command.now]).await? {
        let schedule: ScheduleId = row.get("id")?;
        announce_change(
            tx,
            command.actor,
            "schedule.cancel",
            schedule.uuid(),
            json!({}),
            command.now,
        )
        .await?;
    }
    Ok(())
}

async fn announce(tx: &mut dyn Tx, command: &ChangeEvent) -> Result<()> {
    let message = Outgoing {
        kind: MessageKind::ScheduleOpened,
        aggregate: command.event.uuid(),
        seq: 1,
        key: command.event.uuid(),
        payload: &json!({ "eventId": command.event }),
    };
    outbox::push(tx, message, command.now).await
}

pub(super) async fn change_queue(tx: &mut dyn Tx, command: &ChangeQueue) -> Result<()> {
    let sql = "update event_schedules set queue_settings = $2, updated_at = $3 where id = $1";
    let values = &[command.schedule.into(), json_text(&command.settings)?, command.now.into()];
    if tx.execute(sql, values).await? == 0 {
        return Err(Refusal::NotFound.into());
    }
    let details = serde_json::to_value(&command.settings).map_err(podo_app::Error::broken)?;
    announce_change(
        tx,
        command.actor,
        "queue.change",
        command.schedule.uuid(),
        details,
        command.now,
    )
    .await
}

//! Catalog queries for fans, organisers and jobs.

use crate::sql::catalog::{
    ClaimedSeats, EventById, Events, HallTemplate, ScheduleById, SchedulesAlive, SchedulesEnded,
    SchedulesOf, SeatsAt, SeatsByGrade, SeatsOf, TemplateOf, Venues,
};
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, Value, params};
use podo_app::Result;
use podo_app::catalog::port::{EventRecord, GradeSales, HallRecord, ScheduleRecord, VenueRecord};
use podo_domain::booking::seats::{Seat, SeatStanding, SeatState};
use podo_domain::catalog::{EventStatus, ResaleDelay, ScheduleStatus, ScheduleTimes, SeatTemplate};
use podo_domain::id::SeatIndex;
use podo_domain::{ScheduleId, Timestamp, VenueId};
use std::time::Duration;
use uuid::Uuid;

/// A filter that is absent is null and matches everything.
pub(super) async fn events(tx: &mut dyn Tx, question: &Events) -> Result<Vec<EventRecord>> {
    if let Some(text) = &question.filter.query {
        return search(tx, question, text).await;
    }
    let sql = "select e.id, e.title, e.artist, e.description, e.status, v.name as venue_name,
                      v.city, h.name as hall_name, e.transferable
                 from events e
                 join venues v on v.id = e.venue_id
                 join halls h on h.id = e.hall_id
                where e.id < $1
                  and (cast($2 as text) is null or e.status = $2)
                  and (cast($3 as text) is null or v.city = $3)
                  and (not $4 or (
                        select 1 from event_schedules s
                         where s.event_id = e.id and s.starts_at >= $5 and s.starts_at < $6
                         limit 1) is not null)
                  and (cast($8 as text) is null or (
                        select 1 from event_schedules s
                         where s.event_id = e.id and s.status = $8 limit 1) is not null)
                order by e.id desc limit $7";
    tx.query(sql, &filters(question)).await?.iter().map(read_event).collect()
}

/// Matches Korean by any part of a word: three letters or more through the trigram index, fewer by
/// a scan.
async fn search(tx: &mut dyn Tx, question: &Events, text: &str) -> Result<Vec<EventRecord>> {
    let sql = "select e.id, e.title, e.artist, e.description, e.status, v.name as venue_name,
                      v.city, h.name as hall_name, e.transferable
                 from events_search w
                 join events e on e.id = w.id
                 join venues v on v.id = e.venue_id
                 join halls h on h.id = e.hall_id
                where w.words like $9 and w.words like $10 escape '\\'
                  and e.id < $1
                  and (cast($2 as text) is null or e.status = $2)
                  and (cast($3 as text) is null or v.city = $3)
                  and (not $4 or (
                        select 1 from event_schedules s
                         where s.event_id = e.id and s.starts_at >= $5 and s.starts_at < $6
                         limit 1) is not null)
                  and (cast($8 as text) is null or (
                        select 1 from event_schedules s
                         where s.event_id = e.id and s.status = $8 limit 1) is not null)
                order by e.id desc limit $7";
    let mut values = filters(question);
    values.extend([rough_pattern(text).into(), like_pattern(text).into()]);
    tx.query(sql, &values).await?.iter().map(read_event).collect()
}

fn filters(question: &Events) -> Vec<Value> {
    let filter = &question.filter;
    let has_dates = filter.from.is_some() || filter.to.is_some();
    let values = params![
        question.page.after.unwrap_or(Uuid::max()),
        filter.only.map(EventStatus::as_str),
        filter.city.clone(),
        has_dates,
        filter.from.unwrap_or(Timestamp::from_ms(0)),
        filter.to.unwrap_or(Timestamp::FAR_FUTURE),
        question.page.limit + 1,
        filter.schedule_status.map(ScheduleStatus::as_str)
    ];
    values.to_vec()
}

/// Matches the text anywhere, with `_` in place of pattern characters. It matches slightly too
/// much, but it can use the index, which SQLite does only for patterns without escapes.
fn rough_pattern(text: &str) -> String {
    format!("%{}%", text.to_lowercase().replace(['\\', '%', '_'], "_"))
}

/// Matches the text anywhere, with its own `%` and `_` escaped.
fn like_pattern(text: &str) -> String {
    let escaped = text.to_lowercase().replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{escaped}%")
}

fn read_event(row: &Row) -> Result<EventRecord> {
    Ok(EventRecord {
        event: row.get("id")?,
        title: row.get("title")?,
        artist: row.get("artist")?,
        description: row.get("description")?,
        status: row.parse("status", EventStatus::parse)?,
        venue_name: row.get("venue_name")?,
        city: row.get("city")?,
        hall_name: row.get("hall_name")?,
        transferable: row.get("transferable")?,
    })
}

pub(super) async fn event(tx: &mut dyn Tx, question: &EventById) -> Result<Option<EventRecord>> {
    let sql = "select e.id, e.title, e.artist, e.description, e.status, v.name as venue_name,
                      v.city, h.name as hall_name, e.transferable
                 from events e
                 join venues v on v.id = e.venue_id
                 join halls h on h.id = e.hall_id
                where e.id = $1";
    tx.row(sql, params![question.event]).await?.as_ref().map(read_event).transpose()
}

pub(super) async fn schedules_of(
    tx: &mut dyn Tx,
    question: &SchedulesOf,
) -> Result<Vec<ScheduleRecord>> {
    let sql = "select s.id, s.event_id, e.status as event_status, e.title, s.play_sequence,
                      s.starts_at, s.ends_at, s.sale_starts_at, s.sale_ends_at, s.status,
                      s.prices, s.n_seats, s.seats_per_person, s.queue_settings, s.draw_seed,
                      s.resale_min_seconds, s.resale_max_seconds
                 from event_schedules s join events e on e.id = s.event_id
                where s.event_id = $1 order by s.play_sequence";
    tx.query(sql, params![question.event]).await?.iter().map(read_schedule).collect()
}

pub(super) async fn schedule(
    tx: &mut dyn Tx,
    question: &ScheduleById,
) -> Result<Option<ScheduleRecord>> {
    let sql = "select s.id, s.event_id, e.status as event_status, e.title, s.play_sequence,
                      s.starts_at, s.ends_at, s.sale_starts_at, s.sale_ends_at, s.status,
                      s.prices, s.n_seats, s.seats_per_person, s.queue_settings, s.draw_seed,
                      s.resale_min_seconds, s.resale_max_seconds
                 from event_schedules s join events e on e.id = s.event_id
                where s.id = $1";
    tx.row(sql, params![question.schedule]).await?.as_ref().map(read_schedule).transpose()
}

/// From a day before the sale opens until an hour after it closes or the show is canceled.
pub(super) async fn schedules_alive(
    tx: &mut dyn Tx,
    question: &SchedulesAlive,
) -> Result<Vec<ScheduleRecord>> {
    let sql = "select s.id, s.event_id, e.status as event_status, e.title, s.play_sequence,
                      s.starts_at, s.ends_at, s.sale_starts_at, s.sale_ends_at, s.status,
                      s.prices, s.n_seats, s.seats_per_person, s.queue_settings, s.draw_seed,
                      s.resale_min_seconds, s.resale_max_seconds
                 from event_schedules s join events e on e.id = s.event_id
                where s.sale_ends_at > $1 and s.sale_starts_at < $2 and e.status = 'OPEN'
                  and s.status <> 'CANCELLED'";
    let hour = Duration::from_secs(3_600);
    let values = params![question.now.minus(hour), question.now.plus(hour * 24)];
    tx.query(sql, values).await?.iter().map(read_schedule).collect()
}

pub(super) async fn schedules_ended(
    tx: &mut dyn Tx,
    question: &SchedulesEnded,
) -> Result<Vec<ScheduleId>> {
    // Sales end before concerts do, and the end of the sale is indexed.
    let sql = "select id from event_schedules
                where sale_ends_at < $2 and sale_ends_at >= $3 and ends_at >= $1 and ends_at < $2";
    let year = Duration::from_secs(365 * 86_400);
    let values = params![question.from, question.to, question.from.minus(year)];
    let rows = tx.query(sql, values).await?;
    rows.iter().map(|row| Ok(row.get("id")?)).collect()
}

/// An expired hold counts as free, swept or not; a withheld seat doesn't.
pub(super) async fn seats_by_grade(
    tx: &mut dyn Tx,
    question: &SeatsByGrade,
) -> Result<Vec<GradeSales>> {
    let sql = "select grade,
                      sum(case when state in ('FREE', 'HELD')
                                and (expires_at is null or expires_at <= $2)
                               then 1 else 0 end) as n_available,
                      sum(case when state = 'PAYING'
                                or (state in ('FREE', 'HELD') and expires_at > $2)
                               then 1 else 0 end) as n_held,
                      sum(case when state = 'SOLD' then 1 else 0 end) as n_sold,
                      cast(sum(case when state = 'SOLD' then price else 0 end) as bigint) as revenue
                 from seats where schedule_id = $1 group by grade order by grade";
    let read = |row: &Row| {
        Ok(GradeSales {
            grade: row.get("grade")?,
            available: row.get("n_available")?,
            held: row.get("n_held")?,
            sold: row.get("n_sold")?,
            revenue: row.get("revenue")?,
        })
    };
    tx.query(sql, params![question.schedule, question.now]).await?.iter().map(read).collect()
}

fn read_schedule(row: &Row) -> Result<ScheduleRecord> {
    let seed: Vec<u8> = row.get("draw_seed")?;
    Ok(ScheduleRecord {
        schedule: row.get("id")?,
        event: row.get("event_id")?,
        event_status: row.parse("event_status", EventStatus::parse)?,
        event_title: row.get("title")?,
        sequence: row.get("play_sequence")?,
        times: ScheduleTimes {
            starts_at: row.get("starts_at")?,
            ends_at: row.get("ends_at")?,
            sale_starts_at: row.get("sale_starts_at")?,
            sale_ends_at: row.get("sale_ends_at")?,
        },
        status: row.parse("status", ScheduleStatus::parse)?,
        prices: row.json("prices")?,
        n_seats: row.get("n_seats")?,
        seats_per_person: row.get("seats_per_person")?,
        resale_delay: ResaleDelay {
            min_seconds: row.get("resale_min_seconds")?,
            max_seconds: row.get("resale_max_seconds")?,
        },
        queue: row.json("queue_settings")?,
        draw_seed: seed
            .try_into()
            .map_err(|_seed| podo_app::Error::broken("a draw seed is 32 bytes"))?,
    })
}

pub(super) async fn template_of(
    tx: &mut dyn Tx,
    question: &TemplateOf,
) -> Result<Option<SeatTemplate>> {
    let sql = "select seat_template from event_schedules where id = $1";
    let row = tx.row(sql, params![question.schedule]).await?;
    Ok(row.map(|row| row.json("seat_template")).transpose()?)
}

pub(super) async fn seats_of(tx: &mut dyn Tx, question: &SeatsOf) -> Result<Vec<Seat>> {
    let sql = "select seat_index, number, grade, price, state, claim, fence, expires_at
                 from seats where schedule_id = $1 order by seat_index";
    let read = |row: &Row| {
        Ok(Seat {
            index: row.get("seat_index")?,
            number: row.get("number")?,
            grade: row.get("grade")?,
            price: row.get("price")?,
            state: row.parse("state", SeatState::parse)?,
            claim: row.get("claim")?,
            fence: row.get("fence")?,
            expires_at: row.get("expires_at")?,
        })
    };
    tx.query(sql, params![question.schedule]).await?.iter().map(read).collect()
}

pub(super) async fn hall_template(
    tx: &mut dyn Tx,
    question: &HallTemplate,
) -> Result<Option<SeatTemplate>> {
    let row =
        tx.row("select seat_template from halls where id = $1", params![question.hall]).await?;
    Ok(row.map(|row| row.json("seat_template")).transpose()?)
}

pub(super) async fn venues(tx: &mut dyn Tx, question: &Venues) -> Result<Vec<VenueRecord>> {
    let sql = "select id, name, address, city from venues where id < $1 order by id desc limit $2";
    let page = question.page;
    let rows = tx.query(sql, params![page.after.unwrap_or(Uuid::max()), page.limit + 1]).await?;
    let mut venues = Vec::with_capacity(rows.len());
    for row in &rows {
        let venue: VenueId = row.get("id")?;
        let sql = "select id, name, capacity from halls where venue_id = $1 order by id";
        let halls = tx.query(sql, params![venue]).await?;
        let read = |row: &Row| {
            Ok(HallRecord {
                hall: row.get("id")?,
                name: row.get("name")?,
                capacity: row.get("capacity")?,
            })
        };
        venues.push(VenueRecord {
            venue,
            name: row.get("name")?,
            address: row.get("address")?,
            city: row.get("city")?,
            halls: halls.iter().map(read).collect::<Result<_>>()?,
        });
    }
    Ok(venues)
}

pub(super) async fn claimed_seats(
    tx: &mut dyn Tx,
    question: &ClaimedSeats,
) -> Result<Vec<SeatStanding>> {
    let sql = "select seat_index, state, expires_at from seats
                where schedule_id = $1 and (state <> 'FREE' or expires_at is not null)";
    tx.query(sql, params![question.schedule]).await?.iter().map(read_standing).collect()
}

pub(super) async fn seats_at(tx: &mut dyn Tx, question: &SeatsAt) -> Result<Vec<SeatStanding>> {
    let sql = "select seat_index, state, expires_at from seats
                where schedule_id = $1 and seat_index = $2";
    let SeatsAt { schedule, seats } = question;
    let ask = |seat: &SeatIndex| params![*schedule, *seat].to_vec();
    let found = tx.query_each(sql, seats.iter().map(ask).collect()).await?;
    found.iter().flatten().map(read_standing).collect()
}

fn read_standing(row: &Row) -> Result<SeatStanding> {
    Ok(SeatStanding {
        index: row.get("seat_index")?,
        state: row.parse("state", SeatState::parse)?,
        expires_at: row.get("expires_at")?,
    })
}

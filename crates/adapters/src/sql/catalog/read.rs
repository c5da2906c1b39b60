//! The catalog as fans, organisers and the jobs see it.

use super::super::store::SqlStore;
use super::super::tx::{Tx, work};
use super::super::value::{Row, Value, params};
use super::status::UpdateScheduleStatuses;
use app::Result;
use app::paging::PageAsk;
use app::ports::catalog::{
    CancelSchedule, Catalog, ChangeEvent, ChangeQueue, ChangeSchedule, CreateEvent, CreateHall,
    CreateSchedule, CreateVenue, EditEvent, EditHall, EditVenue, EventFilter, EventRecord,
    GradeSales, HallRecord, Remove, ScheduleRecord, VenueRecord,
};
use async_trait::async_trait;
use domain::catalog::{
    EventStatus, ResaleDelay, ScheduleStatus, ScheduleTerms, ScheduleTimes, SeatTemplate,
};
use domain::id::SeatIndex;
use domain::seats::{Seat, SeatStanding, SeatState};
use domain::{EventId, HallId, ScheduleId, Timestamp, VenueId};
use serde::de::DeserializeOwned;
use std::time::Duration;
use uuid::Uuid;

struct Events {
    filter: EventFilter,
    page: PageAsk,
}

struct EventById(EventId);
struct SchedulesOf(EventId);
struct ScheduleById(ScheduleId);
struct TemplateOf(ScheduleId);
struct SeatsOf(ScheduleId);
struct Venues(PageAsk);
struct HallTemplate(HallId);
struct ClaimedSeats(ScheduleId);
struct SeatsAt(ScheduleId, Vec<SeatIndex>);
struct SchedulesAlive(Timestamp);

struct SchedulesEnded {
    from: Timestamp,
    to: Timestamp,
}

struct SeatsByGrade {
    schedule: ScheduleId,
    now: Timestamp,
}

work!(Event or_replica: Events => events, Vec<EventRecord>);
work!(Event or_replica: EventById => event, Option<EventRecord>);
work!(Event or_replica: SchedulesOf => schedules_of, Vec<ScheduleRecord>);
work!(Event: ScheduleById => schedule, Option<ScheduleRecord>);
work!(Event or_replica: TemplateOf => template_of, Option<SeatTemplate>);
work!(Event or_replica: SeatsOf => seats_of, Vec<Seat>);
work!(Event or_replica: Venues => venues, Vec<VenueRecord>);
work!(Event or_replica: HallTemplate => hall_template, Option<SeatTemplate>);
work!(Event or_replica: ClaimedSeats => claimed_seats, Vec<SeatStanding>);
work!(Event or_replica: SeatsAt => seats_at, Vec<SeatStanding>);
work!(Worker: SchedulesAlive => schedules_alive, Vec<ScheduleRecord>);
work!(Worker: SchedulesEnded => schedules_ended, Vec<ScheduleId>);
work!(Event or_replica: SeatsByGrade => seats_by_grade, Vec<GradeSales>);

#[async_trait]
impl Catalog for SqlStore {
    async fn create_venue(&self, command: CreateVenue) -> Result<()> {
        self.write(command).await
    }

    async fn create_hall(&self, command: CreateHall) -> Result<()> {
        self.write(command).await
    }

    async fn create_event(&self, command: CreateEvent) -> Result<()> {
        self.write(command).await
    }

    async fn create_schedule(&self, command: CreateSchedule) -> Result<u32> {
        self.write(command).await
    }

    async fn change_event(&self, command: ChangeEvent) -> Result<EventStatus> {
        self.write(command).await
    }

    async fn change_queue(&self, command: ChangeQueue) -> Result<()> {
        self.write(command).await
    }

    async fn edit_venue(&self, command: EditVenue) -> Result<()> {
        self.write(command).await
    }

    async fn edit_hall(&self, command: EditHall) -> Result<()> {
        self.write(command).await
    }

    async fn edit_event(&self, command: EditEvent) -> Result<()> {
        self.write(command).await
    }

    async fn change_schedule(&self, command: ChangeSchedule) -> Result<ScheduleTerms> {
        self.write(command).await
    }

    async fn cancel_schedule(&self, command: CancelSchedule) -> Result<()> {
        self.write(command).await
    }

    async fn remove(&self, command: Remove) -> Result<()> {
        self.write(command).await
    }

    async fn venues(&self, page: PageAsk) -> Result<Vec<VenueRecord>> {
        self.read(Venues(page)).await
    }

    async fn hall_template(&self, hall: HallId) -> Result<Option<SeatTemplate>> {
        self.read(HallTemplate(hall)).await
    }

    async fn events(&self, filter: EventFilter, page: PageAsk) -> Result<Vec<EventRecord>> {
        self.read(Events { filter, page }).await
    }

    async fn event(&self, event: EventId) -> Result<Option<EventRecord>> {
        self.read(EventById(event)).await
    }

    async fn schedules_of(&self, event: EventId) -> Result<Vec<ScheduleRecord>> {
        self.read(SchedulesOf(event)).await
    }

    async fn schedule(&self, schedule: ScheduleId) -> Result<Option<ScheduleRecord>> {
        self.read(ScheduleById(schedule)).await
    }

    async fn template_of(&self, schedule: ScheduleId) -> Result<Option<SeatTemplate>> {
        self.read(TemplateOf(schedule)).await
    }

    async fn seats_of(&self, schedule: ScheduleId) -> Result<Vec<Seat>> {
        self.read(SeatsOf(schedule)).await
    }

    async fn claimed_seats(&self, schedule: ScheduleId) -> Result<Vec<SeatStanding>> {
        self.read(ClaimedSeats(schedule)).await
    }

    async fn seats_at(
        &self,
        schedule: ScheduleId,
        seats: Vec<SeatIndex>,
    ) -> Result<Vec<SeatStanding>> {
        self.read(SeatsAt(schedule, seats)).await
    }

    async fn schedules_alive(&self, now: Timestamp) -> Result<Vec<ScheduleRecord>> {
        self.read(SchedulesAlive(now)).await
    }

    async fn update_schedule_statuses(&self, limit: u32, now: Timestamp) -> Result<u64> {
        self.write(UpdateScheduleStatuses { limit, now }).await
    }

    async fn schedules_ended(&self, from: Timestamp, to: Timestamp) -> Result<Vec<ScheduleId>> {
        self.read(SchedulesEnded { from, to }).await
    }

    async fn seats_by_grade(
        &self,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> Result<Vec<GradeSales>> {
        self.read(SeatsByGrade { schedule, now }).await
    }
}

/// A filter that was not given is null and lets everything pass.
async fn events(tx: &mut dyn Tx, question: &Events) -> Result<Vec<EventRecord>> {
    if let Some(text) = &question.filter.query {
        return search(tx, question, text).await;
    }
    let sql = "select e.id, e.title, e.artist, e.description, e.status, v.name, v.city, h.name,
                      e.transferable
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

/// Finds Korean by any part of a word: three letters and more by the index of groups of three,
/// fewer by reading all words.
async fn search(tx: &mut dyn Tx, question: &Events, text: &str) -> Result<Vec<EventRecord>> {
    let sql = "select e.id, e.title, e.artist, e.description, e.status, v.name, v.city, h.name,
                      e.transferable
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

/// The text anywhere, with any letter in the place of those that mean something in a pattern: it
/// finds a little too much, but by the index, which SQLite uses for patterns without escapes only.
fn rough_pattern(text: &str) -> String {
    format!("%{}%", text.to_lowercase().replace(['\\', '%', '_'], "_"))
}

/// The text anywhere, with its own `%` and `_` taken literally.
fn like_pattern(text: &str) -> String {
    let escaped = text.to_lowercase().replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{escaped}%")
}

fn read_event(row: &Row) -> Result<EventRecord> {
    Ok(EventRecord {
        event: row.get(0)?,
        title: row.get(1)?,
        artist: row.get(2)?,
        description: row.get(3)?,
        status: row.parse(4, EventStatus::parse)?,
        venue_name: row.get(5)?,
        city: row.get(6)?,
        hall_name: row.get(7)?,
        transferable: row.get(8)?,
    })
}

async fn event(tx: &mut dyn Tx, question: &EventById) -> Result<Option<EventRecord>> {
    let sql = "select e.id, e.title, e.artist, e.description, e.status, v.name, v.city, h.name,
                      e.transferable
                 from events e
                 join venues v on v.id = e.venue_id
                 join halls h on h.id = e.hall_id
                where e.id = $1";
    tx.row(sql, params![question.0]).await?.as_ref().map(read_event).transpose()
}

async fn schedules_of(tx: &mut dyn Tx, question: &SchedulesOf) -> Result<Vec<ScheduleRecord>> {
    let sql = "select s.id, s.event_id, e.status, e.title, s.play_sequence, s.starts_at, s.ends_at,
                      s.sale_starts_at, s.sale_ends_at, s.status, s.prices, s.n_seats,
                      s.seats_per_person, s.queue_settings, s.draw_seed,
                      s.resale_min_seconds, s.resale_max_seconds
                 from event_schedules s join events e on e.id = s.event_id
                where s.event_id = $1 order by s.play_sequence";
    tx.query(sql, params![question.0]).await?.iter().map(read_schedule).collect()
}

async fn schedule(tx: &mut dyn Tx, question: &ScheduleById) -> Result<Option<ScheduleRecord>> {
    let sql = "select s.id, s.event_id, e.status, e.title, s.play_sequence, s.starts_at, s.ends_at,
                      s.sale_starts_at, s.sale_ends_at, s.status, s.prices, s.n_seats,
                      s.seats_per_person, s.queue_settings, s.draw_seed,
                      s.resale_min_seconds, s.resale_max_seconds
                 from event_schedules s join events e on e.id = s.event_id
                where s.id = $1";
    tx.row(sql, params![question.0]).await?.as_ref().map(read_schedule).transpose()
}

/// From a day before the sale opens until an hour after it closes, or the show is canceled.
async fn schedules_alive(
    tx: &mut dyn Tx,
    question: &SchedulesAlive,
) -> Result<Vec<ScheduleRecord>> {
    let sql = "select s.id, s.event_id, e.status, e.title, s.play_sequence, s.starts_at, s.ends_at,
                      s.sale_starts_at, s.sale_ends_at, s.status, s.prices, s.n_seats,
                      s.seats_per_person, s.queue_settings, s.draw_seed,
                      s.resale_min_seconds, s.resale_max_seconds
                 from event_schedules s join events e on e.id = s.event_id
                where s.sale_ends_at > $1 and s.sale_starts_at < $2 and e.status = 'OPEN'
                  and s.status <> 'CANCELLED'";
    let hour = Duration::from_secs(3_600);
    let values = params![question.0.minus(hour), question.0.plus(hour * 24)];
    tx.query(sql, values).await?.iter().map(read_schedule).collect()
}

async fn schedules_ended(tx: &mut dyn Tx, question: &SchedulesEnded) -> Result<Vec<ScheduleId>> {
    // Sales end before concerts do; by their end there is an index.
    let sql = "select id from event_schedules
                where sale_ends_at < $2 and sale_ends_at >= $3 and ends_at >= $1 and ends_at < $2";
    let year = Duration::from_secs(365 * 86_400);
    let values = params![question.from, question.to, question.from.minus(year)];
    let rows = tx.query(sql, values).await?;
    rows.iter().map(|row| Ok(row.get(0)?)).collect()
}

/// A hold past its time is free, swept or not; a seat that rests is not yet.
async fn seats_by_grade(tx: &mut dyn Tx, question: &SeatsByGrade) -> Result<Vec<GradeSales>> {
    let sql = "select grade,
                      sum(case when state in ('FREE', 'HELD')
                                and (expires_at is null or expires_at <= $2)
                               then 1 else 0 end),
                      sum(case when state = 'PAYING'
                                or (state in ('FREE', 'HELD') and expires_at > $2)
                               then 1 else 0 end),
                      sum(case when state = 'SOLD' then 1 else 0 end),
                      cast(sum(case when state = 'SOLD' then price else 0 end) as bigint)
                 from seats where schedule_id = $1 group by grade order by grade";
    let read = |row: &Row| {
        Ok(GradeSales {
            grade: row.get(0)?,
            available: row.get(1)?,
            held: row.get(2)?,
            sold: row.get(3)?,
            revenue: row.get(4)?,
        })
    };
    tx.query(sql, params![question.schedule, question.now]).await?.iter().map(read).collect()
}

fn read_schedule(row: &Row) -> Result<ScheduleRecord> {
    let seed: Vec<u8> = row.get(14)?;
    Ok(ScheduleRecord {
        schedule: row.get(0)?,
        event: row.get(1)?,
        event_status: row.parse(2, EventStatus::parse)?,
        event_title: row.get(3)?,
        sequence: row.get(4)?,
        times: ScheduleTimes {
            starts_at: row.get(5)?,
            ends_at: row.get(6)?,
            sale_starts_at: row.get(7)?,
            sale_ends_at: row.get(8)?,
        },
        status: row.parse(9, ScheduleStatus::parse)?,
        prices: read_json(row, 10)?,
        n_seats: row.get(11)?,
        seats_per_person: row.get(12)?,
        resale_delay: ResaleDelay { min_seconds: row.get(15)?, max_seconds: row.get(16)? },
        queue: read_json(row, 13)?,
        draw_seed: seed
            .try_into()
            .map_err(|_seed| app::Error::broken("a draw seed is 32 bytes"))?,
    })
}

fn read_json<T: DeserializeOwned>(row: &Row, index: usize) -> Result<T> {
    let text: String = row.get(index)?;
    serde_json::from_str(&text).map_err(app::Error::broken)
}

async fn template_of(tx: &mut dyn Tx, question: &TemplateOf) -> Result<Option<SeatTemplate>> {
    let sql = "select seat_template from event_schedules where id = $1";
    let row = tx.row(sql, params![question.0]).await?;
    row.map(|row| read_json(&row, 0)).transpose()
}

async fn seats_of(tx: &mut dyn Tx, question: &SeatsOf) -> Result<Vec<Seat>> {
    let sql = "select seat_index, number, grade, price, state, claim, fence, expires_at
                 from seats where schedule_id = $1 order by seat_index";
    let read = |row: &Row| {
        Ok(Seat {
            index: row.get(0)?,
            number: row.get(1)?,
            grade: row.get(2)?,
            price: row.get(3)?,
            state: row.parse(4, SeatState::parse)?,
            claim: row.get(5)?,
            fence: row.get(6)?,
            expires_at: row.get(7)?,
        })
    };
    tx.query(sql, params![question.0]).await?.iter().map(read).collect()
}

async fn hall_template(tx: &mut dyn Tx, question: &HallTemplate) -> Result<Option<SeatTemplate>> {
    let row = tx.row("select seat_template from halls where id = $1", params![question.0]).await?;
    row.map(|row| read_json(&row, 0)).transpose()
}

async fn venues(tx: &mut dyn Tx, question: &Venues) -> Result<Vec<VenueRecord>> {
    let sql = "select id, name, address, city from venues where id < $1 order by id desc limit $2";
    let page = question.0;
    let rows = tx.query(sql, params![page.after.unwrap_or(Uuid::max()), page.limit + 1]).await?;
    let mut venues = Vec::with_capacity(rows.len());
    for row in &rows {
        let venue: VenueId = row.get(0)?;
        let sql = "select id, name, capacity from halls where venue_id = $1 order by id";
        let halls = tx.query(sql, params![venue]).await?;
        let read = |row: &Row| {
            Ok(HallRecord { hall: row.get(0)?, name: row.get(1)?, capacity: row.get(2)? })
        };
        venues.push(VenueRecord {
            venue,
            name: row.get(1)?,
            address: row.get(2)?,
            city: row.get(3)?,
            halls: halls.iter().map(read).collect::<Result<_>>()?,
        });
    }
    Ok(venues)
}

async fn claimed_seats(tx: &mut dyn Tx, question: &ClaimedSeats) -> Result<Vec<SeatStanding>> {
    let sql = "select seat_index, state, expires_at from seats
                where schedule_id = $1 and (state <> 'FREE' or expires_at is not null)";
    tx.query(sql, params![question.0]).await?.iter().map(read_standing).collect()
}

async fn seats_at(tx: &mut dyn Tx, question: &SeatsAt) -> Result<Vec<SeatStanding>> {
    let sql = "select seat_index, state, expires_at from seats
                where schedule_id = $1 and seat_index = $2";
    let SeatsAt(schedule, seats) = question;
    let ask = |seat: &SeatIndex| params![*schedule, *seat].to_vec();
    let found = tx.query_each(sql, seats.iter().map(ask).collect()).await?;
    found.iter().flatten().map(read_standing).collect()
}

fn read_standing(row: &Row) -> Result<SeatStanding> {
    Ok(SeatStanding {
        index: row.get(0)?,
        state: row.parse(1, SeatState::parse)?,
        expires_at: row.get(2)?,
    })
}

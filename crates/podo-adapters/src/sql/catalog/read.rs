//! Catalog queries for fans, organisers and jobs.

use crate::sql::booking::reservations::json_or_default;
use crate::sql::catalog::phases::phases_of;
use crate::sql::catalog::{
    ClaimedSeats, HallTemplate, ScheduleById, SchedulesAlive, SchedulesEnded, SchedulesOf, SeatsAt,
    SeatsByGrade, SeatsOf, TemplateOf, Venues,
};
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_app::catalog::port::{GradeSales, HallRecord, ScheduleRecord, VenueRecord};
use podo_domain::booking::seats::{Seat, SeatStanding, SeatState};
use podo_domain::catalog::{EventStatus, ResaleDelay, ScheduleStatus, ScheduleTimes, SeatTemplate};
use podo_domain::id::SeatIndex;
use podo_domain::{Currency, ScheduleId, VenueId, Won};
use std::time::Duration;
use uuid::Uuid;

/// The start of every query that `read_schedule` reads.
macro_rules! schedules {
    () => {
        "select s.id, s.event_id, e.status as event_status, e.title, s.play_sequence,
                s.starts_at, s.ends_at, s.sale_starts_at, s.sale_ends_at, s.status,
                s.prices, s.n_seats, s.seats_per_person, s.queue_settings, s.draw_seed,
                s.resale_min_seconds, s.resale_max_seconds, s.last_phase, s.seats_per_order,
                s.price_options, s.price_changes, e.currency, v.time_zone
           from event_schedules s join events e on e.id = s.event_id
           join venues v on v.id = e.venue_id"
    };
}

pub(super) async fn schedules_of(
    tx: &mut dyn Tx,
    question: &SchedulesOf,
) -> Result<Vec<ScheduleRecord>> {
    let sql = concat!(
        schedules!(),
        "
                where s.event_id = $1 order by s.play_sequence"
    );
    let rows = tx.query(sql, params![question.event]).await?;
    read_schedules(tx, &rows).await
}

pub(super) async fn schedule(
    tx: &mut dyn Tx,
    question: &ScheduleById,
) -> Result<Option<ScheduleRecord>> {
    let sql = concat!(
        schedules!(),
        "
                where s.id = $1"
    );
    let rows = tx.query(sql, params![question.schedule]).await?;
    Ok(read_schedules(tx, &rows).await?.pop())
}

/// From a day before the sale opens until an hour after it closes or the show is canceled.
pub(super) async fn schedules_alive(
    tx: &mut dyn Tx,
    question: &SchedulesAlive,
) -> Result<Vec<ScheduleRecord>> {
    let sql = concat!(
        schedules!(),
        "
                where s.sale_ends_at > $1 and s.sale_starts_at < $2 and e.status = 'OPEN'
                  and s.status <> 'CANCELLED'"
    );
    let hour = Duration::from_secs(3_600);
    let values = params![question.now.minus(hour), question.now.plus(hour * 24)];
    let rows = tx.query(sql, values).await?;
    read_schedules(tx, &rows).await
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
                      sum(case when state = 'KEPT' then 1 else 0 end) as n_kept,
                      cast(sum(case when state = 'SOLD' then price else 0 end) as bigint) as revenue
                 from seats where schedule_id = $1 group by grade order by grade";
    let read = |row: &Row| {
        Ok(GradeSales {
            grade: row.get("grade")?,
            available: row.get("n_available")?,
            held: row.get("n_held")?,
            sold: row.get("n_sold")?,
            kept: row.get("n_kept")?,
            revenue: row.get("revenue")?,
        })
    };
    let values = params![question.schedule, question.now];
    let mut sales = tx.query(sql, values).await?.iter().map(read).collect::<Result<Vec<_>>>()?;
    match differs_from_seats(tx, question.schedule).await? {
        true => sum_orders(tx, question.schedule, &mut sales).await?,
        false => subtract_discounts(tx, question.schedule, &mut sales).await?,
    }
    Ok(sales)
}

/// Whether a price changed during the sale, or a booking kept its price in a seat of another.
async fn differs_from_seats(tx: &mut dyn Tx, schedule: ScheduleId) -> Result<bool> {
    let sql = "select 1 as one from event_schedules where id = $1 and price_changes is not null";
    if tx.row(sql, params![schedule]).await?.is_some() {
        return Ok(true);
    }
    let sql = "select 1 as one from reseats where schedule_id = $1 and waived is not null limit 1";
    Ok(tx.row(sql, params![schedule]).await?.is_some())
}

/// Takes the revenue from the orders: not all of them paid what their seats cost at first.
async fn sum_orders(tx: &mut dyn Tx, schedule: ScheduleId, sales: &mut [GradeSales]) -> Result<()> {
    let sql = "select c.grade, cast(sum(c.price) as bigint) as amount
                 from reservation_seats c join reservations r on r.id = c.reservation_id
                where c.schedule_id = $1 and c.active and r.status = 'CONFIRMED'
                group by c.grade";
    for sales in &mut *sales {
        sales.revenue = Won::ZERO;
    }
    for row in tx.query(sql, params![schedule]).await? {
        let (grade, amount): (String, Won) = (row.get("grade")?, row.get("amount")?);
        if let Some(found) = sales.iter_mut().find(|sales| sales.grade == grade) {
            found.revenue = amount;
        }
    }
    Ok(())
}

/// Reduces the revenue by what types and codes took off the prices of sold seats.
async fn subtract_discounts(
    tx: &mut dyn Tx,
    schedule: ScheduleId,
    sales: &mut [GradeSales],
) -> Result<()> {
    let sql = "select c.grade, cast(sum(c.list_price - c.price) as bigint) as amount
                 from reservation_seats c join reservations r on r.id = c.reservation_id
                where c.schedule_id = $1 and c.active and c.list_price is not null
                  and r.status = 'CONFIRMED'
                group by c.grade";
    for row in tx.query(sql, params![schedule]).await? {
        let (grade, amount): (String, Won) = (row.get("grade")?, row.get("amount")?);
        if let Some(found) = sales.iter_mut().find(|sales| sales.grade == grade) {
            found.revenue = found.revenue.checked_sub(amount).unwrap_or(Won::ZERO);
        }
    }
    Ok(())
}

/// Dates with their phases; one without phases needs no further statement.
async fn read_schedules(tx: &mut dyn Tx, rows: &[Row]) -> Result<Vec<ScheduleRecord>> {
    let mut records = Vec::with_capacity(rows.len());
    for row in rows {
        let mut record = read_schedule(row)?;
        if row.get::<u32>("last_phase")? > 0 {
            record.phases = phases_of(tx, record.schedule).await?;
        }
        records.push(record);
    }
    Ok(records)
}

fn read_schedule(row: &Row) -> Result<ScheduleRecord> {
    let seed: Vec<u8> = row.get("draw_seed")?;
    Ok(ScheduleRecord {
        schedule: row.get("id")?,
        event: row.get("event_id")?,
        event_status: row.parse("event_status", EventStatus::parse)?,
        event_title: row.get("title")?,
        currency: row.parse("currency", Currency::parse)?,
        time_zone: row.get("time_zone")?,
        sequence: row.get("play_sequence")?,
        times: ScheduleTimes {
            starts_at: row.get("starts_at")?,
            ends_at: row.get("ends_at")?,
            sale_starts_at: row.get("sale_starts_at")?,
            sale_ends_at: row.get("sale_ends_at")?,
        },
        status: row.parse("status", ScheduleStatus::parse)?,
        prices: row.json("prices")?,
        price_changes: json_or_default(row, "price_changes")?,
        n_seats: row.get("n_seats")?,
        seats_per_person: row.get("seats_per_person")?,
        seats_per_order: row.get("seats_per_order")?,
        resale_delay: ResaleDelay {
            min_seconds: row.get("resale_min_seconds")?,
            max_seconds: row.get("resale_max_seconds")?,
        },
        options: json_or_default(row, "price_options")?,
        phases: Vec::new(),
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
        let state = row.parse("state", SeatState::parse)?;
        let is_kept = state == SeatState::Kept;
        Ok(Seat {
            index: row.get("seat_index")?,
            number: row.get("number")?,
            grade: row.get("grade")?,
            price: row.get("price")?,
            state,
            claim: if is_kept { None } else { row.get("claim")? },
            kept_by: if is_kept { row.get("claim")? } else { None },
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
    let sql = "select id, name, address, city, time_zone from venues
                where id < $1 order by id desc limit $2";
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
            time_zone: row.get("time_zone")?,
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

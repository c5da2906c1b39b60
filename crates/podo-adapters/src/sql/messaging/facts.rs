//! What notifications, tickets and calendars say about a show and a booking.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, Value, params};
use crate::sql::messaging::announcements::FactsOf;
use podo_app::Result;
use podo_app::messaging::port::announcements::{BookingFacts, ShowFacts, Subject};
use podo_domain::booking::issued::Channel;
use podo_domain::catalog::{EventStatus, ScheduleStatus};
use podo_domain::{Currency, ReservationId};
use uuid::Uuid;

/// At an opening hundreds of bookings are described together, so each kind of subject is one query
/// with many sets of parameters.
pub(super) async fn facts_of(
    tx: &mut dyn Tx,
    question: &FactsOf,
) -> Result<Vec<Option<ShowFacts>>> {
    let schedules = "select s.id as schedule_id, s.event_id, s.starts_at, s.ends_at,
                            s.sale_starts_at, s.status, e.title, e.artist,
                            e.status as event_status, v.name as venue, v.address, v.city,
                            v.time_zone, h.name as hall, e.currency
                       from event_schedules s
                       join events e on e.id = s.event_id
                       join venues v on v.id = e.venue_id
                       join halls h on h.id = e.hall_id
                      where s.id = $1";
    let bookings =
        "select r.id as reservation_id, r.user_id, r.booking_number, r.amount, r.channel,
                           s.id as schedule_id, s.event_id, s.starts_at, s.ends_at,
                           s.sale_starts_at, s.status, e.title, e.artist,
                           e.status as event_status, v.name as venue, v.address, v.city,
                           v.time_zone, h.name as hall, e.currency
                      from reservations r
                      join event_schedules s on s.id = r.schedule_id
                      join events e on e.id = s.event_id
                      join venues v on v.id = e.venue_id
                      join halls h on h.id = e.hall_id
                     where r.id = $1";
    let paid = "select reservation_id from payments where id = $1";
    let payments = ids(&question.subjects, |it| match it {
        Subject::Payment(payment) => Some(payment.uuid()),
        Subject::Reservation(_) | Subject::Schedule(_) => None,
    });
    let mut of_payments = tx.query_each(paid, payments).await?.into_iter();
    let mut reservations: Vec<Option<ReservationId>> = Vec::new();
    for subject in &question.subjects {
        reservations.push(match subject {
            Subject::Reservation(reservation) => Some(*reservation),
            Subject::Payment(_) => match of_payments.next().unwrap_or_default().first() {
                Some(row) => Some(row.get("reservation_id")?),
                None => None,
            },
            Subject::Schedule(_) => None,
        });
    }
    let asked: Vec<ReservationId> = reservations.iter().flatten().copied().collect();
    let sets = || asked.iter().map(|id| params![*id].to_vec()).collect::<Vec<_>>();
    let mut found = tx.query_each(bookings, sets()).await?.into_iter();
    let mut seats = tx.query_each(SEATS, sets()).await?.into_iter();
    let dates = ids(&question.subjects, |it| match it {
        Subject::Schedule(schedule) => Some(schedule.uuid()),
        Subject::Reservation(_) | Subject::Payment(_) => None,
    });
    let mut dates = tx.query_each(schedules, dates).await?.into_iter();
    let mut facts = Vec::with_capacity(question.subjects.len());
    for (subject, reservation) in question.subjects.iter().zip(reservations) {
        facts.push(match (subject, reservation) {
            (Subject::Schedule(_), _) => read_first(dates.next(), None)?,
            (Subject::Reservation(_) | Subject::Payment(_), Some(_)) => {
                read_first(found.next(), seats.next())?
            }
            (Subject::Reservation(_) | Subject::Payment(_), None) => None,
        });
    }
    Ok(facts)
}

const SEATS: &str = "select number, grade, active from reservation_seats
                      where reservation_id = $1 order by seat_index";

fn ids(subjects: &[Subject], id: impl Fn(&Subject) -> Option<Uuid>) -> Vec<Vec<Value>> {
    subjects.iter().filter_map(id).map(|id| params![id].to_vec()).collect()
}

fn read_first(rows: Option<Vec<Row>>, seats: Option<Vec<Row>>) -> Result<Option<ShowFacts>> {
    let Some(row) = rows.unwrap_or_default().into_iter().next() else { return Ok(None) };
    let booking = seats.map(|seats| read_booking(&row, seats)).transpose()?;
    let status = row.parse("status", ScheduleStatus::parse)?;
    let event_status = row.parse("event_status", EventStatus::parse)?;
    Ok(Some(ShowFacts {
        schedule: row.get("schedule_id")?,
        event: row.get("event_id")?,
        title: row.get("title")?,
        artist: row.get("artist")?,
        starts_at: row.get("starts_at")?,
        ends_at: row.get("ends_at")?,
        sale_starts_at: row.get("sale_starts_at")?,
        is_canceled: status == ScheduleStatus::Cancelled || event_status == EventStatus::Cancelled,
        venue: row.get("venue")?,
        hall: row.get("hall")?,
        address: row.get("address")?,
        city: row.get("city")?,
        time_zone: row.get("time_zone")?,
        currency: row.parse("currency", Currency::parse)?,
        booking,
    }))
}

/// The active seats, or all of them if the booking has ended.
fn read_booking(row: &Row, mut seats: Vec<Row>) -> Result<BookingFacts> {
    let is_active = |row: &Row| row.get("active").unwrap_or(false);
    if seats.iter().any(is_active) {
        seats.retain(is_active);
    }
    let seat = |row: &Row| Ok((row.get("number")?, row.get("grade")?));
    Ok(BookingFacts {
        reservation: row.get("reservation_id")?,
        user: row.get("user_id")?,
        channel: row.parse("channel", Channel::parse)?,
        number: row.get("booking_number")?,
        amount: row.get("amount")?,
        seats: seats.iter().map(seat).collect::<Result<_>>()?,
    })
}

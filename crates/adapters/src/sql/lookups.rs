//! What organisers look up. A question follows an index where one leads to its rows; otherwise it
//! walks the primary key downwards and stops after a while, however many rows there are.

use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, Value, params};
use app::Result;
use app::ports::lookups::{
    Found, LetterRow, Look, Lookups, PaymentRow, PaymentSearch, PersonRow, PersonSearch,
    ROWS_LOOKED_AT_MAX, ReservationRow, ReservationSearch,
};
use async_trait::async_trait;
use domain::accounts::Role;
use domain::payments::{PaymentMethod, PaymentStatus};
use domain::reservations::ReservationStatus;
use domain::{ReservationId, ScheduleId, UserId};
use uuid::Uuid;

struct FindReservations(ReservationSearch, Look);
struct FindPayments(PaymentSearch, Look);
struct FindPeople(PersonSearch, Look);
struct AllLetters(Look);

work!(ReadOnly or_replica: FindReservations => reservations, Found<ReservationRow>);
work!(ReadOnly or_replica: FindPayments => payments, Found<PaymentRow>);
// Sealed names and addresses are for the accounts' own role.
work!(User: FindPeople => people, Found<PersonRow>);
work!(ReadOnly or_replica: AllLetters => letters, Found<LetterRow>);

#[async_trait]
impl Lookups for SqlStore {
    async fn find_reservations(
        &self,
        search: ReservationSearch,
        look: Look,
    ) -> Result<Found<ReservationRow>> {
        self.read(FindReservations(search, look)).await
    }

    async fn find_payments(&self, search: PaymentSearch, look: Look) -> Result<Found<PaymentRow>> {
        self.read(FindPayments(search, look)).await
    }

    async fn find_people(&self, search: PersonSearch, look: Look) -> Result<Found<PersonRow>> {
        self.read(FindPeople(search, look)).await
    }

    async fn all_letters(&self, look: Look) -> Result<Found<LetterRow>> {
        self.read(AllLetters(look)).await
    }
}

/// How far a look goes when no index leads to the rows: `ROWS_LOOKED_AT_MAX` of them, found on the
/// primary key alone. The last id that is looked at; nil when the rest is fewer.
async fn floor(tx: &mut dyn Tx, sql: &'static str, look: Look) -> Result<Uuid> {
    let before = look.before.unwrap_or(Uuid::max());
    let row = tx.row(sql, params![before, ROWS_LOOKED_AT_MAX - 1]).await?;
    Ok(row.map(|row| row.get(0)).transpose()?.unwrap_or(Uuid::nil()))
}

/// Cuts rows that were asked for with one more than the limit.
fn cut<T>(mut rows: Vec<T>, floor: Uuid, look: &Look, id: fn(&T) -> Uuid) -> Found<T> {
    let is_full = rows.len() > look.limit as usize;
    rows.truncate(look.limit as usize);
    let floor = Some(floor).filter(|floor| !floor.is_nil());
    let next = if is_full { rows.last().map(id) } else { floor };
    Found { rows, next }
}

/// Reservations by one more condition: whatever leads to them by an index, or nothing.
macro_rules! select_reservations {
    ($condition:literal) => {
        concat!(
            "select r.id, r.user_id, r.schedule_id, e.title, s.starts_at, r.status, r.amount,
                    r.booking_number, r.created_at
               from reservations r
               join event_schedules s on s.id = r.schedule_id
               join events e on e.id = s.event_id
              where r.id < $1 and r.id >= $2
                and (cast($3 as text) is null or r.status = $3)
                and (not $4 or r.schedule_id = $5) ",
            $condition,
            " order by r.id desc limit $6"
        )
    };
}

async fn reservations(
    tx: &mut dyn Tx,
    question: &FindReservations,
) -> Result<Found<ReservationRow>> {
    let FindReservations(search, look) = question;
    let (sql, key) = match (search.id, &search.booking_number, search.user) {
        (Some(id), _, _) => (select_reservations!("and r.id = $7"), Some(Value::from(id))),
        (None, Some(number), _) => {
            (select_reservations!("and r.booking_number = $7"), Some(Value::from(number)))
        }
        (None, None, Some(user)) => {
            (select_reservations!("and r.user_id = $7"), Some(Value::from(user)))
        }
        (None, None, None) => (select_reservations!(""), None),
    };
    let deep = "select id from reservations where id < $1 order by id desc limit 1 offset $2";
    let floor = if key.is_some() { Uuid::nil() } else { floor(tx, deep, *look).await? };
    let mut values = params![
        look.before.unwrap_or(Uuid::max()),
        floor,
        search.status.map(ReservationStatus::as_str),
        search.schedule.is_some(),
        search.schedule.map_or(Uuid::nil(), ScheduleId::uuid),
        look.limit + 1,
    ]
    .to_vec();
    values.extend(key);
    let rows = tx.query(sql, &values).await?;
    let found: Vec<ReservationRow> = rows.iter().map(read_reservation).collect::<Result<_>>()?;
    let mut found = cut(found, floor, look, |row| row.id.uuid());
    for row in &mut found.rows {
        row.seats = seats_of(tx, row.id).await?;
    }
    Ok(found)
}

async fn seats_of(tx: &mut dyn Tx, reservation: ReservationId) -> Result<Vec<String>> {
    let sql = "select number from reservation_seats where reservation_id = $1 order by seat_index";
    let rows = tx.query(sql, params![reservation]).await?;
    rows.iter().map(|row| Ok(row.get(0)?)).collect()
}

fn read_reservation(row: &Row) -> Result<ReservationRow> {
    Ok(ReservationRow {
        id: row.get(0)?,
        user: row.get(1)?,
        schedule: row.get(2)?,
        event_title: row.get(3)?,
        starts_at: row.get(4)?,
        status: row.parse(5, ReservationStatus::parse)?,
        seats: Vec::new(),
        amount: row.get(6)?,
        booking_number: row.get(7)?,
        created_at: row.get(8)?,
    })
}

/// Payments in the same manner.
macro_rules! select_payments {
    ($condition:literal) => {
        concat!(
            "select p.id, p.reservation_id, r.booking_number, p.user_id, p.method, p.gateway,
                    p.status, p.amount, p.captured, p.refunded, p.created_at
               from payments p join reservations r on r.id = p.reservation_id
              where p.id < $1 and p.id >= $2
                and (cast($3 as text) is null or p.status = $3)
                and (not $4 or p.user_id = $5) ",
            $condition,
            " order by p.id desc limit $6"
        )
    };
}

async fn payments(tx: &mut dyn Tx, question: &FindPayments) -> Result<Found<PaymentRow>> {
    let FindPayments(search, look) = question;
    let (sql, key) = match (search.id, search.reservation, &search.booking_number) {
        (Some(id), _, _) => (select_payments!("and p.id = $7"), Some(Value::from(id))),
        (None, Some(reservation), _) => {
            (select_payments!("and p.reservation_id = $7"), Some(Value::from(reservation)))
        }
        (None, None, Some(number)) => {
            (select_payments!("and r.booking_number = $7"), Some(Value::from(number)))
        }
        (None, None, None) => (select_payments!(""), None),
    };
    let deep = "select id from payments where id < $1 order by id desc limit 1 offset $2";
    let floor = if key.is_some() { Uuid::nil() } else { floor(tx, deep, *look).await? };
    let mut values = params![
        look.before.unwrap_or(Uuid::max()),
        floor,
        search.status.map(PaymentStatus::as_str),
        search.user.is_some(),
        search.user.map_or(Uuid::nil(), UserId::uuid),
        look.limit + 1,
    ]
    .to_vec();
    values.extend(key);
    let rows = tx.query(sql, &values).await?;
    let found: Vec<PaymentRow> = rows.iter().map(read_payment).collect::<Result<_>>()?;
    Ok(cut(found, floor, look, |row| row.id.uuid()))
}

fn read_payment(row: &Row) -> Result<PaymentRow> {
    Ok(PaymentRow {
        id: row.get(0)?,
        reservation_id: row.get(1)?,
        booking_number: row.get(2)?,
        user_id: row.get(3)?,
        method: row.parse(4, PaymentMethod::parse)?,
        gateway: row.get(5)?,
        status: row.parse(6, PaymentStatus::parse)?,
        amount: row.get(7)?,
        captured: row.get(8)?,
        refunded: row.get(9)?,
        created_at: row.get(10)?,
    })
}

macro_rules! select_people {
    ($condition:literal) => {
        concat!(
            "select id, email, name, role, status, created_at from users
              where id < $1 and status <> 'DELETED' ",
            $condition,
            " order by id desc limit $2"
        )
    };
}

async fn people(tx: &mut dyn Tx, question: &FindPeople) -> Result<Found<PersonRow>> {
    let FindPeople(search, look) = question;
    let (sql, key) = match (search.id, search.email_hash) {
        (Some(id), _) => (select_people!("and id = $3"), Some(Value::from(id))),
        (None, Some(hash)) => (select_people!("and email_hash = $3"), Some(Value::from(hash))),
        (None, None) => (select_people!(""), None),
    };
    let mut values = params![look.before.unwrap_or(Uuid::max()), look.limit + 1].to_vec();
    values.extend(key);
    let rows = tx.query(sql, &values).await?;
    let found: Vec<PersonRow> = rows.iter().map(read_person).collect::<Result<_>>()?;
    Ok(cut(found, Uuid::nil(), look, |row| row.user.uuid()))
}

fn read_person(row: &Row) -> Result<PersonRow> {
    Ok(PersonRow {
        user: row.get(0)?,
        email: row.get(1)?,
        name: row.get(2)?,
        role: row.parse(3, Role::parse)?,
        status: row.get(4)?,
        created_at: row.get(5)?,
    })
}

async fn letters(tx: &mut dyn Tx, question: &AllLetters) -> Result<Found<LetterRow>> {
    let AllLetters(look) = question;
    let sql = "select message_id, user_id, channel, subject, body, created_at from mailbox
                where message_id < $1 order by message_id desc limit $2";
    let read = |row: &Row| {
        Ok(LetterRow {
            id: row.get(0)?,
            user_id: row.get(1)?,
            channel: row.get(2)?,
            subject: row.get(3)?,
            body: row.get(4)?,
            created_at: row.get(5)?,
        })
    };
    let values = params![look.before.unwrap_or(Uuid::max()), look.limit + 1];
    let found: Vec<LetterRow> =
        tx.query(sql, values).await?.iter().map(read).collect::<Result<_>>()?;
    Ok(cut(found, Uuid::nil(), look, |row| row.id))
}

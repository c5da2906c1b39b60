//! Search for organisers. A query uses an index if one leads to its rows; otherwise it walks the
//! primary key, down or up, and stops after a fixed number of rows.

use crate::sql::booking::reservations::json_or_default;
use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, Value, first_at, params};
use crate::sql::identity::accounts::read_role;
use crate::sql::identity::team::{in_scope, scope_values};
use crate::sql::payments::read::paid_with;
use podo_app::Result;
use podo_app::operations::port::admin_search::{
    AdminSearch, Found, Look, NotificationRow, PaymentRow, PaymentSearch, PersonRow, PersonSearch,
    ROWS_LOOKED_AT_MAX, ReservationRow, ReservationSearch,
};
use podo_app::store::Order;
use podo_domain::booking::issued::Channel;
use podo_domain::booking::order::options::TypeMark;
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::payments::{PaymentMethod, PaymentStatus};
use podo_domain::{Currency, EventId, PaymentId, ReservationId, ScheduleId, UserId};
use uuid::Uuid;

commands! {
    impl AdminSearch for SqlStore {
        read find_reservations(FindReservations { search: ReservationSearch, look: Look })
            -> Found<ReservationRow> as ReadOnly or_replica => reservations;
        read find_payments(FindPayments { search: PaymentSearch, look: Look })
            -> Found<PaymentRow> as ReadOnly or_replica => payments;
        // Only the accounts' role can read encrypted names and addresses.
        read find_people(FindPeople { search: PersonSearch, look: Look })
            -> Found<PersonRow> as User => people;
        read event_of_payment(EventOfPayment { payment: PaymentId })
            -> Option<EventId> as ReadOnly => event_of_payment;
        read event_of_reservation(EventOfReservation { reservation: ReservationId })
            -> Option<EventId> as ReadOnly => event_of_reservation;
        read owners_of(OwnersOf { ids: Vec<Uuid> })
            -> Vec<(Uuid, UserId)> as ReadOnly or_replica => owners;
        read all_notifications(AllNotifications { look: Look })
            -> Found<NotificationRow> as ReadOnly or_replica => notifications;
    }
}

/// The ids that are left to look at: from `low` up to, but without, `high`.
#[derive(Clone, Copy)]
struct Span {
    low: Uuid,
    high: Uuid,
    /// Where the scan stops without an index; the next page continues there.
    stop: Option<Uuid>,
}

fn span(look: &Look) -> Span {
    let low = look.from.map_or(Uuid::nil(), first_at);
    let high = look.to.map_or(Uuid::max(), first_at);
    match (look.order, look.cursor) {
        (_, None) => Span { low, high, stop: None },
        (Order::Newest, Some(cursor)) => Span { low, high: high.min(cursor), stop: None },
        (Order::Oldest, Some(cursor)) => Span { low: low.max(after(cursor)), high, stop: None },
    }
}

fn after(id: Uuid) -> Uuid {
    Uuid::from_u128(id.as_u128().saturating_add(1))
}

/// A statement in both orders.
struct Both {
    newest: &'static str,
    oldest: &'static str,
}

impl Both {
    fn of(&self, order: Order) -> &'static str {
        match order {
            Order::Newest => self.newest,
            Order::Oldest => self.oldest,
        }
    }
}

/// The limit of a scan without an index: it ends with the last of `ROWS_LOOKED_AT_MAX` ids on the
/// primary key.
async fn limited(tx: &mut dyn Tx, deep: Both, look: &Look, span: Span) -> Result<Span> {
    let values = params![span.high, span.low, ROWS_LOOKED_AT_MAX - 1];
    let Some(row) = tx.row(deep.of(look.order), values).await? else { return Ok(span) };
    let stop: Uuid = row.get("id")?;
    Ok(match look.order {
        Order::Newest => Span { low: stop, stop: Some(stop), ..span },
        Order::Oldest => Span { high: after(stop), stop: Some(stop), ..span },
    })
}

/// Cuts the extra row that was fetched beyond the limit.
fn cut<T>(mut rows: Vec<T>, span: Span, look: &Look, id: fn(&T) -> Uuid) -> Found<T> {
    let is_full = rows.len() > look.limit as usize;
    rows.truncate(look.limit as usize);
    let next = if is_full { rows.last().map(id) } else { span.stop };
    Found { rows, next }
}

/// The id at which a scan of a table stops.
macro_rules! deep {
    ($table:literal) => {
        Both {
            newest: concat!(
                "select id from ",
                $table,
                " where id < $1 and id >= $2 order by id desc limit 1 offset $3"
            ),
            oldest: concat!(
                "select id from ",
                $table,
                " where id < $1 and id >= $2 order by id limit 1 offset $3"
            ),
        }
    };
}

/// A statement in both orders, with one more condition.
macro_rules! both {
    ($select:ident, $condition:literal) => {
        Both { newest: $select!($condition, "desc"), oldest: $select!($condition, "asc") }
    };
}

/// Selects reservations by one more condition, with or without an index.
macro_rules! select_reservations {
    ($condition:literal, $order:literal) => {
        concat!(
            "select r.id, r.user_id, r.schedule_id, e.title, s.starts_at, r.status, r.amount,
                    r.booking_number, r.created_at,
                    r.order_fee, r.promotion_code, r.channel, r.currency, v.time_zone
               from reservations r
               join event_schedules s on s.id = r.schedule_id
               join events e on e.id = s.event_id
               join venues v on v.id = e.venue_id
              where r.id < $1 and r.id >= $2
                and (cast($3 as text) is null or r.status = $3)
                and (not $4 or r.schedule_id = $5) ",
            in_scope!("s.event_id"),
            $condition,
            " order by r.id ",
            $order,
            " limit $6"
        )
    };
}

async fn reservations(
    tx: &mut dyn Tx,
    question: &FindReservations,
) -> Result<Found<ReservationRow>> {
    let FindReservations { search, look } = question;
    let (sql, key) = match (search.id, &search.booking_number, search.user) {
        (Some(id), _, _) => (both!(select_reservations, "and r.id = $28"), Some(Value::from(id))),
        (None, Some(number), _) => {
            (both!(select_reservations, "and r.booking_number = $28"), Some(Value::from(number)))
        }
        (None, None, Some(user)) => {
            (both!(select_reservations, "and r.user_id = $28"), Some(Value::from(user)))
        }
        (None, None, None) => (both!(select_reservations, ""), None),
    };
    let mut span = span(look);
    if key.is_none() {
        span = limited(tx, deep!("reservations"), look, span).await?;
    }
    let mut values = params![
        span.high,
        span.low,
        search.status.map(ReservationStatus::as_str),
        search.schedule.is_some(),
        search.schedule.map_or(Uuid::nil(), ScheduleId::uuid),
        look.limit + 1,
    ]
    .to_vec();
    values.extend(scope_values(search.events.as_ref()));
    values.extend(key);
    let rows = tx.query(sql.of(look.order), &values).await?;
    let found: Vec<ReservationRow> = rows.iter().map(read_reservation).collect::<Result<_>>()?;
    let mut found = cut(found, span, look, |row| row.id.uuid());
    let sql = "select number, active, fee, ticket_type from reservation_seats
                where reservation_id = $1 order by seat_index";
    let sets = found.rows.iter().map(|row| params![row.id].to_vec()).collect();
    let seats = tx.query_each(sql, sets).await?;
    for (row, seats) in found.rows.iter_mut().zip(seats) {
        add_seats(row, &seats)?;
    }
    Ok(found)
}

fn add_seats(row: &mut ReservationRow, seats: &[Row]) -> Result<()> {
    let mut types = Vec::new();
    for seat in seats {
        row.seats.push(seat.get("number")?);
        let mark: Option<TypeMark> = json_or_default(seat, "ticket_type")?;
        types.push(mark.map_or_else(String::new, |mark| mark.name));
        // Returned seats took their fee with them, unless the whole order is over.
        if seat.get("active")? || row.status != ReservationStatus::Confirmed {
            row.fees = row.fees.checked_add(seat.get("fee")?).unwrap_or(row.fees);
        }
    }
    if types.iter().any(|name| !name.is_empty()) {
        row.ticket_types = types;
    }
    Ok(())
}

fn read_reservation(row: &Row) -> Result<ReservationRow> {
    Ok(ReservationRow {
        id: row.get("id")?,
        user: row.get("user_id")?,
        channel: row.parse("channel", Channel::parse)?,
        schedule: row.get("schedule_id")?,
        event_title: row.get("title")?,
        starts_at: row.get("starts_at")?,
        time_zone: row.get("time_zone")?,
        status: row.parse("status", ReservationStatus::parse)?,
        seats: Vec::new(),
        amount: row.get("amount")?,
        currency: row.parse("currency", Currency::parse)?,
        ticket_types: Vec::new(),
        promotion_code: row.get("promotion_code")?,
        fees: row.get("order_fee")?,
        booking_number: row.get("booking_number")?,
        created_at: row.get("created_at")?,
    })
}

/// Selects payments in the same way.
macro_rules! select_payments {
    ($condition:literal, $order:literal) => {
        concat!(
            "select p.id, p.reservation_id, r.booking_number, p.user_id, p.method, p.paid_with, p.gateway,
                    p.status, p.amount, p.currency, p.captured, p.refunded, p.created_at,
                    e.title, s.starts_at, v.time_zone
               from payments p
               join reservations r on r.id = p.reservation_id
               join event_schedules s on s.id = r.schedule_id
               join events e on e.id = s.event_id
               join venues v on v.id = e.venue_id
              where p.id < $1 and p.id >= $2
                and (cast($3 as text) is null or p.status = $3)
                and (not $4 or p.user_id = $5) ",
            in_scope!("s.event_id"),
            $condition,
            " order by p.id ",
            $order,
            " limit $6"
        )
    };
}

async fn payments(tx: &mut dyn Tx, question: &FindPayments) -> Result<Found<PaymentRow>> {
    let FindPayments { search, look } = question;
    let has_key =
        search.id.is_some() || search.reservation.is_some() || search.booking_number.is_some();
    let (sql, key) = match (search.id, search.reservation, &search.booking_number) {
        (Some(id), _, _) => (both!(select_payments, "and p.id = $28"), Some(Value::from(id))),
        (None, Some(reservation), _) => {
            (both!(select_payments, "and p.reservation_id = $28"), Some(Value::from(reservation)))
        }
        (None, None, Some(number)) => {
            (both!(select_payments, "and r.booking_number = $28"), Some(Value::from(number)))
        }
        (None, None, None) => match search.schedule {
            Some(schedule) => {
                (both!(select_payments, "and r.schedule_id = $28"), Some(Value::from(schedule)))
            }
            None => (both!(select_payments, ""), None),
        },
    };
    let mut span = span(look);
    if !has_key {
        span = limited(tx, deep!("payments"), look, span).await?;
    }
    let mut values = params![
        span.high,
        span.low,
        search.status.map(PaymentStatus::as_str),
        search.user.is_some(),
        search.user.map_or(Uuid::nil(), UserId::uuid),
        look.limit + 1,
    ]
    .to_vec();
    values.extend(scope_values(search.events.as_ref()));
    values.extend(key);
    let rows = tx.query(sql.of(look.order), &values).await?;
    let found: Vec<PaymentRow> = rows.iter().map(read_payment).collect::<Result<_>>()?;
    Ok(cut(found, span, look, |row| row.id.uuid()))
}

fn read_payment(row: &Row) -> Result<PaymentRow> {
    Ok(PaymentRow {
        id: row.get("id")?,
        reservation_id: row.get("reservation_id")?,
        booking_number: row.get("booking_number")?,
        user_id: row.get("user_id")?,
        method: row.parse("method", PaymentMethod::parse)?,
        paid_with: paid_with(row)?,
        gateway: row.get("gateway")?,
        status: row.parse("status", PaymentStatus::parse)?,
        amount: row.get("amount")?,
        currency: row.parse("currency", Currency::parse)?,
        captured: row.get("captured")?,
        refunded: row.get("refunded")?,
        event_title: row.get("title")?,
        starts_at: row.get("starts_at")?,
        time_zone: row.get("time_zone")?,
        created_at: row.get("created_at")?,
    })
}

async fn event_of_payment(tx: &mut dyn Tx, question: &EventOfPayment) -> Result<Option<EventId>> {
    let sql = "select s.event_id
                 from payments p
                 join reservations r on r.id = p.reservation_id
                 join event_schedules s on s.id = r.schedule_id
                where p.id = $1";
    let row = tx.row(sql, params![question.payment]).await?;
    row.map(|row| Ok(row.get("event_id")?)).transpose()
}

async fn event_of_reservation(
    tx: &mut dyn Tx,
    question: &EventOfReservation,
) -> Result<Option<EventId>> {
    let sql = "select s.event_id
                 from reservations r join event_schedules s on s.id = r.schedule_id
                where r.id = $1";
    let row = tx.row(sql, params![question.reservation]).await?;
    row.map(|row| Ok(row.get("event_id")?)).transpose()
}

macro_rules! select_people {
    ($condition:literal, $order:literal) => {
        concat!(
            "select id, email, name, role, reads_only, status, created_at from users
              where id < $1 and id >= $2 and status <> 'DELETED' ",
            $condition,
            " order by id ",
            $order,
            " limit $3"
        )
    };
}

async fn people(tx: &mut dyn Tx, question: &FindPeople) -> Result<Found<PersonRow>> {
    let FindPeople { search, look } = question;
    let (sql, keys) = match search {
        PersonSearch { id: Some(id), .. } => {
            (both!(select_people, "and id = $4"), vec![Value::from(*id)])
        }
        PersonSearch { email_hash: Some(hash), .. } => {
            (both!(select_people, "and email_hash = $4"), vec![Value::from(*hash)])
        }
        PersonSearch { phone_hash: Some(hash), .. } => {
            (both!(select_people, "and phone_hash = $4"), vec![Value::from(*hash)])
        }
        PersonSearch { name_hash, email_part_hash, .. } => {
            match (name_hash.or(*email_part_hash), email_part_hash.or(*name_hash)) {
                (Some(name), Some(email)) => (
                    both!(
                        select_people,
                        "and id in (select user_id from name_prefixes where hash in ($4, $5))"
                    ),
                    vec![Value::from(name), Value::from(email)],
                ),
                _ => (both!(select_people, ""), Vec::new()),
            }
        }
    };
    let span = span(look);
    let mut values = params![span.high, span.low, look.limit + 1].to_vec();
    values.extend(keys);
    let rows = tx.query(sql.of(look.order), &values).await?;
    let found: Vec<PersonRow> = rows.iter().map(read_person).collect::<Result<_>>()?;
    Ok(cut(found, span, look, |row| row.user.uuid()))
}

fn read_person(row: &Row) -> Result<PersonRow> {
    Ok(PersonRow {
        user: row.get("id")?,
        email: row.get("email")?,
        name: row.get("name")?,
        role: read_role(&row.get::<String>("role")?, row.get("reads_only")?)
            .ok_or_else(|| podo_app::Error::Broken("an unknown role".into()))?,
        status: row.get("status")?,
        created_at: row.get("created_at")?,
    })
}

async fn owners(tx: &mut dyn Tx, question: &OwnersOf) -> Result<Vec<(Uuid, UserId)>> {
    let reservations = "select id, user_id from reservations where id = $1";
    let payments = "select id, user_id from payments where id = $1";
    let mut owners = Vec::new();
    for sql in [reservations, payments] {
        let sets = question.ids.iter().map(|id| params![*id].to_vec()).collect();
        for row in tx.query_each(sql, sets).await?.iter().flatten() {
            owners.push((row.get("id")?, row.get("user_id")?));
        }
    }
    Ok(owners)
}

async fn notifications(
    tx: &mut dyn Tx,
    question: &AllNotifications,
) -> Result<Found<NotificationRow>> {
    let AllNotifications { look } = question;
    let sql = Both {
        newest: "select message_id, user_id, channel, subject, body, created_at from mailbox
                  where message_id < $1 and message_id >= $2 order by message_id desc limit $3",
        oldest: "select message_id, user_id, channel, subject, body, created_at from mailbox
                  where message_id < $1 and message_id >= $2 order by message_id limit $3",
    };
    let read = |row: &Row| {
        Ok(NotificationRow {
            id: row.get("message_id")?,
            user_id: row.get("user_id")?,
            channel: row.get("channel")?,
            subject: row.get("subject")?,
            body: row.get("body")?,
            created_at: row.get("created_at")?,
        })
    };
    let span = span(look);
    let rows = tx.query(sql.of(look.order), params![span.high, span.low, look.limit + 1]).await?;
    let found: Vec<NotificationRow> = rows.iter().map(read).collect::<Result<_>>()?;
    Ok(cut(found, span, look, |row| row.id))
}

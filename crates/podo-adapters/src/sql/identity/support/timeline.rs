//! What happened to a person or a booking: the newest rows of every history.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_app::identity::support::port::{
    SupportSubject, TimelineEntry, TimelineKind, TimelineQuery,
};
use podo_domain::Currency;
use uuid::Uuid;

/// A history with its queries. Each gives the same columns; `$1` is the person or the booking, `$2`
/// the latest moment, `$3` the limit.
struct Source {
    kind: TimelineKind,
    of_person: &'static str,
    /// `None` if a booking has the same in another history.
    of_booking: Option<&'static str>,
}

/// One history: the columns and tables, the condition of a person and of a booking, and the moment.
macro_rules! source {
    ($kind:ident, $select:literal, $person:literal, $booking:literal, $at:literal) => {
        Source {
            kind: TimelineKind::$kind,
            of_person: source!(@sql $select, $person, $at),
            of_booking: Some(source!(@sql $select, $booking, $at)),
        }
    };
    ($kind:ident, $select:literal, $person:literal, $at:literal) => {
        Source {
            kind: TimelineKind::$kind,
            of_person: source!(@sql $select, $person, $at),
            of_booking: None,
        }
    };
    (@sql $select:literal, $condition:literal, $at:literal) => {
        concat!(
            "select ", $at, " as happened_at, ", $select, " where ", $condition, " and ", $at,
            " <= $2 order by ", $at, " desc limit $3"
        )
    };
}

const SOURCES: [Source; 23] = [
    source!(
        Phase,
        "'VERIFIED' as state, cast(null as bigint) as amount, p.name as detail,
         cast(null as text) as channel, p.schedule_id as id, cast(null as uuid) as reservation_id,
         cast(null as uuid) as actor_id
         from phase_eligibilities e join sale_phases p on p.id = e.phase_id",
        "e.user_id = $1",
        "(e.phase_id, e.user_id) in (select phase_id, user_id from reservations where id = $1)",
        "e.created_at"
    ),
    source!(
        Phase,
        "a.state, cast(null as bigint) as amount, a.grade as detail,
         cast(null as text) as channel, p.schedule_id as id, a.reservation_id,
         cast(null as uuid) as actor_id
         from draw_applications a join sale_phases p on p.id = a.phase_id",
        "a.user_id = $1",
        "a.reservation_id = $1",
        "a.updated_at"
    ),
    source!(
        Queue,
        "'ADMITTED' as state, cast(null as bigint) as amount, cast(null as text) as detail,
         cast(null as text) as channel, q.schedule_id as id, cast(null as uuid) as reservation_id,
         cast(null as uuid) as actor_id
         from queue_history q",
        "q.user_id = $1",
        "(q.schedule_id, q.place_number) in
           (select schedule_id, place_number from reservations where id = $1)",
        "q.activated_at"
    ),
    source!(
        Queue,
        "q.ended_reason as state, cast(null as bigint) as amount, cast(null as text) as detail,
         cast(null as text) as channel, q.schedule_id as id, cast(null as uuid) as reservation_id,
         cast(null as uuid) as actor_id
         from queue_history q",
        "q.user_id = $1 and q.ended_reason is not null",
        "(q.schedule_id, q.place_number) in
           (select schedule_id, place_number from reservations where id = $1)
         and q.ended_reason is not null",
        "q.updated_at"
    ),
    source!(
        Standby,
        "'WAITING' as state, cast(null as bigint) as amount, b.grade as detail,
         cast(null as text) as channel, b.schedule_id as id, b.reservation_id,
         cast(null as uuid) as actor_id
         from standbys b",
        "b.user_id = $1",
        "b.reservation_id = $1",
        "b.created_at"
    ),
    source!(
        Standby,
        "b.state, cast(null as bigint) as amount, b.grade as detail,
         cast(null as text) as channel, b.schedule_id as id, b.reservation_id,
         cast(null as uuid) as actor_id
         from standbys b",
        "b.user_id = $1 and b.state <> 'WAITING'",
        "b.reservation_id = $1 and b.state <> 'WAITING'",
        "b.updated_at"
    ),
    source!(
        Reservation,
        "h.status as state, r.amount, r.booking_number as detail, cast(null as text) as channel,
         r.schedule_id as id, r.id as reservation_id, cast(null as uuid) as actor_id
         from reservation_history h join reservations r on r.id = h.reservation_id",
        "r.user_id = $1 and not exists (select 1 from reseats x where x.reservation_id = h.reservation_id
                                           and x.version = h.version)",
        "r.id = $1 and not exists (select 1 from reseats x where x.reservation_id = h.reservation_id
                                      and x.version = h.version)",
        "h.created_at"
    ),
    source!(
        Reseat,
        "'RESEATED' as state, cast(null as bigint) as amount, x.moved || ' · ' || x.reason as detail,
         cast(null as text) as channel, x.reservation_id as id, x.reservation_id, x.actor_id
         from reseats x join reservations r on r.id = x.reservation_id",
        "r.user_id = $1",
        "r.id = $1",
        "x.created_at"
    ),
    source!(
        Payment,
        "h.status as state, h.amount,
         case when h.status = 'FAILED' then p.failure_reason
              else coalesce(p.gateway, p.method) end as detail,
         cast(null as text) as channel, p.id, r.id as reservation_id,
         cast(null as uuid) as actor_id
         from payment_history h
         join payments p on p.id = h.payment_id
         join reservations r on r.id = p.reservation_id",
        "r.user_id = $1",
        "r.id = $1",
        "h.created_at"
    ),
    source!(
        Refund,
        "'DUE' as state, f.amount, f.reason as detail, cast(null as text) as channel,
         p.id, r.id as reservation_id, cast(null as uuid) as actor_id
         from refunds f
         join payments p on p.id = f.payment_id
         join reservations r on r.id = p.reservation_id",
        "r.user_id = $1",
        "r.id = $1",
        "f.created_at"
    ),
    source!(
        Refund,
        "f.status as state, f.amount, f.reason as detail, cast(null as text) as channel,
         p.id, r.id as reservation_id, cast(null as uuid) as actor_id
         from refunds f
         join payments p on p.id = f.payment_id
         join reservations r on r.id = p.reservation_id",
        "r.user_id = $1 and f.status = 'REFUNDED'",
        "r.id = $1 and f.status = 'REFUNDED'",
        "f.updated_at"
    ),
    source!(
        Ticket,
        "'ISSUED' as state, cast(null as bigint) as amount, t.seat_number as detail,
         cast(null as text) as channel, t.id, r.id as reservation_id,
         cast(null as uuid) as actor_id
         from tickets t join reservations r on r.id = t.reservation_id",
        "r.user_id = $1",
        "r.id = $1",
        "t.created_at"
    ),
    source!(
        Transfer,
        "h.kind as state, cast(null as bigint) as amount, t.seat_number as detail,
         cast(null as text) as channel, t.id, h.reservation_id, cast(null as uuid) as actor_id
         from transfer_history h join tickets t on t.id = h.ticket_id",
        "h.user_id = $1",
        "h.reservation_id = $1",
        "h.created_at"
    ),
    source!(
        Transfer,
        "'RECEIVED' as state, cast(null as bigint) as amount, t.seat_number as detail,
         cast(null as text) as channel, t.id, h.reservation_id, cast(null as uuid) as actor_id
         from transfer_history h join tickets t on t.id = h.ticket_id",
        "h.to_user_id = $1",
        "h.created_at"
    ),
    source!(
        Resale,
        "'LISTED' as state, s.price as amount, t.seat_number as detail,
         cast(null as text) as channel, t.id, s.reservation_id, cast(null as uuid) as actor_id
         from resales s join tickets t on t.id = s.ticket_id",
        "s.user_id = $1",
        "s.reservation_id = $1",
        "s.created_at"
    ),
    source!(
        Resale,
        "s.state, s.price as amount, t.seat_number as detail,
         cast(null as text) as channel, t.id, s.reservation_id, cast(null as uuid) as actor_id
         from resales s join tickets t on t.id = s.ticket_id",
        "s.user_id = $1 and s.state <> 'LISTED'",
        "s.reservation_id = $1 and s.state <> 'LISTED'",
        "s.updated_at"
    ),
    source!(
        Resale,
        "'TAKEN' as state, s.price as amount, t.seat_number as detail,
         cast(null as text) as channel, t.id, s.sold_as as reservation_id,
         cast(null as uuid) as actor_id
         from resales s join tickets t on t.id = s.ticket_id",
        "s.sold_as in (select id from reservations where user_id = $1)",
        "s.sold_as = $1",
        "s.updated_at"
    ),
    source!(
        Change,
        "a.kind as state, cast(null as bigint) as amount, cast(null as text) as detail,
         cast(null as text) as channel, a.schedule_id as id, r.id as reservation_id,
         cast(null as uuid) as actor_id
         from announcements a
         join reservations r on r.schedule_id = a.schedule_id and r.created_at <= a.created_at",
        "a.kind = 'MOVED' and r.user_id = $1 and r.booking_number is not null",
        "a.kind = 'MOVED' and r.id = $1 and r.booking_number is not null",
        "a.created_at"
    ),
    source!(
        Change,
        "'ACCEPTED' as state, cast(null as bigint) as amount, cast(null as text) as detail,
         cast(null as text) as channel, r.schedule_id as id, r.id as reservation_id,
         cast(null as uuid) as actor_id
         from accepted_changes c join reservations r on r.id = c.reservation_id",
        "r.user_id = $1",
        "r.id = $1",
        "c.created_at"
    ),
    source!(
        CheckIn,
        "c.kind as state, cast(null as bigint) as amount, c.gate as detail,
         cast(null as text) as channel, t.id, t.reservation_id, c.actor_id
         from check_ins c join tickets t on t.id = c.ticket_id",
        "t.user_id = $1",
        "t.reservation_id = $1",
        "c.scanned_at"
    ),
    source!(
        Notification,
        "'STORED' as state, cast(null as bigint) as amount, m.subject as detail, m.channel,
         m.message_id as id, m.reservation_id, cast(null as uuid) as actor_id
         from mailbox m",
        "m.user_id = $1",
        "m.user_id = (select user_id from reservations where id = $1) and m.reservation_id = $1",
        "m.created_at"
    ),
    source!(
        Notification,
        "n.status as state, cast(null as bigint) as amount, n.subject as detail, n.channel,
         n.message_id as id, n.reservation_id, cast(null as uuid) as actor_id
         from notifications n",
        "n.user_id = $1",
        "n.user_id = (select user_id from reservations where id = $1) and n.reservation_id = $1",
        "n.updated_at"
    ),
    source!(
        Resend,
        "'RESENT' as state, cast(null as bigint) as amount, r.booking_number as detail,
         cast(null as text) as channel, s.id, r.id as reservation_id, s.actor_id
         from resends s join reservations r on r.id = s.reservation_id",
        "r.user_id = $1",
        "r.id = $1",
        "s.created_at"
    ),
];

pub(super) async fn read(tx: &mut dyn Tx, asked: &TimelineQuery) -> Result<Vec<TimelineEntry>> {
    tx.follow_indexes().await?;
    let subject: Uuid = match asked.subject {
        SupportSubject::Person(user) => user.uuid(),
        SupportSubject::Booking(booking) => booking.uuid(),
    };
    let values = params![subject, asked.until, asked.limit];
    let mut entries = Vec::new();
    for source in &SOURCES {
        let sql = match asked.subject {
            SupportSubject::Person(_) => Some(source.of_person),
            SupportSubject::Booking(_) => source.of_booking,
        };
        let Some(sql) = sql else { continue };
        for row in tx.query(sql, values).await? {
            entries.push(entry(source.kind, &row)?);
        }
    }
    add_currencies(tx, &mut entries).await?;
    Ok(entries)
}

/// An amount is in the currency of its order.
async fn add_currencies(tx: &mut dyn Tx, entries: &mut [TimelineEntry]) -> Result<()> {
    let has_amount = |it: &&mut TimelineEntry| it.amount.is_some() && it.reservation_id.is_some();
    let mut paid: Vec<&mut TimelineEntry> = entries.iter_mut().filter(has_amount).collect();
    let sql = "select currency from reservations where id = $1";
    let sets = paid.iter().map(|it| params![it.reservation_id].to_vec()).collect();
    for (entry, rows) in paid.iter_mut().zip(tx.query_each(sql, sets).await?) {
        let read = |row: &Row| row.parse("currency", Currency::parse);
        entry.currency = rows.first().map(read).transpose()?;
    }
    Ok(())
}

fn entry(kind: TimelineKind, row: &Row) -> Result<TimelineEntry> {
    Ok(TimelineEntry {
        at: row.get("happened_at")?,
        kind,
        state: row.get("state")?,
        amount: row.get("amount")?,
        currency: None,
        detail: row.get("detail")?,
        channel: row.get("channel")?,
        id: row.get("id")?,
        reservation_id: row.get("reservation_id")?,
        actor_id: row.get("actor_id")?,
        actor: None,
    })
}

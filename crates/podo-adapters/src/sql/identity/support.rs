//! Support: timelines, notes, resent confirmations, and the index of names.

mod names;
mod timeline;

use crate::sql::booking::reservations;
use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, first_at, params};
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::Outgoing;
use crate::sql::operations::audit::note;
use podo_app::Result;
use podo_app::identity::support::port::{
    AddNote, BookingTicket, IndexName, NoteRow, Resend, Support, SupportSubject, TimelineEntry,
    TimelineQuery, UnindexedName,
};
use podo_domain::messaging::messages::MessageKind;
use podo_domain::messaging::resends::{RESEND_PERIOD, check_resend};
use podo_domain::tickets::TicketStatus;
use podo_domain::{Refusal, ReservationId, Timestamp};
use serde_json::json;

commands! {
    impl Support for SqlStore {
        read timeline(TimelineQuery) -> Vec<TimelineEntry> as ReadOnly or_replica => timeline::read;
        read booking_tickets(BookingTickets { reservation: ReservationId })
            -> Vec<BookingTicket> as ReadOnly or_replica => booking_tickets;
        write add_note(AddNote) -> () as User => add_note;
        read notes_about(NotesAbout { subject: SupportSubject, limit: u32 })
            -> Vec<NoteRow> as User => notes_about;
        write forget_notes(ForgetNotes { before: Timestamp, limit: u32 })
            -> u64 as User => forget_notes;
        write resend_confirmation(Resend) -> () as Sales => resend;
        read unindexed_names(UnindexedNames { now: Timestamp, limit: u32 })
            -> Vec<UnindexedName> as User => names::unindexed;
        write index_names(IndexNames { names: Vec<IndexName> }) -> () as User => names::index;
    }
}

async fn booking_tickets(tx: &mut dyn Tx, question: &BookingTickets) -> Result<Vec<BookingTicket>> {
    let sql = "select id, user_id, seat_number, grade, status, used_at, offered_until from tickets
                where reservation_id = $1 order by seat_index";
    let read = |row: &Row| {
        Ok(BookingTicket {
            ticket: row.get("id")?,
            user: row.get("user_id")?,
            seat_number: row.get("seat_number")?,
            grade: row.get("grade")?,
            status: row.parse("status", TicketStatus::parse)?,
            used_at: row.get("used_at")?,
            offered_until: row.get("offered_until")?,
        })
    };
    tx.query(sql, params![question.reservation]).await?.iter().map(read).collect()
}

/// The audit entry says that there is a note, not what it says.
async fn add_note(tx: &mut dyn Tx, AddNote { note: added }: &AddNote) -> Result<()> {
    let sql = "insert into support_notes (id, user_id, reservation_id, author_id, body, created_at)
               values ($1, $2, $3, $4, $5, $6)";
    let NoteRow { id, user, reservation, author, body, created_at } = added;
    let values = params![*id, *user, *reservation, *author, body.as_slice(), *created_at];
    tx.execute(sql, values).await?;
    let details = json!({ "noteId": id, "reservationId": reservation });
    note(tx, *author, "support.note", user, details, *created_at).await
}

async fn notes_about(tx: &mut dyn Tx, question: &NotesAbout) -> Result<Vec<NoteRow>> {
    let of_person = "select id, user_id, reservation_id, author_id, body, created_at
                       from support_notes where user_id = $1 order by id desc limit $2";
    let of_booking = "select id, user_id, reservation_id, author_id, body, created_at
                        from support_notes where reservation_id = $1 order by id desc limit $2";
    let rows = match question.subject {
        SupportSubject::Person(user) => tx.query(of_person, params![user, question.limit]).await?,
        SupportSubject::Booking(booking) => {
            tx.query(of_booking, params![booking, question.limit]).await?
        }
    };
    let read = |row: &Row| {
        Ok(NoteRow {
            id: row.get("id")?,
            user: row.get("user_id")?,
            reservation: row.get("reservation_id")?,
            author: row.get("author_id")?,
            body: row.get("body")?,
            created_at: row.get("created_at")?,
        })
    };
    rows.iter().map(read).collect()
}

/// Ids begin with their time.
async fn forget_notes(tx: &mut dyn Tx, command: &ForgetNotes) -> Result<u64> {
    let sql = "delete from support_notes where id in
                 (select id from support_notes where id < $1 order by id limit $2)";
    tx.follow_indexes().await?;
    Ok(tx.execute(sql, params![first_at(command.before), command.limit]).await?)
}

async fn resend(tx: &mut dyn Tx, command: &Resend) -> Result<()> {
    let Resend { id, reservation, actor, now } = *command;
    // The limit counts earlier ones, so two members of staff take turns.
    tx.lock(reservation.uuid()).await?;
    let found = reservations::load(tx, reservation).await?.ok_or(Refusal::NotFound)?;
    let sql = "select created_at from resends where reservation_id = $1 and id >= $2";
    let rows = tx.query(sql, params![reservation, first_at(now.minus(RESEND_PERIOD))]).await?;
    let recent: Vec<Timestamp> =
        rows.iter().map(|row| Ok(row.get("created_at")?)).collect::<Result<_>>()?;
    check_resend(found.channel, found.status, &recent, now)?;
    let sql = "insert into resends (id, reservation_id, actor_id, created_at)
               values ($1, $2, $3, $4)";
    tx.execute(sql, params![id, reservation, actor, now]).await?;
    let payload = json!({ "userId": found.user, "reservationId": reservation,
        "eventScheduleId": found.schedule, "totalAmount": found.amount });
    let message = Outgoing {
        kind: MessageKind::ConfirmationResent,
        aggregate: tx.rng().id(now),
        seq: 1,
        key: found.user.uuid(),
        payload: &payload,
    };
    outbox::push(tx, message, now).await?;
    note(tx, actor, "support.resend", reservation, json!({}), now).await
}

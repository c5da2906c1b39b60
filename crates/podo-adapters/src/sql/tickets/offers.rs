//! Ticket transfers: offered to an address, accepted by its owner.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::operations::idempotency;
use crate::sql::tickets::holders::why_not_valid;
use crate::sql::tickets::{OffersTo, WithdrawOffer};
use podo_app::Result;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::tickets::port::{AcceptTicket, OfferTicket, OfferView, Offered, Transferred};
use podo_domain::Refusal;

/// Checks only the ticket and not the address, so the answer reveals nothing about the address.
pub(super) async fn offer(tx: &mut dyn Tx, command: &OfferTicket) -> Result<Idempotent<Offered>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let find = "select t.seat_number, e.transferable
                  from tickets t
                  join event_schedules s on s.id = t.schedule_id
                  join events e on e.id = s.event_id
                 where t.id = $1 and t.user_id = $2";
    let row = tx.row(find, params![command.ticket, command.from]).await?;
    let row = row.ok_or(Refusal::NotFound)?;
    let (seat_number, is_transferable): (String, bool) =
        (row.get("seat_number")?, row.get("transferable")?);
    if !is_transferable {
        return Err(Refusal::TransferOff.into());
    }
    let sql = "update tickets set offered_to = $3, offered_until = $4, updated_at = $5
                where id = $1 and user_id = $2 and status = 'VALID'";
    let OfferTicket { ticket, from, email_hash, expires_at, now, .. } = command;
    let values = params![*ticket, *from, *email_hash, *expires_at, *now];
    if tx.execute(sql, values).await? != 1 {
        return Err(why_not_valid(tx, *ticket).await?.into());
    }
    let answer = Offered { ticket_id: *ticket, seat_number, expires_at: *expires_at };
    idempotency::store(tx, (&command.key, None), &answer, *now).await?;
    Ok(Idempotent::Fresh(answer))
}

pub(super) async fn withdraw(tx: &mut dyn Tx, command: &WithdrawOffer) -> Result<bool> {
    let sql = "update tickets set offered_to = null, offered_until = null, updated_at = $3
                where id = $1 and user_id = $2 and offered_to is not null";
    Ok(tx.execute(sql, params![command.ticket, command.from, command.now]).await? == 1)
}

pub(super) async fn list(tx: &mut dyn Tx, question: &OffersTo) -> Result<Vec<OfferView>> {
    let sql = "select t.id, t.schedule_id, e.title, v.name as venue_name, s.starts_at,
                      t.seat_number, t.grade, t.offered_until
                 from tickets t
                 join event_schedules s on s.id = t.schedule_id
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                where t.offered_to = $1 and $2 < t.offered_until and t.status = 'VALID'
                order by t.id desc limit 100";
    let read = |row: &Row| {
        Ok(OfferView {
            ticket_id: row.get("id")?,
            schedule_id: row.get("schedule_id")?,
            event_title: row.get("title")?,
            venue_name: row.get("venue_name")?,
            starts_at: row.get("starts_at")?,
            seat_number: row.get("seat_number")?,
            grade: row.get("grade")?,
            expires_at: row.get("offered_until")?,
        })
    };
    tx.query(sql, params![question.email_hash, question.now]).await?.iter().map(read).collect()
}

/// One compare-and-set: under concurrent actions of its owner, the ticket still has one owner.
pub(super) async fn accept(
    tx: &mut dyn Tx,
    command: &AcceptTicket,
) -> Result<Idempotent<Transferred>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let AcceptTicket { ticket, to, email_hash, now, .. } = command;
    let find = "select t.seat_number, e.transferable
                  from tickets t
                  join event_schedules s on s.id = t.schedule_id
                  join events e on e.id = s.event_id
                 where t.id = $1 and t.offered_to = $2 and $3 < t.offered_until";
    let row = tx.row(find, params![*ticket, *email_hash, *now]).await?;
    let row = row.ok_or(Refusal::NotFound)?;
    let (seat_number, is_transferable): (String, bool) =
        (row.get("seat_number")?, row.get("transferable")?);
    if !is_transferable {
        return Err(Refusal::TransferOff.into());
    }
    let sql = "update tickets set user_id = $2, code = $3, offered_to = null, offered_until = null,
                                  updated_at = $5
                where id = $1 and offered_to = $4 and $5 < offered_until and status = 'VALID'";
    let values = params![*ticket, *to, command.code.as_slice(), *email_hash, *now];
    if tx.execute(sql, values).await? != 1 {
        let refusal = why_not_valid(tx, *ticket).await?;
        // A valid ticket is no longer offered: its owner withdrew the offer in between.
        let is_withdrawn = refusal == Refusal::TicketInvalid;
        return Err(if is_withdrawn { Refusal::NotFound } else { refusal }.into());
    }
    let answer = Transferred { ticket_id: *ticket, seat_number };
    idempotency::store(tx, (&command.key, None), &answer, *now).await?;
    Ok(Idempotent::Fresh(answer))
}

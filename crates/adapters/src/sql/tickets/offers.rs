//! Tickets on their way to somebody else: offered to an address, accepted by who has it.

use super::why_not_valid;
use crate::sql::keys;
use crate::sql::tx::{Tx, work};
use crate::sql::value::{Row, params};
use app::Result;
use app::ports::keys::Once;
use app::ports::tickets::{AcceptTicket, OfferTicket, OfferView, Offered, Transferred};
use domain::{Refusal, TicketId, Timestamp, UserId};

pub(super) struct WithdrawOffer {
    pub(super) ticket: TicketId,
    pub(super) from: UserId,
    pub(super) now: Timestamp,
}

pub(super) struct OffersTo {
    pub(super) email_hash: [u8; 32],
    pub(super) now: Timestamp,
}

work!(Sales: OfferTicket => offer, Once<Offered>);
work!(Sales: WithdrawOffer => withdraw, bool);
work!(Sales: OffersTo => list, Vec<OfferView>);
work!(Sales: AcceptTicket => accept, Once<Transferred>);

/// The ticket is looked at first, and the address not at all: the answer says nothing about it.
async fn offer(tx: &mut dyn Tx, command: &OfferTicket) -> Result<Once<Offered>> {
    if let Some(answer) = keys::find(tx, &command.key).await? {
        return Ok(Once::Replay(answer));
    }
    let find = "select t.seat_number, e.transferable
                  from tickets t
                  join event_schedules s on s.id = t.schedule_id
                  join events e on e.id = s.event_id
                 where t.id = $1 and t.user_id = $2";
    let row = tx.row(find, params![command.ticket, command.from]).await?;
    let row = row.ok_or(Refusal::NotFound)?;
    let (seat_number, is_transferable): (String, bool) = (row.get(0)?, row.get(1)?);
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
    keys::store(tx, (&command.key, None), &answer, *now).await?;
    Ok(Once::Fresh(answer))
}

async fn withdraw(tx: &mut dyn Tx, command: &WithdrawOffer) -> Result<bool> {
    let sql = "update tickets set offered_to = null, offered_until = null, updated_at = $3
                where id = $1 and user_id = $2 and offered_to is not null";
    Ok(tx.execute(sql, params![command.ticket, command.from, command.now]).await? == 1)
}

async fn list(tx: &mut dyn Tx, question: &OffersTo) -> Result<Vec<OfferView>> {
    let sql = "select t.id, t.schedule_id, e.title, v.name, s.starts_at, t.seat_number, t.grade,
                      t.offered_until
                 from tickets t
                 join event_schedules s on s.id = t.schedule_id
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                where t.offered_to = $1 and $2 < t.offered_until and t.status = 'VALID'
                order by t.id desc limit 100";
    let read = |row: &Row| {
        Ok(OfferView {
            ticket_id: row.get(0)?,
            schedule_id: row.get(1)?,
            event_title: row.get(2)?,
            venue_name: row.get(3)?,
            starts_at: row.get(4)?,
            seat_number: row.get(5)?,
            grade: row.get(6)?,
            expires_at: row.get(7)?,
        })
    };
    tx.query(sql, params![question.email_hash, question.now]).await?.iter().map(read).collect()
}

/// One compare-and-set: whatever its owner does at the same time, the ticket has one owner.
async fn accept(tx: &mut dyn Tx, command: &AcceptTicket) -> Result<Once<Transferred>> {
    if let Some(answer) = keys::find(tx, &command.key).await? {
        return Ok(Once::Replay(answer));
    }
    let AcceptTicket { ticket, to, email_hash, now, .. } = command;
    let find = "select t.seat_number, e.transferable
                  from tickets t
                  join event_schedules s on s.id = t.schedule_id
                  join events e on e.id = s.event_id
                 where t.id = $1 and t.offered_to = $2 and $3 < t.offered_until";
    let row = tx.row(find, params![*ticket, *email_hash, *now]).await?;
    let row = row.ok_or(Refusal::NotFound)?;
    let (seat_number, is_transferable): (String, bool) = (row.get(0)?, row.get(1)?);
    if !is_transferable {
        return Err(Refusal::TransferOff.into());
    }
    let sql = "update tickets set user_id = $2, code = $3, offered_to = null, offered_until = null,
                                  updated_at = $5
                where id = $1 and offered_to = $4 and $5 < offered_until and status = 'VALID'";
    let values = params![*ticket, *to, command.code.as_slice(), *email_hash, *now];
    if tx.execute(sql, values).await? != 1 {
        let refusal = why_not_valid(tx, *ticket).await?;
        // A valid one is not offered any more: its owner took the offer back in between.
        let is_withdrawn = refusal == Refusal::TicketInvalid;
        return Err(if is_withdrawn { Refusal::NotFound } else { refusal }.into());
    }
    let answer = Transferred { ticket_id: *ticket, seat_number };
    keys::store(tx, (&command.key, None), &answer, *now).await?;
    Ok(Once::Fresh(answer))
}

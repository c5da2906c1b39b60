//! Ticket transfers: offered to an address, accepted by its owner.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::Outgoing;
use crate::sql::operations::idempotency;
use crate::sql::tickets::claims;
use crate::sql::tickets::gate::why_not_valid;
use crate::sql::tickets::{OfferTo, OfferedTo, OffersTo, WithdrawOffer};
use podo_app::Result;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::tickets::port::{AcceptTicket, OfferTicket, OfferView, Offered, Transferred};
use podo_domain::booking::reservations::check_seat_limit;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{Refusal, ReservationId, ScheduleId, TicketId, Timestamp, UserId};
use serde_json::{Value, json};
use uuid::Uuid;

/// Each message has an aggregate of its own; those of one ticket share their key and so their
/// order.
async fn tell(
    tx: &mut dyn Tx,
    kind: MessageKind,
    ticket: TicketId,
    payload: &Value,
    now: Timestamp,
) -> Result<()> {
    let aggregate = tx.rng().id(now);
    let message = Outgoing { kind, aggregate, seq: 1, key: ticket.uuid(), payload };
    outbox::push(tx, message, now).await
}

/// A step of a ticket from one owner to the next, for support.
struct Step {
    ticket: TicketId,
    reservation: ReservationId,
    kind: &'static str,
    owner: UserId,
    to: Option<UserId>,
}

async fn remember(tx: &mut dyn Tx, step: Step, now: Timestamp) -> Result<()> {
    let sql = "insert into transfer_history (id, ticket_id, reservation_id, kind, user_id,
                                             to_user_id, created_at)
               values ($1, $2, $3, $4, $5, $6, $7)";
    let Step { ticket, reservation, kind, owner, to } = step;
    let id = tx.rng().id(now);
    tx.execute(sql, params![id, ticket, reservation, kind, owner, to, now]).await?;
    Ok(())
}

pub(super) async fn offered_to(tx: &mut dyn Tx, question: &OfferedTo) -> Result<Option<[u8; 32]>> {
    let sql = "select offered_to from tickets where id = $1 and offered_to is not null";
    let Some(row) = tx.row(sql, params![question.ticket]).await? else { return Ok(None) };
    let hash: Vec<u8> = row.get("offered_to")?;
    let hash = hash.try_into();
    hash.map(Some).map_err(|_long| podo_app::Error::broken("an address hash is 32 bytes"))
}

/// Checks only the ticket and not the address, so the answer reveals nothing about the address.
pub(super) async fn offer(tx: &mut dyn Tx, command: &OfferTicket) -> Result<Idempotent<Offered>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let find = "select t.seat_number, t.reservation_id, e.transferable
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
    let reservation: ReservationId = row.get("reservation_id")?;
    claims::replace(tx, *ticket, &command.claim, *expires_at, *now).await?;
    let payload = json!({ "ticketId": ticket, "reservationId": reservation, "userId": from,
        "seatNumber": seat_number, "until": expires_at, "claimId": command.claim.id });
    tell(tx, MessageKind::TicketOffered, *ticket, &payload, *now).await?;
    let (ticket, owner) = (*ticket, *from);
    let step = Step { ticket, reservation, kind: "OFFERED", owner, to: None };
    remember(tx, step, *now).await?;
    let answer = Offered { ticket_id: ticket, seat_number, expires_at: *expires_at };
    idempotency::store(tx, &command.key, None, &answer, *now).await?;
    Ok(Idempotent::Fresh(answer))
}

pub(super) async fn withdraw(tx: &mut dyn Tx, command: &WithdrawOffer) -> Result<bool> {
    let sql = "update tickets set offered_to = null, offered_until = null, updated_at = $3
                where id = $1 and user_id = $2 and offered_to is not null
               returning reservation_id";
    let WithdrawOffer { ticket, from, now } = *command;
    let Some(row) = tx.row(sql, params![ticket, from, now]).await? else { return Ok(false) };
    claims::end(tx, ticket).await?;
    let reservation = row.get("reservation_id")?;
    let step = Step { ticket, reservation, kind: "WITHDRAWN", owner: from, to: None };
    remember(tx, step, now).await?;
    Ok(true)
}

pub(super) async fn one(tx: &mut dyn Tx, question: &OfferTo) -> Result<Option<OfferView>> {
    let sql = "select t.id, t.schedule_id, e.title, v.name as venue_name, v.time_zone, s.starts_at,
                      t.seat_number, t.grade, t.offered_until
                 from tickets t
                 join event_schedules s on s.id = t.schedule_id
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                where t.id = $1 and t.offered_to = $2 and $3 < t.offered_until
                  and t.status = 'VALID'";
    let values = params![question.ticket, question.email_hash, question.now];
    tx.row(sql, values).await?.as_ref().map(read_offer).transpose()
}

pub(super) async fn list(tx: &mut dyn Tx, question: &OffersTo) -> Result<Vec<OfferView>> {
    let sql = "select t.id, t.schedule_id, e.title, v.name as venue_name, v.time_zone, s.starts_at,
                      t.seat_number, t.grade, t.offered_until
                 from tickets t
                 join event_schedules s on s.id = t.schedule_id
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                where t.offered_to = $1 and $2 < t.offered_until and t.status = 'VALID'
                order by t.id desc limit 100";
    let rows = tx.query(sql, params![question.email_hash, question.now]).await?;
    rows.iter().map(read_offer).collect()
}

fn read_offer(row: &Row) -> Result<OfferView> {
    Ok(OfferView {
        ticket_id: row.get("id")?,
        schedule_id: row.get("schedule_id")?,
        event_title: row.get("title")?,
        venue_name: row.get("venue_name")?,
        starts_at: row.get("starts_at")?,
        time_zone: row.get("time_zone")?,
        seat_number: row.get("seat_number")?,
        grade: row.get("grade")?,
        expires_at: row.get("offered_until")?,
    })
}

/// The recipient may have as many seats of a date as a buyer. Their holds of the date and other
/// transfers wait for the same lock.
async fn check_limit(tx: &mut dyn Tx, command: &AcceptTicket, row: &Row) -> Result<()> {
    let schedule: ScheduleId = row.get("schedule_id")?;
    let (fan, date) = (command.to.uuid().as_u128(), schedule.uuid().as_u128());
    tx.lock(Uuid::from_u128(fan ^ date)).await?;
    let sql = "select cast((select count(*) from tickets
                             where user_id = $1 and schedule_id = $2 and status <> 'VOID'
                               and id <> $4)
                           + (select coalesce(sum(n_seats), 0) from reservations
                               where user_id = $1 and schedule_id = $2
                                 and (status = 'PAYING'
                                      or (status = 'HELD' and hold_expires_at > $3)))
                           as bigint) as n_seats";
    let values = params![command.to, schedule, command.now, command.ticket];
    let counted = tx.row(sql, values).await?;
    let n_seats = counted.map(|it| it.get("n_seats")).transpose()?.unwrap_or(0);
    Ok(check_seat_limit(n_seats, 1, row.get("seats_per_person")?)?)
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
    let find = "select t.seat_number, t.reservation_id, t.user_id, t.schedule_id,
                       s.seats_per_person, e.transferable
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
    check_limit(tx, command, &row).await?;
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
    claims::end(tx, *ticket).await?;
    let (from, reservation): (UserId, ReservationId) =
        (row.get("user_id")?, row.get("reservation_id")?);
    let payload = json!({ "ticketId": ticket, "reservationId": reservation, "userId": from,
        "toUserId": to, "seatNumber": seat_number });
    tell(tx, MessageKind::TicketTransferred, *ticket, &payload, *now).await?;
    let (ticket, to) = (*ticket, Some(*to));
    let step = Step { ticket, reservation, kind: "ACCEPTED", owner: from, to };
    remember(tx, step, *now).await?;
    let answer = Transferred { ticket_id: ticket, seat_number };
    idempotency::store(tx, &command.key, None, &answer, *now).await?;
    Ok(Idempotent::Fresh(answer))
}

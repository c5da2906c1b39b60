//! Tickets as their owners see them.

mod offers;

use super::audit::note;
use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, params};
use app::Result;
use app::paging::PageAsk;
use app::ports::keys::Once;
use app::ports::tickets::{
    AcceptTicket, CheckIn, CheckedIn, GateTicket, OfferTicket, OfferView, Offered, TicketView,
    Tickets, Transferred,
};
use async_trait::async_trait;
use domain::tickets::TicketStatus;
use domain::{Refusal, ScheduleId, TicketId, Timestamp, UserId};
use offers::{OffersTo, WithdrawOffer};
use serde_json::json;
use uuid::Uuid;

struct TicketsOf {
    user: UserId,
    page: PageAsk,
}

struct TicketOf {
    ticket: TicketId,
    user: UserId,
}

struct AtGate(TicketId);

work!(Sales: AtGate => at_gate, Option<GateTicket>);
work!(Sales: CheckIn => check_in, CheckedIn);
work!(Sales or_replica: TicketsOf => list, Vec<TicketView>);
work!(Sales or_replica: TicketOf => one, Option<TicketView>);

#[async_trait]
impl Tickets for SqlStore {
    async fn tickets_of(&self, user: UserId, page: PageAsk) -> Result<Vec<TicketView>> {
        self.read(TicketsOf { user, page }).await
    }

    async fn ticket(&self, ticket: TicketId, user: UserId) -> Result<Option<TicketView>> {
        self.read(TicketOf { ticket, user }).await
    }

    async fn ticket_at_gate(&self, ticket: TicketId) -> Result<Option<GateTicket>> {
        self.read(AtGate(ticket)).await
    }

    async fn check_in(&self, command: CheckIn) -> Result<CheckedIn> {
        self.write(command).await
    }

    async fn offer_ticket(&self, command: OfferTicket) -> Result<Once<Offered>> {
        self.write(command).await
    }

    async fn withdraw_offer(&self, ticket: TicketId, from: UserId, now: Timestamp) -> Result<bool> {
        self.write(WithdrawOffer { ticket, from, now }).await
    }

    async fn offers_to(&self, email_hash: [u8; 32], now: Timestamp) -> Result<Vec<OfferView>> {
        self.read(OffersTo { email_hash, now }).await
    }

    async fn accept_ticket(&self, command: AcceptTicket) -> Result<Once<Transferred>> {
        self.write(command).await
    }
}

async fn list(tx: &mut dyn Tx, question: &TicketsOf) -> Result<Vec<TicketView>> {
    let sql = "select t.id, t.reservation_id, t.schedule_id, e.title, v.name, s.starts_at,
                      t.seat_number, t.grade, r.booking_number, t.status, t.code,
                      e.transferable, t.offered_until
                 from tickets t
                 join reservations r on r.id = t.reservation_id
                 join event_schedules s on s.id = t.schedule_id
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                where t.user_id = $1 and t.id < $2
                order by t.id desc limit $3";
    let before = question.page.after.unwrap_or(Uuid::max());
    let values = params![question.user, before, question.page.limit + 1];
    tx.query(sql, values).await?.iter().map(read).collect()
}

async fn one(tx: &mut dyn Tx, question: &TicketOf) -> Result<Option<TicketView>> {
    let sql = "select t.id, t.reservation_id, t.schedule_id, e.title, v.name, s.starts_at,
                      t.seat_number, t.grade, r.booking_number, t.status, t.code,
                      e.transferable, t.offered_until
                 from tickets t
                 join reservations r on r.id = t.reservation_id
                 join event_schedules s on s.id = t.schedule_id
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                where t.id = $1 and t.user_id = $2";
    tx.row(sql, params![question.ticket, question.user]).await?.as_ref().map(read).transpose()
}

async fn at_gate(tx: &mut dyn Tx, question: &AtGate) -> Result<Option<GateTicket>> {
    let sql = "select schedule_id, code from tickets where id = $1";
    let read = |row: &Row| Ok(GateTicket { schedule: row.get(0)?, code: row.get(1)? });
    tx.row(sql, params![question.0]).await?.as_ref().map(read).transpose()
}

/// One compare-and-set: of many gates that read the same code, one opens.
async fn check_in(tx: &mut dyn Tx, command: &CheckIn) -> Result<CheckedIn> {
    let sql = "update tickets set status = 'USED', used_at = $3, updated_at = $3
                where id = $1 and code = $2 and status = 'VALID'
               returning schedule_id, seat_number, grade";
    let values = params![command.ticket, command.code.as_slice(), command.now];
    let Some(row) = tx.row(sql, values).await? else {
        return Err(why_not_valid(tx, command.ticket).await?.into());
    };
    let schedule_id: ScheduleId = row.get(0)?;
    let details = json!({ "scheduleId": schedule_id });
    note(tx, (command.actor, "ticket.check-in"), command.ticket, details, command.now).await?;
    Ok(CheckedIn {
        ticket_id: command.ticket,
        schedule_id,
        seat_number: row.get(1)?,
        grade: row.get(2)?,
        used_at: command.now,
    })
}

/// A ticket that is valid and was not found had another code.
async fn why_not_valid(tx: &mut dyn Tx, ticket: TicketId) -> Result<Refusal> {
    let sql = "select status, used_at from tickets where id = $1";
    let Some(row) = tx.row(sql, params![ticket]).await? else { return Ok(Refusal::NotFound) };
    Ok(match row.parse(0, TicketStatus::parse)? {
        TicketStatus::Used => Refusal::TicketUsed { at: row.get(1)? },
        TicketStatus::Void => Refusal::TicketVoid,
        TicketStatus::Valid => Refusal::TicketInvalid,
    })
}

fn read(row: &Row) -> Result<TicketView> {
    Ok(TicketView {
        id: row.get(0)?,
        reservation_id: row.get(1)?,
        schedule_id: row.get(2)?,
        event_title: row.get(3)?,
        venue_name: row.get(4)?,
        starts_at: row.get(5)?,
        seat_number: row.get(6)?,
        grade: row.get(7)?,
        booking_number: row.get(8)?,
        status: row.parse(9, TicketStatus::parse)?,
        code: row.get(10)?,
        transferable: row.get(11)?,
        offered_until: row.get(12)?,
    })
}

//! Tickets as their owners see them.

use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, params};
use app::Result;
use app::paging::PageAsk;
use app::ports::tickets::{TicketView, Tickets};
use async_trait::async_trait;
use domain::tickets::TicketStatus;
use domain::{TicketId, UserId};
use uuid::Uuid;

struct TicketsOf {
    user: UserId,
    page: PageAsk,
}

struct TicketOf {
    ticket: TicketId,
    user: UserId,
}

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
}

async fn list(tx: &mut dyn Tx, question: &TicketsOf) -> Result<Vec<TicketView>> {
    let sql = "select t.id, t.reservation_id, t.schedule_id, e.title, v.name, s.starts_at,
                      t.seat_number, t.grade, r.booking_number, t.status, t.code
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
                      t.seat_number, t.grade, r.booking_number, t.status, t.code
                 from tickets t
                 join reservations r on r.id = t.reservation_id
                 join event_schedules s on s.id = t.schedule_id
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                where t.id = $1 and t.user_id = $2";
    tx.row(sql, params![question.ticket, question.user]).await?.as_ref().map(read).transpose()
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
    })
}

//! The list that a device at the gate keeps, to decide without a network.
//!
//! A device reads all tickets of a date in pages, in the order of their last change, and then asks
//! from time to time for those that changed since. The cursor carries the position. It is signed
//! for one organiser and one date, so only a download that was recorded in the audit log can be
//! continued.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::keyring::Purpose;
use crate::tickets::gate::{guest_name, names_of, ticket_key};
use crate::tickets::gate_port::{ChangedSince, GateTicket};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use podo_domain::booking::order::options::TypeMark;
use podo_domain::catalog::hall::Hall;
use podo_domain::catalog::text::FieldError;
use podo_domain::tickets::TicketStatus;
use podo_domain::tickets::gate::check_open;
use podo_domain::{Refusal, ScheduleId, TicketId, Timestamp, UserId};
use serde::Serialize;
use std::collections::HashMap;
use std::time::Duration;
use utoipa::ToSchema;
use uuid::Uuid;

/// Tickets per page: an arena takes ten calls.
pub const LINES_MAX: u32 = 2_000;

/// A cursor may be used this long, which is longer than a steward's day.
const CURSOR_LENGTH: Duration = Duration::from_secs(18 * 3_600);

/// A change may become visible later than the moment that it carries, because its transaction had
/// to wait. Changes are asked for again within this time.
const OVERLAP: Duration = Duration::from_secs(5);

const CODE_BYTES: usize = 16;

/// One line of the list that a device keeps to work without a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateLine {
    pub ticket_id: TicketId,
    /// The key of the signatures in the ticket's codes, base64url. It verifies codes of this
    /// ticket only. Empty if the ticket is void.
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub booking_number: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    pub seat_number: String,
    pub grade: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticket_type: Option<TypeMark>,
    pub status: TicketStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_at: Option<Timestamp>,
    /// Where it was admitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_gate: Option<String>,
    /// When the ticket changed last; an earlier line of the same ticket is out of date.
    pub changed_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateList {
    pub items: Vec<GateLine>,
    /// Pass it as `cursor` to get the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// On the last page: pass it as `cursor` later to get what changed since, void tickets too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_cursor: Option<String>,
    /// On the first page: how many tickets the list has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

pub struct GateListRequest {
    pub actor: UserId,
    pub schedule: ScheduleId,
    /// Absent to begin.
    pub cursor: Option<String>,
    pub limit: u32,
}

/// Where a device is in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    since: ChangedSince,
    /// When this round of pages began. The next one begins there, so that it has what changed
    /// meanwhile.
    began_at: Timestamp,
    /// A refresh has void tickets, which the device deletes.
    is_refresh: bool,
    ends_at: Timestamp,
}

impl Position {
    fn start(now: Timestamp) -> Position {
        let since = ChangedSince { at: Timestamp::from_ms(0), ticket: Uuid::nil() };
        Position { since, began_at: now, is_refresh: false, ends_at: now.plus(CURSOR_LENGTH) }
    }

    fn refresh(self, now: Timestamp) -> Position {
        let since = ChangedSince { at: self.began_at.minus(OVERLAP), ticket: Uuid::nil() };
        // The time of the round is known when it begins.
        let began_at = Timestamp::from_ms(0);
        Position { since, began_at, is_refresh: true, ends_at: now.plus(CURSOR_LENGTH) }
    }

    fn text(self, context: &AppContext, asked: &GateListRequest) -> String {
        let mut bytes = self.since.at.ms().to_be_bytes().to_vec();
        bytes.extend(self.since.ticket.as_bytes());
        bytes.extend(self.began_at.ms().to_be_bytes());
        bytes.push(self.is_refresh.into());
        bytes.extend(self.ends_at.ms().to_be_bytes());
        let code = context.keyring.code(Purpose::GateList, &signed(asked, &bytes));
        bytes.extend(&code[..CODE_BYTES]);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    fn read(
        context: &AppContext,
        asked: &GateListRequest,
        text: &str,
        now: Timestamp,
    ) -> Option<Position> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (body, code) = bytes.split_at_checked(bytes.len().checked_sub(CODE_BYTES)?)?;
        let number = |at: usize| Some(i64::from_be_bytes(body.get(at..at + 8)?.try_into().ok()?));
        let time = |at: usize| number(at).map(Timestamp::from_ms);
        if !context.keyring.is_code(Purpose::GateList, &signed(asked, body), code) {
            return None;
        }
        let ticket = Uuid::from_slice(body.get(8..24)?).ok()?;
        let (began_at, ends_at) = (time(24)?, time(33)?);
        let began_at = if began_at.ms() == 0 { now } else { began_at };
        let is_refresh = *body.get(32)? == 1;
        let since = ChangedSince { at: time(0)?, ticket };
        (now < ends_at).then_some(Position { since, began_at, is_refresh, ends_at })
    }
}

/// A cursor is for one organiser and one date.
fn signed(asked: &GateListRequest, body: &[u8]) -> Vec<u8> {
    let (actor, schedule) = (asked.actor.uuid(), asked.schedule.uuid());
    [actor.as_bytes().as_slice(), schedule.as_bytes(), body].concat()
}

/// A page of the list. Refuses a date whose gates are closed: the device deletes its list. Refuses a
/// cursor that isn't ours, or has expired: the device begins again.
pub async fn gate_list(context: &AppContext, asked: GateListRequest) -> Result<GateList> {
    let now = context.now();
    let date = context.store.schedule(asked.schedule).await?.ok_or(Refusal::NotFound)?;
    check_open(date.times.starts_at, now)?;
    let position = match &asked.cursor {
        None => Position::start(now),
        Some(text) => Position::read(context, &asked, text, now)
            .ok_or(Refusal::Invalid { field: "cursor", problem: FieldError::NotOurCursor })?,
    };
    let hall = context.catalog.layouts.get(&*context.store, asked.schedule).await?;
    let total = match asked.cursor {
        None => Some(context.store.count_gate_tickets(asked.schedule).await?),
        Some(_) => None,
    };
    let found = context.store.gate_tickets(asked.schedule, position.since, asked.limit + 1);
    let mut tickets = found.await?;
    let has_more = tickets.len() > asked.limit as usize;
    tickets.truncate(asked.limit as usize);
    let last = tickets.last();
    let last = last.map(|it| ChangedSince { at: it.changed_at, ticket: it.ticket.uuid() });
    let next = last.filter(|_| has_more).map(|since| Position { since, ..position });
    let refresh = if has_more { None } else { Some(position.refresh(now)) };
    tickets.retain(|ticket| position.is_refresh || ticket.status != TicketStatus::Void);
    let names = names_of(context, &tickets).await?;
    let line = |ticket| line(context, &hall, &names, ticket);
    Ok(GateList {
        items: tickets.into_iter().map(line).collect(),
        next_cursor: next.map(|position| position.text(context, &asked)),
        refresh_cursor: refresh.map(|position| position.text(context, &asked)),
        total,
    })
}

fn line(
    context: &AppContext,
    hall: &Hall,
    names: &HashMap<UserId, String>,
    ticket: GateTicket,
) -> GateLine {
    let is_void = ticket.status == TicketStatus::Void;
    let key = || URL_SAFE_NO_PAD.encode(ticket_key(context, ticket.ticket.uuid(), &ticket.code));
    GateLine {
        ticket_id: ticket.ticket,
        key: if is_void { String::new() } else { key() },
        name: guest_name(context, &ticket, names).filter(|_| !is_void),
        booking_number: if is_void { String::new() } else { ticket.booking_number },
        section: hall.section(ticket.seat).map(str::to_owned),
        seat_number: ticket.seat_number,
        grade: ticket.grade,
        ticket_type: ticket.ticket_type,
        status: ticket.status,
        used_at: ticket.used_at,
        used_gate: ticket.used_gate,
        changed_at: ticket.changed_at,
    }
}

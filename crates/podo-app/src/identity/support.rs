//! Support: finds people and bookings, shows what happened to them, keeps staff's notes, and sends
//! confirmations again.

pub mod names;
pub mod port;
pub mod timeline;

use crate::booking::reservations::issued::{IssuedOrderView, issued_among, issued_to};
use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts;
use crate::identity::support::port::{AddNote, BookingTicket, NoteRow, Resend, SupportSubject};
use crate::identity::team::api_keys;
use crate::operations::admin_search;
use crate::operations::admin_search::{PaymentLine, PersonLine, PersonText, ReservationLine};
use crate::operations::port::admin_search::{Look, PaymentSearch, PersonSearch, ReservationSearch};
use podo_domain::catalog::text::{FieldError, Prose};
use podo_domain::identity::names::NameSearch;
use podo_domain::identity::permissions::EventScope;
use podo_domain::identity::{Email, EmailSearch, Phone, Role};
use podo_domain::{Currency, NoteId, Refusal, ReservationId, TicketId, Timestamp, UserId, Won};
use serde::Serialize;
use std::collections::HashMap;
use utoipa::ToSchema;
use uuid::Uuid;

/// Most people and bookings that a search shows: more are a reason to search more precisely.
const HITS_MAX: u32 = 20;
/// Most bookings on a person's page.
const BOOKINGS_MAX: u32 = 50;
/// Most payments and notes on a page.
const ROWS_MAX: u32 = 100;

pub type NoteText = Prose<2000>;

/// What a search of support found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct SupportHits {
    /// Empty for roles that are limited to events.
    pub people: Vec<PersonLine>,
    pub bookings: Vec<ReservationLine>,
}

/// A note by staff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SupportNote {
    pub id: NoteId,
    /// The booking that it is about; absent for the person as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reservation_id: Option<ReservationId>,
    pub author_id: UserId,
    /// The author's address, or the name of an API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    pub text: String,
    pub created_at: Timestamp,
}

/// A person as support sees them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SupportPerson {
    pub id: UserId,
    pub email: String,
    pub email_verified: bool,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    pub role: Role,
    pub identity_verified: bool,
    pub second_factor: bool,
    /// The wallet balance.
    pub balance: Won,
    /// Of the balance.
    pub currency: Currency,
    pub created_at: Timestamp,
    /// The newest 50.
    pub bookings: Vec<ReservationLine>,
    /// Newest first.
    pub notes: Vec<SupportNote>,
}

/// A ticket of a booking with its present owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SupportTicket {
    pub id: TicketId,
    pub seat_number: String,
    pub grade: String,
    pub status: podo_domain::tickets::TicketStatus,
    pub user_id: UserId,
    /// Absent if the account was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_at: Option<Timestamp>,
    /// Until when it's offered to another person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_until: Option<Timestamp>,
}

/// A booking as support sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SupportBooking {
    pub reservation: ReservationLine,
    /// The customer of an order that an organiser issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued: Option<IssuedOrderView>,
    /// Every attempt, newest first.
    pub payments: Vec<PaymentLine>,
    pub tickets: Vec<SupportTicket>,
    /// Newest first.
    pub notes: Vec<SupportNote>,
}

/// What a search text is, by its form.
enum Query {
    Id(Uuid),
    Email(Email),
    Phone(Phone),
    BookingNumber(String),
    /// A name, which may be the beginning of an address too.
    Name(NameSearch, Option<EmailSearch>),
}

impl Query {
    fn parse(text: &str) -> Result<Query> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Refusal::Invalid { field: "query", problem: FieldError::Blank }.into());
        }
        if let Ok(id) = text.parse() {
            return Ok(Query::Id(id));
        }
        if text.contains('@') {
            let invalid = |problem| Refusal::Invalid { field: "query", problem };
            return Ok(Query::Email(Email::try_from(text.to_owned()).map_err(invalid)?));
        }
        let upper = text.to_uppercase();
        if upper.starts_with("B-") {
            return Ok(Query::BookingNumber(upper));
        }
        match Phone::try_from(text.to_owned()) {
            Ok(phone) => Ok(Query::Phone(phone)),
            Err(_) => Ok(Query::Name(NameSearch::parse(text)?, EmailSearch::parse(text))),
        }
    }
}

/// Finds by booking number, id, e-mail address, phone number, or the beginning of a name or an
/// address; phone numbers and names also find orders of the desk by their customer. Roles that are
/// limited to events find their bookings only.
pub async fn search(context: &AppContext, text: &str, events: &EventScope) -> Result<SupportHits> {
    let query = Query::parse(text)?;
    let people = match events {
        EventScope::All => people(context, &query).await?,
        EventScope::Only(_) => Vec::new(),
    };
    let bookings = match &query {
        Query::Id(id) => {
            let id = Some(ReservationId::new(*id));
            bookings(context, ReservationSearch { id, ..within(events) }, HITS_MAX).await?
        }
        Query::BookingNumber(number) => {
            let booking_number = Some(number.clone());
            let search = ReservationSearch { booking_number, ..within(events) };
            bookings(context, search, HITS_MAX).await?
        }
        Query::Phone(phone) => {
            let hash = context.keyring.lookup("phone", phone.as_str());
            of_desk(context, hash, events, |_| true).await?
        }
        Query::Name(name, _) => {
            let hash = names::prefix_hash(context, &name.prefix());
            of_desk(context, hash, events, |order| name.matches(&order.name)).await?
        }
        Query::Email(_) => Vec::new(),
    };
    Ok(SupportHits { people, bookings })
}

/// Orders of the desk whose customer has this hash: the customer has no account to be found by.
async fn of_desk(
    context: &AppContext,
    hash: [u8; 32],
    events: &EventScope,
    is_wanted: impl Fn(&IssuedOrderView) -> bool,
) -> Result<Vec<ReservationLine>> {
    let mut lines = Vec::new();
    let found = issued_to(context, hash, events).await?;
    for order in found.into_iter().filter(is_wanted).take(HITS_MAX as usize) {
        let search = ReservationSearch { id: Some(order.reservation_id), ..within(events) };
        lines.extend(bookings(context, search, 1).await?);
    }
    Ok(lines)
}

fn within(events: &EventScope) -> ReservationSearch {
    ReservationSearch { events: events.only(), ..ReservationSearch::default() }
}

async fn bookings(
    context: &AppContext,
    search: ReservationSearch,
    limit: u32,
) -> Result<Vec<ReservationLine>> {
    let look = Look::newest(limit);
    Ok(admin_search::reservations(context, search, look).await?.items)
}

async fn people(context: &AppContext, query: &Query) -> Result<Vec<PersonLine>> {
    let lookup = |field: &str, value: &str| Some(context.keyring.lookup(field, value));
    let search = match query {
        Query::Id(id) => PersonSearch { id: Some(UserId::new(*id)), ..PersonSearch::default() },
        Query::Email(email) => {
            let email_hash = lookup("email", email.as_str());
            PersonSearch { email_hash, ..PersonSearch::default() }
        }
        Query::Phone(phone) => {
            let phone_hash = lookup("phone", phone.as_str());
            PersonSearch { phone_hash, ..PersonSearch::default() }
        }
        Query::Name(name, email) => {
            let text = PersonText::beginning(context, Some(name.clone()), email.clone());
            let look = Look::newest(HITS_MAX);
            return Ok(admin_search::people_by_text(context, &text, look).await?.items);
        }
        Query::BookingNumber(_) => return Ok(Vec::new()),
    };
    Ok(admin_search::people(context, search, Look::newest(HITS_MAX)).await?.items)
}

/// One person with their bookings and notes. Refusals: `NotFound`.
pub async fn person(context: &AppContext, user: UserId) -> Result<SupportPerson> {
    let found = context.store.user(user).await?.ok_or(Refusal::NotFound)?;
    let open = |column: &str, value: &[u8]| accounts::open(context, column, user, value);
    let search = ReservationSearch { user: Some(user), ..ReservationSearch::default() };
    Ok(SupportPerson {
        id: user,
        email: open("email", &found.email)?,
        email_verified: found.is_email_proven,
        name: open("name", &found.name)?,
        phone: found.phone.as_ref().map(|phone| open("phone", phone)).transpose()?,
        role: found.role,
        identity_verified: found.is_verified,
        second_factor: found.has_second_factor(),
        balance: context.store.balance(user).await?,
        currency: context.rules.currency,
        created_at: found.created_at,
        bookings: bookings(context, search, BOOKINGS_MAX).await?,
        notes: notes(context, SupportSubject::Person(user)).await?,
    })
}

/// One booking with its payments, tickets and notes. Refusals: `NotFound`.
pub async fn booking(context: &AppContext, id: ReservationId) -> Result<SupportBooking> {
    let reservation = reservation(context, id).await?;
    let search = PaymentSearch { reservation: Some(id), ..PaymentSearch::default() };
    let look = Look::newest(ROWS_MAX);
    let issued = match reservation.channel.is_fan() {
        true => None,
        false => issued_among(context, vec![id]).await?.pop(),
    };
    Ok(SupportBooking {
        reservation,
        issued,
        payments: admin_search::payments(context, search, look).await?.items,
        tickets: tickets(context, id).await?,
        notes: notes(context, SupportSubject::Booking(id)).await?,
    })
}

pub(crate) async fn reservation(
    context: &AppContext,
    id: ReservationId,
) -> Result<ReservationLine> {
    let search = ReservationSearch { id: Some(id), ..ReservationSearch::default() };
    let found = bookings(context, search, 1).await?;
    Ok(found.into_iter().next().ok_or(Refusal::NotFound)?)
}

async fn tickets(context: &AppContext, booking: ReservationId) -> Result<Vec<SupportTicket>> {
    let rows = context.store.booking_tickets(booking).await?;
    let owners = rows.iter().map(|row| row.user).collect();
    let emails = accounts::emails(context, owners).await?;
    let ticket = |row: BookingTicket| SupportTicket {
        id: row.ticket,
        seat_number: row.seat_number,
        grade: row.grade,
        status: row.status,
        user_id: row.user,
        email: emails.get(&row.user).cloned(),
        used_at: row.used_at,
        offered_until: row.offered_until,
    };
    Ok(rows.into_iter().map(ticket).collect())
}

/// Adds a note about a person. Refusals: `NotFound`, `Invalid`.
pub async fn note_person(
    context: &AppContext,
    author: UserId,
    user: UserId,
    text: &NoteText,
) -> Result<SupportNote> {
    context.store.user(user).await?.ok_or(Refusal::NotFound)?;
    add_note(context, author, user, None, text).await
}

/// Adds a note about a booking. Refusals: `NotFound`, `Invalid`.
pub async fn note_booking(
    context: &AppContext,
    author: UserId,
    booking: ReservationId,
    text: &NoteText,
) -> Result<SupportNote> {
    let buyer = reservation(context, booking).await?.user_id;
    add_note(context, author, buyer, Some(booking), text).await
}

async fn add_note(
    context: &AppContext,
    author: UserId,
    user: UserId,
    reservation: Option<ReservationId>,
    text: &NoteText,
) -> Result<SupportNote> {
    let text = text.as_str().trim();
    if text.is_empty() {
        return Err(Refusal::Invalid { field: "text", problem: FieldError::Blank }.into());
    }
    let now = context.now();
    let id = NoteId::new(context.rng.id(now));
    let body = context.keyring.encrypt(&place(id), text, &*context.rng);
    let row = NoteRow { id, user, reservation, author, body, created_at: now };
    context.store.add_note(AddNote { note: row.clone() }).await?;
    let authors = authors(context, vec![author]).await?;
    note_view(context, row, &authors)
}

fn place(note: NoteId) -> String {
    format!("support_notes.body.{note}")
}

async fn notes(context: &AppContext, subject: SupportSubject) -> Result<Vec<SupportNote>> {
    let rows = context.store.notes_about(subject, ROWS_MAX).await?;
    let authors = authors(context, rows.iter().map(|row| row.author).collect()).await?;
    rows.into_iter().map(|row| note_view(context, row, &authors)).collect()
}

fn note_view(
    context: &AppContext,
    row: NoteRow,
    authors: &HashMap<UserId, String>,
) -> Result<SupportNote> {
    Ok(SupportNote {
        id: row.id,
        reservation_id: row.reservation,
        author_id: row.author,
        author: authors.get(&row.author).cloned(),
        text: context.keyring.decrypt(&place(row.id), &row.body)?,
        created_at: row.created_at,
    })
}

/// What organisers and keys are called: by address and by name.
pub(crate) async fn authors(
    context: &AppContext,
    mut actors: Vec<UserId>,
) -> Result<HashMap<UserId, String>> {
    if actors.is_empty() {
        return Ok(HashMap::new());
    }
    actors.sort_unstable();
    actors.dedup();
    let mut found = api_keys::names(context).await?;
    found.extend(accounts::emails(context, actors).await?);
    Ok(found)
}

/// Sends the confirmation of a booking again, with the tickets that its buyer still has. Refusals:
/// `NotFound`, `NotPaid`, `AlreadyCanceled`, `DeskOrder`, `TooManyRequests`.
pub async fn resend(context: &AppContext, actor: UserId, booking: ReservationId) -> Result<()> {
    let now = context.now();
    let id = context.rng.id(now);
    context.store.resend_confirmation(Resend { id, reservation: booking, actor, now }).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_recognised_by_its_form() {
        let parse = |text| Query::parse(text).unwrap();
        assert!(matches!(parse(" kim@podo.kr "), Query::Email(_)));
        assert!(matches!(parse("010-1234-5678"), Query::Phone(_)));
        assert!(
            matches!(parse("b-20261116-abc234"), Query::BookingNumber(it) if it == "B-20261116-ABC234")
        );
        assert!(matches!(parse("0190a000-0000-7000-8000-000000000000"), Query::Id(_)));
        assert!(matches!(parse("김포도"), Query::Name(_, None)));
        assert!(matches!(parse("kimpodo"), Query::Name(_, Some(_))));
        assert!(Query::parse("  ").is_err() && Query::parse("김").is_err());
        assert!(Query::parse("kim@").is_err());
    }
}

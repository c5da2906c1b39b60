//! What organisers look up, with the personal fields opened.

use crate::accounts;
use crate::error::Result;
use crate::paging::Page;
use crate::platform::Platform;
use crate::ports::lookups::{
    Found, LetterRow, Look, PaymentRow, PaymentSearch, PersonRow, PersonSearch, ReservationRow,
    ReservationSearch,
};
use domain::accounts::Role;
use domain::reservations::ReservationStatus;
use domain::{ReservationId, ScheduleId, Timestamp, UserId, Won};
use serde::Serialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use utoipa::ToSchema;

/// A reservation as organisers see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReservationLine {
    pub id: ReservationId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub booking_number: Option<String>,
    pub status: ReservationStatus,
    pub schedule_id: ScheduleId,
    pub event_title: String,
    pub starts_at: Timestamp,
    /// The numbers of its seats, also of those that were given back.
    pub seats: Vec<String>,
    pub amount: Won,
    pub user_id: UserId,
    /// Absent when the account was given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    pub created_at: Timestamp,
}

/// A person as organisers see them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonLine {
    pub id: UserId,
    pub email: String,
    pub name: String,
    pub role: Role,
    pub status: String,
    /// What is in the wallet.
    pub balance: Won,
    pub created_at: Timestamp,
}

pub async fn reservations(
    platform: &Platform,
    search: ReservationSearch,
    look: Look,
) -> Result<Page<ReservationLine>> {
    let found = platform.store.find_reservations(search, look).await?;
    let mut emails: HashMap<UserId, Option<String>> = HashMap::new();
    let mut items = Vec::with_capacity(found.rows.len());
    for row in found.rows {
        let email = match emails.entry(row.user) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(new) => {
                let user = accounts::user_view(platform, row.user).await?;
                new.insert(user.map(|user| user.email)).clone()
            }
        };
        items.push(reservation_line(row, email));
    }
    Ok(Page { items, next_cursor: found.next.map(|id| id.to_string()) })
}

fn reservation_line(row: ReservationRow, email: Option<String>) -> ReservationLine {
    ReservationLine {
        id: row.id,
        booking_number: row.booking_number,
        status: row.status,
        schedule_id: row.schedule,
        event_title: row.event_title,
        starts_at: row.starts_at,
        seats: row.seats,
        amount: row.amount,
        user_id: row.user,
        email,
        created_at: row.created_at,
    }
}

pub async fn payments(
    platform: &Platform,
    search: PaymentSearch,
    look: Look,
) -> Result<Page<PaymentRow>> {
    Ok(as_page(platform.store.find_payments(search, look).await?))
}

/// People, by their whole address or their id: the rest is sealed.
pub async fn people(
    platform: &Platform,
    search: PersonSearch,
    look: Look,
) -> Result<Page<PersonLine>> {
    let found = platform.store.find_people(search, look).await?;
    let mut items = Vec::with_capacity(found.rows.len());
    for row in found.rows {
        let balance = platform.store.balance(row.user).await?;
        items.push(person_line(platform, &row, balance)?);
    }
    Ok(Page { items, next_cursor: found.next.map(|id| id.to_string()) })
}

fn person_line(platform: &Platform, row: &PersonRow, balance: Won) -> Result<PersonLine> {
    Ok(PersonLine {
        id: row.user,
        email: accounts::open(platform, "email", row.user, &row.email)?,
        name: accounts::open(platform, "name", row.user, &row.name)?,
        role: row.role,
        status: row.status.clone(),
        balance,
        created_at: row.created_at,
    })
}

/// What an organiser typed to find somebody: an id or a whole address.
pub fn person_search(platform: &Platform, text: &str) -> PersonSearch {
    let text = text.trim();
    match text.parse() {
        Ok(id) => PersonSearch { id: Some(id), email_hash: None },
        Err(_) if text.is_empty() => PersonSearch::default(),
        Err(_) => {
            let email = text.to_lowercase();
            PersonSearch { id: None, email_hash: Some(platform.seals.lookup("email", &email)) }
        }
    }
}

pub async fn letters(platform: &Platform, look: Look) -> Result<Page<LetterRow>> {
    Ok(as_page(platform.store.all_letters(look).await?))
}

fn as_page<T>(found: Found<T>) -> Page<T> {
    Page { items: found.rows, next_cursor: found.next.map(|id| id.to_string()) }
}

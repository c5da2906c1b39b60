//! The organisers' search, with decrypted personal fields.

use crate::booking::reservations::issued::{IssuedOrderView, issued_among};
use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts;
use crate::identity::accounts::{KnownPerson, PersonHint};
use crate::identity::support::names;
use crate::operations::port::admin_search::{
    Look, NotificationRow, PaymentRow, PaymentSearch, PersonRow, PersonSearch, ReservationRow,
    ReservationSearch,
};
use crate::store::Page;
use podo_domain::booking::issued::{Channel, Tender};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::identity::names::NameSearch;
use podo_domain::identity::{EmailSearch, Role};
use podo_domain::{Currency, ReservationId, ScheduleId, Timestamp, UserId, Won};
use serde::Serialize;
use std::collections::HashMap;
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
    /// The venue's, in which the date is shown.
    pub time_zone: String,
    /// Its seat numbers, including returned seats.
    pub seats: Vec<String>,
    pub amount: Won,
    pub currency: Currency,
    /// The fan, or the organiser who issued it at the desk.
    pub user_id: UserId,
    /// Absent if the account was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The same person for a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonHint>,
    pub channel: Channel,
    /// How the customer of the desk paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tender: Option<Tender>,
    /// The name of the customer of the desk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub customer: Option<String>,
    pub created_at: Timestamp,
    /// The types of its seats, in the order of `seats`; empty at the full price.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ticket_types: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promotion_code: Option<String>,
    /// The booking fees of its seats and the fee of the order.
    pub fees: Won,
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
    /// The wallet balance.
    pub balance: Won,
    /// Of the balance.
    pub currency: Currency,
    pub created_at: Timestamp,
}

pub async fn reservations(
    context: &AppContext,
    search: ReservationSearch,
    look: Look,
) -> Result<Page<ReservationLine>> {
    let found = context.store.find_reservations(search, look).await?;
    let people = accounts::people_of(context, found.rows.iter().map(|row| row.user)).await?;
    let desk = found.rows.iter().filter(|row| !row.channel.is_fan()).map(|row| row.id).collect();
    let mut issued: HashMap<ReservationId, IssuedOrderView> = issued_among(context, desk)
        .await?
        .into_iter()
        .map(|order| (order.reservation_id, order))
        .collect();
    let line = |row: ReservationRow| {
        let person = people.get(&row.user);
        let issued = issued.remove(&row.id);
        reservation_line(row, person, issued)
    };
    let items = found.rows.into_iter().map(line).collect();
    Ok(Page { items, next_cursor: found.next.map(|id| id.to_string()) })
}

fn reservation_line(
    row: ReservationRow,
    person: Option<&KnownPerson>,
    issued: Option<IssuedOrderView>,
) -> ReservationLine {
    ReservationLine {
        id: row.id,
        booking_number: row.booking_number,
        status: row.status,
        schedule_id: row.schedule,
        event_title: row.event_title,
        starts_at: row.starts_at,
        time_zone: row.time_zone,
        seats: row.seats,
        amount: row.amount,
        currency: row.currency,
        user_id: row.user,
        email: person.map(|person| person.email.clone()),
        person: person.map(KnownPerson::hint),
        channel: row.channel,
        tender: issued.as_ref().and_then(|order| order.tender),
        customer: issued.map(|order| order.name),
        created_at: row.created_at,
        ticket_types: row.ticket_types,
        promotion_code: row.promotion_code,
        fees: row.fees,
    }
}

/// A payment with the person who paid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentLine {
    #[serde(flatten)]
    pub payment: PaymentRow,
    /// Absent if the account was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonHint>,
}

pub async fn payments(
    context: &AppContext,
    search: PaymentSearch,
    look: Look,
) -> Result<Page<PaymentLine>> {
    let found = context.store.find_payments(search, look).await?;
    let people = accounts::hints(context, found.rows.iter().map(|row| row.user_id)).await?;
    let line = |payment: PaymentRow| {
        let person = people.get(&payment.user_id).cloned();
        PaymentLine { payment, person }
    };
    let items = found.rows.into_iter().map(line).collect();
    Ok(Page { items, next_cursor: found.next.map(|id| id.to_string()) })
}

/// What an organiser typed to find people. Names and addresses are encrypted, so people are found
/// by their id, by their whole address, or by how their name or address begins.
#[derive(Clone, Default)]
pub struct PersonText {
    search: PersonSearch,
    /// The index may be older than the name, and has only its first characters: the decrypted
    /// values decide.
    beginning: Option<(Option<NameSearch>, Option<EmailSearch>)>,
}

impl PersonText {
    /// Refusals: `Invalid` for a text that is too short for a name and for an address.
    pub fn parse(context: &AppContext, text: &str) -> Result<PersonText> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(PersonText::default());
        }
        if let Ok(id) = text.parse() {
            let search = PersonSearch { id: Some(id), ..PersonSearch::default() };
            return Ok(PersonText { search, beginning: None });
        }
        if text.contains('@') && !text.starts_with('@') {
            let email_hash = Some(context.keyring.lookup("email", &text.to_lowercase()));
            let search = PersonSearch { email_hash, ..PersonSearch::default() };
            return Ok(PersonText { search, beginning: None });
        }
        let email = EmailSearch::parse(text);
        let name = match NameSearch::parse(text) {
            Ok(name) => Some(name),
            Err(_) if email.is_some() => None,
            Err(refusal) => return Err(refusal.into()),
        };
        Ok(PersonText::beginning(context, name.filter(|_| !text.starts_with('@')), email))
    }

    pub(crate) fn beginning(
        context: &AppContext,
        name: Option<NameSearch>,
        email: Option<EmailSearch>,
    ) -> PersonText {
        let name_hash = name.as_ref().map(|it| names::prefix_hash(context, &it.prefix()));
        let email_part_hash = email.as_ref().map(|it| names::email_hash(context, &it.part()));
        let search = PersonSearch { name_hash, email_part_hash, ..PersonSearch::default() };
        PersonText { search, beginning: Some((name, email)) }
    }

    fn is_meant(&self, person: &PersonLine) -> bool {
        let Some((name, email)) = &self.beginning else { return true };
        name.as_ref().is_some_and(|it| it.matches(&person.name))
            || email.as_ref().is_some_and(|it| it.matches(&person.email))
    }
}

/// People by what an organiser typed.
pub async fn people_by_text(
    context: &AppContext,
    text: &PersonText,
    look: Look,
) -> Result<Page<PersonLine>> {
    let mut page = people(context, text.search.clone(), look).await?;
    page.items.retain(|person| text.is_meant(person));
    Ok(page)
}

/// People by hashes of what is encrypted.
pub async fn people(
    context: &AppContext,
    search: PersonSearch,
    look: Look,
) -> Result<Page<PersonLine>> {
    let found = context.store.find_people(search, look).await?;
    let users = found.rows.iter().map(|row| row.user).collect();
    let balances = context.store.balances(users).await?;
    let lines = found.rows.iter().zip(balances);
    let items = lines.map(|(row, balance)| person_line(context, row, balance));
    let items = items.collect::<Result<_>>()?;
    Ok(Page { items, next_cursor: found.next.map(|id| id.to_string()) })
}

fn person_line(context: &AppContext, row: &PersonRow, balance: Won) -> Result<PersonLine> {
    Ok(PersonLine {
        id: row.user,
        email: accounts::open(context, "email", row.user, &row.email)?,
        name: accounts::open(context, "name", row.user, &row.name)?,
        role: row.role,
        status: row.status.clone(),
        balance,
        currency: context.rules.currency,
        created_at: row.created_at,
    })
}

/// A notification with the person who got it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotificationLine {
    #[serde(flatten)]
    pub notification: NotificationRow,
    /// Absent if the account was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonHint>,
}

pub async fn notifications(context: &AppContext, look: Look) -> Result<Page<NotificationLine>> {
    let found = context.store.all_notifications(look).await?;
    let people = accounts::hints(context, found.rows.iter().map(|row| row.user_id)).await?;
    let line = |notification: NotificationRow| {
        let person = people.get(&notification.user_id).cloned();
        NotificationLine { notification, person }
    };
    let items = found.rows.into_iter().map(line).collect();
    Ok(Page { items, next_cursor: found.next.map(|id| id.to_string()) })
}

//! What happened to a person or a booking, in one list.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::support::port::{SupportSubject, TimelineEntry, TimelineQuery};
use crate::identity::support::{authors, reservation};
use crate::store::Page;
use podo_domain::{Refusal, ReservationId, Timestamp, UserId};
use std::cmp::Reverse;

/// A page of a person's timeline, newest first. Refusals: `NotFound`.
pub async fn of_person(
    context: &AppContext,
    user: UserId,
    until: Option<Timestamp>,
    limit: u32,
) -> Result<Page<TimelineEntry>> {
    context.store.user(user).await?.ok_or(Refusal::NotFound)?;
    page(context, SupportSubject::Person(user), until, limit).await
}

/// A page of a booking's timeline, newest first. Refusals: `NotFound`.
pub async fn of_booking(
    context: &AppContext,
    booking: ReservationId,
    until: Option<Timestamp>,
    limit: u32,
) -> Result<Page<TimelineEntry>> {
    reservation(context, booking).await?;
    page(context, SupportSubject::Booking(booking), until, limit).await
}

async fn page(
    context: &AppContext,
    subject: SupportSubject,
    until: Option<Timestamp>,
    limit: u32,
) -> Result<Page<TimelineEntry>> {
    let until = until.unwrap_or(Timestamp::FAR_FUTURE);
    let asked = TimelineQuery { subject, until, limit: limit + 1 };
    let mut page = cut(context.store.timeline(asked).await?, limit as usize);
    let actors = page.items.iter().filter_map(|entry| entry.actor_id).collect();
    let names = authors(context, actors).await?;
    for entry in &mut page.items {
        entry.actor = entry.actor_id.and_then(|actor| names.get(&actor).cloned());
    }
    Ok(page)
}

/// Sorts entries and cuts them between two moments: what one transaction wrote shares its moment,
/// and the next page begins with a moment. A page is longer than the limit only if more happened
/// in a single moment.
fn cut(mut entries: Vec<TimelineEntry>, limit: usize) -> Page<TimelineEntry> {
    // Within a moment the order of the kinds is that of a purchase.
    entries.sort_by_key(|entry| Reverse((entry.at, entry.kind, entry.id)));
    let Some(next) = entries.get(limit).map(|entry| entry.at) else {
        return Page { items: entries, next_cursor: None };
    };
    let is_one_moment = entries.first().is_some_and(|first| first.at == next);
    let (items, next) = match is_one_moment {
        true => {
            entries.retain(|entry| entry.at == next);
            (entries, next.ms() - 1)
        }
        false => {
            entries.retain(|entry| next < entry.at);
            (entries, next.ms())
        }
    };
    Page { items, next_cursor: Some(next.to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::support::port::TimelineKind;
    use uuid::Uuid;

    fn entry(ms: i64, kind: TimelineKind) -> TimelineEntry {
        TimelineEntry {
            at: Timestamp::from_ms(ms),
            kind,
            state: String::new(),
            amount: None,
            currency: None,
            detail: None,
            channel: None,
            id: Uuid::nil(),
            reservation_id: None,
            actor_id: None,
            actor: None,
        }
    }

    fn moments(page: &Page<TimelineEntry>) -> Vec<i64> {
        page.items.iter().map(|entry| entry.at.ms()).collect()
    }

    #[test]
    fn a_page_ends_between_two_moments() {
        let of = |ms| entry(ms, TimelineKind::Payment);
        let page = cut(vec![of(1), of(5), of(3), of(3), of(4)], 3);
        assert_eq!((moments(&page), page.next_cursor.as_deref()), (vec![5, 4], Some("3")));
        let last = cut(vec![of(1), of(3), of(3)], 3);
        assert_eq!((moments(&last), last.next_cursor), (vec![3, 3, 1], None));
    }

    #[test]
    fn a_moment_that_is_longer_than_a_page_stays_together() {
        let of = |ms| entry(ms, TimelineKind::Ticket);
        let page = cut(vec![of(3), of(3), of(3), of(1)], 2);
        assert_eq!((moments(&page), page.next_cursor.as_deref()), (vec![3, 3, 3], Some("2")));
    }

    #[test]
    fn within_a_moment_the_newest_step_of_a_purchase_comes_first() {
        let kinds = [TimelineKind::Payment, TimelineKind::Ticket, TimelineKind::Reservation];
        let page = cut(kinds.map(|kind| entry(1, kind)).to_vec(), 9);
        let order: Vec<TimelineKind> = page.items.iter().map(|entry| entry.kind).collect();
        assert_eq!(order, [TimelineKind::Ticket, TimelineKind::Payment, TimelineKind::Reservation]);
    }
}

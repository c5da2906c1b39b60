//! Support: timelines, notes, resent confirmations, and the index of names.

use crate::world::{World, at, refusal};
use futures::future::join_all;
use podo_app::identity::port::accounts::{Accounts, ChangeProfile};
use podo_app::identity::support::port::{
    AddNote, IndexName, NoteRow, Resend, Support, SupportSubject, TimelineKind, TimelineQuery,
    UnindexedName,
};
use podo_app::operations::port::admin_search::{AdminSearch, Look, PersonSearch};
use podo_app::operations::port::clock::Rng;
use podo_app::tickets::port::{AcceptTicket, NewClaim, OfferTicket, Tickets};
use podo_domain::messaging::messages::Language;
use podo_domain::messaging::resends::RESENDS_MAX;
use podo_domain::{ClaimId, NoteId, Refusal, ReservationId, Timestamp, UserId};

pub(crate) async fn lines(world: &World, subject: SupportSubject) -> Vec<(TimelineKind, String)> {
    let asked = TimelineQuery { subject, until: at(100_000), limit: 100 };
    let entries = world.store.timeline(asked).await.unwrap();
    entries.into_iter().map(|entry| (entry.kind, entry.state)).collect()
}

pub(crate) fn has(lines: &[(TimelineKind, String)], kind: TimelineKind, state: &str) -> bool {
    lines.iter().any(|line| *line == (kind, state.to_owned()))
}

/// The link of an offer.
pub(crate) fn claim(world: &World) -> NewClaim {
    NewClaim {
        id: ClaimId::new(world.id()),
        email: vec![5; 40],
        token_hash: [6; 32],
        language: Language::Ko,
    }
}

#[tokio::test]
async fn a_timeline_has_the_way_of_a_ticket_for_everyone_who_had_it() {
    let world = World::new().await;
    let (fan, friend) = (world.fan().await, world.fan().await);
    let sold = world.buy(&fan, &[0], at(1)).await;
    let reservation = sold.confirmed.reservation.id;
    let ticket = sold.confirmed.tickets[0].id;
    let offer = |now: Timestamp| OfferTicket {
        key: world.key(&fan, "tickets/transfer"),
        ticket,
        from: fan.id,
        email_hash: [7; 32],
        claim: claim(&world),
        expires_at: at(1_000),
        now,
    };
    world.store.offer_ticket(offer(at(10))).await.unwrap();
    assert!(world.store.withdraw_offer(ticket, fan.id, at(11)).await.unwrap());
    assert!(!world.store.withdraw_offer(ticket, fan.id, at(12)).await.unwrap());
    world.store.offer_ticket(offer(at(13))).await.unwrap();
    let accept = AcceptTicket {
        key: world.key(&friend, "tickets/accept"),
        ticket,
        to: friend.id,
        email_hash: [7; 32],
        code: vec![1; 16],
        now: at(14),
    };
    world.store.accept_ticket(accept).await.unwrap();

    let own = lines(&world, SupportSubject::Person(fan.id)).await;
    for (kind, state) in [
        (TimelineKind::Queue, "ADMITTED"),
        (TimelineKind::Reservation, "HELD"),
        (TimelineKind::Reservation, "CONFIRMED"),
        (TimelineKind::Payment, "CAPTURED"),
        (TimelineKind::Ticket, "ISSUED"),
        (TimelineKind::Transfer, "OFFERED"),
        (TimelineKind::Transfer, "WITHDRAWN"),
        (TimelineKind::Transfer, "ACCEPTED"),
    ] {
        assert!(has(&own, kind, state), "{kind:?} {state}: {own:?}");
    }
    let offered = (TimelineKind::Transfer, "OFFERED".to_owned());
    assert_eq!(own.iter().filter(|line| **line == offered).count(), 2);
    let booking = lines(&world, SupportSubject::Booking(reservation)).await;
    assert!(has(&booking, TimelineKind::Queue, "ADMITTED"), "{booking:?}");
    assert!(has(&booking, TimelineKind::Transfer, "ACCEPTED"), "{booking:?}");
    let received = lines(&world, SupportSubject::Person(friend.id)).await;
    assert!(has(&received, TimelineKind::Transfer, "RECEIVED"), "{received:?}");
    assert!(!has(&received, TimelineKind::Payment, "CAPTURED"), "they paid nothing");
    let tickets = world.store.booking_tickets(reservation).await.unwrap();
    assert_eq!((tickets.len(), tickets[0].user), (1, friend.id));

    let earlier =
        TimelineQuery { subject: SupportSubject::Booking(reservation), until: at(12), limit: 100 };
    let earlier = world.store.timeline(earlier).await.unwrap();
    assert!(earlier.iter().all(|entry| entry.at <= at(12)), "{earlier:?}");
    let first =
        TimelineQuery { limit: 1, until: at(12), subject: SupportSubject::Booking(reservation) };
    let first = world.store.timeline(first).await.unwrap();
    let transfers: Vec<_> =
        first.iter().filter(|entry| entry.kind == TimelineKind::Transfer).collect();
    assert_eq!((transfers.len(), transfers[0].state.as_str()), (1, "WITHDRAWN"), "the newest");
    world.finish().await;
}

fn note(
    world: &World,
    user: UserId,
    reservation: Option<ReservationId>,
    now: Timestamp,
) -> NoteRow {
    let id = NoteId::new(world.rng.id(now));
    NoteRow { id, user, reservation, author: world.admin, body: vec![7; 40], created_at: now }
}

#[tokio::test]
async fn notes_are_found_by_person_and_booking_and_end_with_their_time() {
    let world = World::new().await;
    let (fan, other) = (world.fan().await, world.fan().await);
    let booking = ReservationId::new(world.id());
    let about = [
        note(&world, fan.id, None, at(1)),
        note(&world, fan.id, Some(booking), at(2)),
        note(&world, other.id, None, at(3)),
    ];
    for note in about.clone() {
        world.store.add_note(AddNote { note }).await.unwrap();
    }
    let found = world.store.notes_about(SupportSubject::Person(fan.id), 10).await.unwrap();
    assert_eq!(found, [about[1].clone(), about[0].clone()], "newest first");
    let found = world.store.notes_about(SupportSubject::Booking(booking), 10).await.unwrap();
    assert_eq!(found, [about[1].clone()]);
    assert_eq!(world.store.forget_notes(at(2), 10).await.unwrap(), 1);
    let left = world.store.notes_about(SupportSubject::Person(fan.id), 10).await.unwrap();
    assert_eq!(left, [about[1].clone()]);
    world.store.erase(fan.id, at(4)).await.unwrap();
    assert!(world.store.notes_about(SupportSubject::Person(fan.id), 10).await.unwrap().is_empty());
    let left = world.store.notes_about(SupportSubject::Person(other.id), 10).await.unwrap();
    assert_eq!(left.len(), 1, "another person's stay");
    world.finish().await;
}

#[tokio::test]
async fn of_many_resends_at_once_as_many_as_the_limit_pass() {
    let world = World::new().await;
    let fan = world.fan().await;
    let sold = world.buy(&fan, &[0], at(1)).await;
    let reservation = sold.confirmed.reservation.id;
    let resend =
        |now: Timestamp| Resend { id: world.rng.id(now), reservation, actor: world.admin, now };
    let tries = (0..20).map(|_| world.store.resend_confirmation(resend(at(10))));
    let passed = join_all(tries).await.into_iter().filter(Result::is_ok).count();
    assert_eq!(passed, RESENDS_MAX);
    let later = world.store.resend_confirmation(resend(at(20))).await;
    assert_eq!(refusal(later), Refusal::TooManyRequests { retry_after_s: 86_390 });
    world.store.resend_confirmation(resend(at(10 + 86_401))).await.unwrap();
    let unknown = Resend { reservation: ReservationId::new(world.id()), ..resend(at(30)) };
    assert_eq!(refusal(world.store.resend_confirmation(unknown).await), Refusal::NotFound);
    let other = world.fan().await;
    let held = world.hold(&other, &[1], at(20)).await.unwrap().reservation_id;
    let unpaid = Resend { reservation: held, ..resend(at(30)) };
    assert_eq!(refusal(world.store.resend_confirmation(unpaid).await), Refusal::NotPaid);
    let own = lines(&world, SupportSubject::Person(fan.id)).await;
    assert!(has(&own, TimelineKind::Resend, "RESENT"), "{own:?}");
    world.finish().await;
}

/// The account's row in the list of names that aren't indexed.
async fn due(world: &World, user: UserId) -> Option<UnindexedName> {
    let due = world.store.unindexed_names(at(0), 1_000).await.unwrap();
    due.into_iter().find(|name| name.user == user)
}

async fn found_by(world: &World, name_hash: [u8; 32]) -> Vec<UserId> {
    let search = PersonSearch { name_hash: Some(name_hash), ..PersonSearch::default() };
    let found = world.store.find_people(search, Look::newest(10)).await.unwrap();
    found.rows.into_iter().map(|row| row.user).collect()
}

#[tokio::test]
async fn a_changed_name_is_indexed_again_and_its_old_prefixes_are_gone() {
    let world = World::new().await;
    let fan = world.fan().await;
    let known = due(&world, fan.id).await.expect("a new account is due");
    let first = IndexName { known: known.clone(), hashes: vec![[1; 32], [2; 32]] };
    world.store.index_names(vec![first.clone()]).await.unwrap();
    assert_eq!(due(&world, fan.id).await, None);
    assert_eq!(found_by(&world, [1; 32]).await, [fan.id]);

    let rename = ChangeProfile { user: fan.id, name: Some(vec![9; 30]), phone: None, now: at(1) };
    world.store.change_profile(rename).await.unwrap();
    // A round that read the old name meanwhile changes nothing.
    world.store.index_names(vec![first]).await.unwrap();
    let known = due(&world, fan.id).await.expect("a new name is due");
    assert_eq!(known.name, vec![9; 30]);
    world.store.index_names(vec![IndexName { known, hashes: vec![[3; 32]] }]).await.unwrap();
    assert_eq!(found_by(&world, [1; 32]).await, []);
    assert_eq!(found_by(&world, [3; 32]).await, [fan.id]);
    world.store.erase(fan.id, at(2)).await.unwrap();
    assert_eq!(found_by(&world, [3; 32]).await, []);
    world.finish().await;
}

//! Draw sales: applications within their window, the drawn order, and offers in that order.

use crate::booking::issued::issue;
use crate::identity::support::{has, lines};
use crate::world::{Fan, SALE_S, World, at, refusal};
use futures::future::join_all;
use podo_app::booking::jobs::draw::draw_phase;
use podo_app::booking::port::reservations::{ReleaseSeats, Reservations};
use podo_app::catalog::phases::draws_port::{
    ApplicationRecord, Apply, DrawRecord, Draws, OfferDrawn, Placed, SetDraw, StorePlaces,
};
use podo_app::catalog::phases::port::{Phases, SetPhases};
use podo_app::catalog::port::{Catalog, Remove, Unwanted};
use podo_app::identity::support::port::{SupportSubject, TimelineKind};
use podo_app::messaging::port::messages::Messages;
use podo_app::{Error, Result};
use podo_domain::booking::draws::{ApplicationState, DrawTerms};
use podo_domain::booking::issued::{Issue, Tender};
use podo_domain::booking::seats::SeatPick;
use podo_domain::catalog::SaleWindow;
use podo_domain::catalog::phases::{Inventory, PhaseAudience, PhaseInput, PhaseTerms};
use podo_domain::id::SeatIndex;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::PaymentMethod;
use podo_domain::waiting_room::draw::permutation;
use podo_domain::{PhaseId, Refusal, ReservationId, ScheduleId, Timestamp, UserId};
use std::collections::BTreeMap;

/// Fans apply between these moments; the phase begins with the sale.
const APPLY_S: i64 = -90;
pub(crate) const CLOSE_S: i64 = -10;

/// Seats of grade R begin behind the first row.
pub(crate) const FIRST_R: SeatIndex = 10;

fn phase_terms(audience: PhaseAudience) -> PhaseTerms {
    PhaseTerms {
        name: "추첨".to_owned(),
        name_en: "Draw".to_owned(),
        window: SaleWindow { starts_at: at(0), ends_at: at(SALE_S) },
        audience,
        seats_per_person: 2,
        seats_per_order: None,
        inventory: Inventory::default(),
    }
}

fn terms(vip: u32, r: u32) -> DrawTerms {
    DrawTerms {
        apply_from: at(APPLY_S),
        apply_until: at(CLOSE_S),
        seats_max: 2,
        offer_minutes: 60,
        quantities: BTreeMap::from([("VIP".to_owned(), vip), ("R".to_owned(), r)]),
    }
}

async fn set_phases(
    world: &World,
    schedule: ScheduleId,
    phases: Vec<PhaseInput>,
    now: Timestamp,
) -> Result<PhaseId> {
    let command = SetPhases { actor: world.admin, schedule, phases, now };
    Ok(world.store.set_phases(command).await?.first().map_or(schedule.phase(1), |it| it.id))
}

async fn set_draw(
    world: &World,
    phase: PhaseId,
    terms: DrawTerms,
    now: Timestamp,
) -> Result<DrawRecord> {
    world.store.set_draw(SetDraw { actor: world.admin, phase, terms, now }).await
}

/// A phase for winners with so many seats of grade R.
async fn sale_on(world: &World, schedule: ScheduleId, r: u32) -> PhaseId {
    let asked = vec![PhaseInput { id: None, terms: phase_terms(PhaseAudience::Drawn) }];
    let phase = set_phases(world, schedule, asked, at(-100)).await.unwrap();
    set_draw(world, phase, terms(10, r), at(-100)).await.unwrap();
    phase
}

pub(crate) async fn sale(world: &World, r: u32) -> PhaseId {
    sale_on(world, world.schedule, r).await
}

pub(crate) async fn apply(
    world: &World,
    fan: &Fan,
    phase: PhaseId,
    (grade, count): (&str, u32),
    now: Timestamp,
) -> Result<ApplicationRecord> {
    let grade = grade.to_owned();
    world.store.apply(Apply { phase, user: fan.id, grade, count, now }).await
}

/// Each fan applies for one seat of grade R.
pub(crate) async fn apply_all(world: &World, fans: &[Fan], phase: PhaseId) {
    for fan in fans {
        apply(world, fan, phase, ("R", 1), at(-50)).await.unwrap();
    }
}

pub(crate) async fn list(world: &World, phase: PhaseId) -> Vec<ApplicationRecord> {
    world.store.applications_from(phase, 0, 1_000).await.unwrap()
}

async fn state(world: &World, fan: &Fan, phase: PhaseId) -> ApplicationState {
    world.store.application_of(fan.id, phase).await.unwrap().unwrap().state
}

pub(crate) async fn draw(world: &World, phase: PhaseId) {
    draw_phase(&world.store, phase, at(CLOSE_S)).await.unwrap();
}

fn offer_command(
    world: &World,
    phase: PhaseId,
    application: &ApplicationRecord,
    first: SeatIndex,
    now: Timestamp,
) -> OfferDrawn {
    let schedule = phase.schedule();
    let seats: Vec<_> = (first..first + application.count).map(|it| schedule.seat(it)).collect();
    OfferDrawn {
        phase,
        user: application.user,
        reservation: ReservationId::new(world.id()),
        pick: SeatPick::new(schedule, &seats).unwrap(),
        until: now.plus(std::time::Duration::from_secs(3_600)),
        now,
    }
}

pub(crate) async fn offer(
    world: &World,
    phase: PhaseId,
    application: &ApplicationRecord,
    first: SeatIndex,
    now: Timestamp,
) -> Result<ReservationId> {
    let command = offer_command(world, phase, application, first, now);
    let reservation = command.reservation;
    world.store.offer_drawn(command).await.map(|()| reservation)
}

/// A date of its own whose first winner bought, for the damage to invariants.
pub(crate) async fn drawn_date(world: &World) -> UserId {
    let schedule = ScheduleId::with_room_for_seats(world.id());
    world.store.create_schedule(world.schedule_command(schedule, 4)).await.unwrap();
    let phase = sale_on(world, schedule, 2).await;
    let fans = world.fans(3).await;
    apply_all(world, &fans, phase).await;
    draw(world, phase).await;
    let order = in_order(world, phase).await;
    let reservation = offer(world, phase, &order[0], FIRST_R, at(2)).await.unwrap();
    buy(world, &fans, order[0].user, reservation).await;
    assert_eq!(world.store.settle_drawn(at(4), 10).await.unwrap(), 1);
    order[0].user
}

pub(crate) async fn in_order(world: &World, phase: PhaseId) -> Vec<ApplicationRecord> {
    let mut order = list(world, phase).await;
    order.sort_by_key(|it| it.place);
    order
}

#[tokio::test]
async fn fans_apply_change_and_withdraw_within_the_window() {
    let world = World::new().await;
    let phase = sale(&world, 5).await;
    let (one, other) = (world.fan().await, world.fan().await);
    let early = apply(&world, &one, phase, ("R", 1), at(APPLY_S - 1)).await;
    assert_eq!(refusal(early), Refusal::DrawNotOpen { opens_at: at(APPLY_S) });
    let first = apply(&world, &one, phase, ("R", 1), at(APPLY_S)).await.unwrap();
    let second = apply(&world, &other, phase, ("VIP", 2), at(-80)).await.unwrap();
    assert_eq!((first.index, second.index), (0, 1));
    let changed = apply(&world, &one, phase, ("VIP", 2), at(-70)).await.unwrap();
    assert_eq!((changed.index, changed.grade.as_str(), changed.count), (0, "VIP", 2));
    world.store.withdraw_application(one.id, phase, at(-60)).await.unwrap();
    world.store.withdraw_application(one.id, phase, at(-60)).await.unwrap();
    assert_eq!(state(&world, &one, phase).await, ApplicationState::Withdrawn);
    let again = apply(&world, &one, phase, ("R", 2), at(-50)).await.unwrap();
    assert_eq!((again.index, again.state), (0, ApplicationState::Applied), "the same index");
    for (wish, expected) in [
        (("S", 1), Refusal::UnknownGrade),
        (("R", 0), Refusal::NoSeats),
        (("R", 3), Refusal::TooManySeats { max: 2 }),
    ] {
        assert_eq!(refusal(apply(&world, &other, phase, wish, at(-40)).await), expected);
    }
    let late = apply(&world, &world.fan().await, phase, ("R", 1), at(CLOSE_S)).await;
    assert_eq!(refusal(late), Refusal::DrawClosed);
    assert_eq!(
        refusal(world.store.withdraw_application(one.id, phase, at(CLOSE_S)).await),
        Refusal::DrawClosed
    );
    let unknown = world.schedule.phase(99);
    assert_eq!(refusal(apply(&world, &one, unknown, ("R", 1), at(-40)).await), Refusal::NotFound);
    let told = kinds(&world, MessageKind::DrawApplied).await;
    assert_eq!(told, 4, "two applications, a change and an application after a withdrawal");
    world.finish().await;
}

async fn kinds(world: &World, kind: MessageKind) -> usize {
    let due = world.store.due_messages(Timestamp::FAR_FUTURE, 10_000).await.unwrap();
    due.iter().filter(|message| message.kind == kind).count()
}

#[tokio::test]
async fn of_many_requests_of_one_fan_one_application_remains() {
    let world = World::new().await;
    let phase = sale(&world, 5).await;
    let fan = world.fan().await;
    let asked = (0..20).map(|_| apply(&world, &fan, phase, ("R", 1), at(-50)));
    let answers = join_all(asked).await;
    assert!(answers.iter().any(Result::is_ok));
    for error in answers.into_iter().filter_map(Result::err) {
        assert!(matches!(error, Error::Conflict(_)), "{error}");
    }
    assert_eq!(list(&world, phase).await.len(), 1);
    draw(&world, phase).await;
    world.finish().await;
}

#[tokio::test]
async fn the_order_follows_from_the_seed_and_withdrawn_indexes_win_nothing() {
    let world = World::new().await;
    let phase = sale(&world, 3).await;
    let fans = world.fans(8).await;
    apply_all(&world, &fans, phase).await;
    world.store.withdraw_application(fans[2].id, phase, at(-40)).await.unwrap();
    draw(&world, phase).await;
    let draw = world.store.draw_of(phase).await.unwrap().unwrap();
    assert_eq!((draw.closed_at, draw.drawn_at), (Some(at(CLOSE_S)), Some(at(CLOSE_S))));
    assert!(draw.list_hash.is_some());
    let ranks = permutation(&draw.seed, 8);
    let list = list(&world, phase).await;
    for (application, rank) in list.iter().zip(&ranks) {
        assert_eq!(application.place, Some(*rank));
    }
    let winners: Vec<_> =
        in_order(&world, phase).await.into_iter().filter(|it| it.wins).map(|it| it.index).collect();
    let mut expected: Vec<u32> = (0..8).filter(|index| *index != 2).collect();
    expected.sort_by_key(|index| ranks[*index as usize]);
    assert_eq!(winners, expected[..3]);
    assert_eq!(state(&world, &fans[2], phase).await, ApplicationState::Withdrawn);
    world.store.withdraw_application(fans[3].id, phase, at(-5)).await.unwrap();
    assert_eq!(state(&world, &fans[3], phase).await, ApplicationState::Passed);
    world.finish().await;
}

/// The process dies between two batches; another one finishes with the same order.
#[tokio::test]
async fn a_draw_that_was_interrupted_continues_with_the_same_order() {
    let world = World::new().await;
    let phase = sale(&world, 3).await;
    let fans = world.fans(9).await;
    apply_all(&world, &fans, phase).await;
    let closed = world.store.close_draw(phase, at(CLOSE_S)).await.unwrap();
    let ranks = permutation(&closed.seed, 9);
    let first: Vec<Placed> =
        ranks[..4].iter().map(|place| Placed { place: *place, wins: *place < 3 }).collect();
    let batch = StorePlaces { phase, from: 0, places: first, list_hash: [1; 32], now: at(CLOSE_S) };
    world.store.store_places(batch.clone()).await.unwrap();
    let half = world.store.draw_of(phase).await.unwrap().unwrap();
    assert_eq!((half.n_ranked, half.drawn_at), (4, None));
    assert_eq!(world.store.draws_due(at(CLOSE_S), 10).await.unwrap(), [phase]);
    let successor = world.restart().await;
    assert_eq!(draw_phase(&successor, phase, at(CLOSE_S + 1)).await.unwrap(), 5);
    // The first process wakes up and stores its batch again.
    world.store.store_places(batch).await.unwrap();
    assert_eq!(draw_phase(&world.store, phase, at(CLOSE_S + 2)).await.unwrap(), 0);
    let list = list(&world, phase).await;
    assert!(list.iter().zip(&ranks).all(|(it, rank)| it.place == Some(*rank)), "{list:?}");
    assert_eq!(list.iter().filter(|it| it.wins).count(), 3);
    assert!(world.store.draws_due(at(0), 10).await.unwrap().is_empty());
    world.finish().await;
}

#[tokio::test]
async fn offers_go_in_the_drawn_order_and_a_lapsed_one_passes_to_the_next() {
    let world = World::new().await;
    let phase = sale(&world, 2).await;
    let fans = world.fans(4).await;
    apply_all(&world, &fans, phase).await;
    draw(&world, phase).await;
    let order = in_order(&world, phase).await;
    let early = offer(&world, phase, &order[0], FIRST_R, at(-1)).await;
    assert_eq!(refusal(early), Refusal::SaleNotOpen { opens_at: at(0) });
    let not_yet = offer(&world, phase, &order[1], FIRST_R, at(1)).await;
    assert_eq!(refusal(not_yet), Refusal::NotFound, "it isn't this fan's turn");
    let first = offer(&world, phase, &order[0], FIRST_R, at(1)).await.unwrap();
    let second = offer(&world, phase, &order[1], FIRST_R + 1, at(1)).await.unwrap();
    let beyond = offer(&world, phase, &order[2], FIRST_R + 2, at(1)).await;
    assert_eq!(refusal(beyond), Refusal::DrawClosed, "the quantity is out");
    let next = world.store.next_to_offer(phase, "R".to_owned()).await.unwrap().unwrap();
    assert_eq!((next.application.user, next.left, next.has_open), (order[2].user, 0, true));
    assert_eq!(world.store.settle_drawn(at(2), 10).await.unwrap(), 0, "both are open");
    let gave_up = world.store.withdraw_application(order[0].user, phase, at(2)).await;
    assert_eq!(refusal(gave_up), Refusal::DrawOffered);

    buy(&world, &fans, order[0].user, first).await;
    let (user, now) = (order[1].user, at(4));
    world.store.release_seats(ReleaseSeats { reservation: second, user, now }).await.unwrap();
    assert_eq!(world.store.settle_drawn(at(5), 10).await.unwrap(), 2);
    let states = in_order(&world, phase).await.into_iter().map(|it| it.state).collect::<Vec<_>>();
    use ApplicationState::{Drawn, Lapsed, Offered, Taken};
    assert_eq!(states, [Taken, Lapsed, Drawn, Drawn]);
    offer(&world, phase, &order[2], FIRST_R + 2, at(6)).await.unwrap();
    let third = world.store.application_of(order[2].user, phase).await.unwrap().unwrap();
    assert_eq!(third.state, Offered);
    assert_eq!(kinds(&world, MessageKind::DrawWon).await, 3);
    world.finish().await;
}

#[tokio::test]
async fn seats_that_an_organiser_sold_at_the_desk_do_not_count_as_their_own() {
    let world = World::new().await;
    let phase = sale(&world, 2).await;
    let (user, grade) = (world.admin, "R".to_owned());
    let wish = Apply { phase, user, grade, count: 2, now: at(APPLY_S) };
    world.store.apply(wish).await.unwrap();
    draw(&world, phase).await;
    issue(&world, Issue::Sale(Tender::Cash), &[0, 1, 2, 3], at(1)).await.unwrap();
    let order = in_order(&world, phase).await;
    offer(&world, phase, &order[0], FIRST_R, at(2)).await.unwrap();
    world.finish().await;
}

async fn buy(world: &World, fans: &[Fan], user: UserId, reservation: ReservationId) {
    let fan = fans.iter().find(|fan| fan.id == user).unwrap();
    world.charge(fan, 1_000_000).await;
    let ready = world.request(fan, reservation, PaymentMethod::Wallet, at(3)).await.unwrap();
    world.confirm(fan, &ready, at(3)).await.unwrap();
}

#[tokio::test]
async fn support_sees_what_became_of_an_application() {
    let world = World::new().await;
    let winner = drawn_date(&world).await;
    let told = lines(&world, SupportSubject::Person(winner)).await;
    assert!(has(&told, TimelineKind::Phase, "TAKEN"), "{told:?}");
    assert!(has(&told, TimelineKind::Phase, "VERIFIED"), "{told:?}");
    world.finish().await;
}

#[tokio::test]
async fn a_phase_for_winners_sells_only_by_offers() {
    let world = World::new().await;
    let phase = sale(&world, 2).await;
    let fans = world.fans(2).await;
    apply_all(&world, &fans, phase).await;
    draw(&world, phase).await;
    let order = in_order(&world, phase).await;
    offer(&world, phase, &order[0], FIRST_R, at(1)).await.unwrap();
    for fan in &fans {
        let command = world.hold_command(fan, &[FIRST_R + 5], at(2));
        let command =
            podo_app::booking::port::reservations::HoldSeats { room: phase.room(), ..command };
        assert_eq!(refusal(world.store.hold_seats(command).await), Refusal::DrawOnly);
    }
    // A fan who reached the limit gets no offer, and is passed over.
    let taken = offer(&world, phase, &order[1], FIRST_R, at(2)).await;
    assert!(matches!(refusal(taken), Refusal::SeatTaken { .. }));
    assert_eq!(state_of(&world, &order[1]).await, ApplicationState::Drawn, "nothing half done");
    world.store.pass_over(phase, order[1].user, at(3)).await.unwrap();
    assert_eq!(state_of(&world, &order[1]).await, ApplicationState::Passed);
    assert!(world.store.next_to_offer(phase, "R".to_owned()).await.unwrap().is_none());
    world.finish().await;
}

async fn state_of(world: &World, application: &ApplicationRecord) -> ApplicationState {
    let found = world.store.application_of(application.user, application.phase).await;
    found.unwrap().unwrap().state
}

#[tokio::test]
async fn those_who_were_not_drawn_are_told_once() {
    let world = World::new().await;
    let phase = sale(&world, 2).await;
    let fans = world.fans(7).await;
    apply_all(&world, &fans, phase).await;
    world.store.withdraw_application(fans[0].id, phase, at(-40)).await.unwrap();
    draw(&world, phase).await;
    assert!(world.store.draws_running(at(-1), 10).await.unwrap().is_empty(), "not yet");
    assert_eq!(world.store.draws_running(at(1), 10).await.unwrap().len(), 1);
    let mut n_seen = 0;
    for _ in 0..5 {
        n_seen += world.store.tell_not_drawn(phase, 3, at(1)).await.unwrap();
    }
    assert_eq!(n_seen, 7);
    assert_eq!(kinds(&world, MessageKind::DrawLost).await, 4, "seven without one and two winners");
    world.finish().await;
}

#[tokio::test]
async fn fans_can_rely_on_a_draw_from_the_beginning_of_its_window() {
    let world = World::new().await;
    let everybody = vec![PhaseInput { id: None, terms: phase_terms(PhaseAudience::Everybody) }];
    let other = set_phases(&world, world.schedule, everybody, at(-200)).await.unwrap();
    let wrong = set_draw(&world, other, terms(1, 1), at(-150)).await;
    assert_eq!(refusal(wrong), Refusal::InvalidDraw { field: "audience".to_owned() });
    let phase = sale(&world, 5).await;
    let over = DrawTerms { apply_from: at(-98), apply_until: at(-97), ..terms(1, 1) };
    let ask = |audience| vec![PhaseInput { id: Some(phase), terms: phase_terms(audience) }];
    set_phases(&world, world.schedule, ask(PhaseAudience::Everybody), at(-99)).await.unwrap();
    assert!(world.store.draw_of(phase).await.unwrap().is_none(), "another audience has no draw");
    set_phases(&world, world.schedule, ask(PhaseAudience::Drawn), at(-98)).await.unwrap();
    let passed = set_draw(&world, phase, over, at(-96)).await;
    assert_eq!(refusal(passed), Refusal::InvalidDraw { field: "applyUntil".to_owned() });
    set_draw(&world, phase, terms(1, 5), at(-96)).await.unwrap();
    apply(&world, &world.fan().await, phase, ("R", 1), at(-60)).await.unwrap();
    let shrink = set_draw(&world, phase, terms(1, 4), at(-50)).await;
    assert_eq!(refusal(shrink), Refusal::DrawBegun);
    let grown = set_draw(&world, phase, terms(2, 6), at(-50)).await.unwrap();
    assert_eq!(grown.terms, terms(2, 6));
    assert_eq!(grown.n_applied, 1);
    for phases in [Vec::new(), ask(PhaseAudience::Everybody)] {
        let changed = set_phases(&world, world.schedule, phases, at(-40)).await;
        assert_eq!(refusal(changed), Refusal::DrawBegun);
    }
    let (actor, what) = (world.admin, Unwanted::Schedule(world.schedule));
    let removed = world.store.remove(Remove { actor, what, now: at(-40) }).await;
    assert_eq!(refusal(removed), Refusal::DrawBegun);
    draw(&world, phase).await;
    let late = set_draw(&world, phase, terms(3, 6), at(-5)).await;
    assert_eq!(refusal(late), Refusal::DrawBegun);
    world.finish().await;
}

#[tokio::test]
async fn a_window_that_was_made_longer_meanwhile_stays_open() {
    let world = World::new().await;
    let phase = sale(&world, 5).await;
    let longer = DrawTerms { apply_until: at(-5), ..terms(10, 5) };
    set_draw(&world, phase, longer, at(-50)).await.unwrap();
    assert_eq!(draw_phase(&world.store, phase, at(CLOSE_S)).await.unwrap(), 0);
    apply(&world, &world.fan().await, phase, ("R", 1), at(-8)).await.unwrap();
    assert_eq!(draw_phase(&world.store, phase, at(-5)).await.unwrap(), 1);
    world.finish().await;
}

#[tokio::test]
async fn an_empty_draw_is_over_at_once() {
    let world = World::new().await;
    let phase = sale(&world, 5).await;
    draw(&world, phase).await;
    let draw = world.store.draw_of(phase).await.unwrap().unwrap();
    assert_eq!((draw.n_applied, draw.drawn_at), (0, Some(at(CLOSE_S))));
    assert_eq!(world.store.tell_not_drawn(phase, 10, at(1)).await.unwrap(), 0);
    assert!(world.store.draws_running(at(1), 10).await.unwrap().is_empty());
    world.finish().await;
}

#[tokio::test]
async fn applications_without_an_offer_are_deleted_after_the_show() {
    let world = World::new().await;
    let phase = sale(&world, 1).await;
    let fans = world.fans(4).await;
    apply_all(&world, &fans, phase).await;
    draw(&world, phase).await;
    let order = in_order(&world, phase).await;
    offer(&world, phase, &order[0], FIRST_R, at(1)).await.unwrap();
    let schedule = world.schedule;
    for n_deleted in [2, 1, 0] {
        let deleted = world.store.forget_applications(schedule, 2, at(2)).await.unwrap();
        assert_eq!(deleted, n_deleted);
    }
    assert_eq!(list(&world, phase).await.len(), 1, "the offer belongs to a reservation");
    let draw = world.store.draw_of(phase).await.unwrap().unwrap();
    assert_eq!(draw.forgotten_at, Some(at(2)));
    world.finish().await;
}

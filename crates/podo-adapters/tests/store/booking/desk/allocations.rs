//! Seats that organisers keep from sale: all or none, never sold to the public, released at once or
//! at a time.

use crate::world::{Plan, SALE_S, World, at, broken, refusal};
use futures::future::join_all;
use podo_adapters::sql::Guard;
use podo_app::booking::port::allocations::{
    AllocationChange, AllocationView, Allocations, ChangeAllocation, CreateAllocation, DueRelease,
    KeepSeats, ReleaseKept,
};
use podo_app::booking::port::reconciliation::Reconciliation;
use podo_app::booking::port::standby::{StandBy, Standbys};
use podo_app::catalog::port::{Catalog, Remove, Unwanted};
use podo_app::payments::port::sales::Sales;
use podo_app::{Error, Result};
use podo_domain::booking::allocations::{AllocationKind, AllocationTerms, KeepPick, keeper};
use podo_domain::booking::reconciliation::Claim;
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::booking::seats::SeatState;
use podo_domain::booking::standby::KEPT_FOR;
use podo_domain::id::SeatIndex;
use podo_domain::{AllocationId, Refusal, SeatId, StandbyId, Timestamp};

pub(crate) fn terms(name: &str) -> AllocationTerms {
    let kind = AllocationKind::Artist;
    AllocationTerms { name: name.to_owned(), kind, note: None, release_at: None }
}

fn ids(world: &World, seats: &[SeatIndex]) -> Vec<SeatId> {
    seats.iter().map(|index| world.schedule.seat(*index)).collect()
}

fn pick(world: &World, seats: &[SeatIndex]) -> KeepPick {
    KeepPick::new(world.schedule, &ids(world, seats)).unwrap()
}

fn create_command(
    world: &World,
    terms: AllocationTerms,
    seats: &[SeatIndex],
    now: Timestamp,
) -> CreateAllocation {
    CreateAllocation {
        actor: world.admin,
        schedule: world.schedule,
        allocation: AllocationId::new(world.id()),
        terms,
        seats: (!seats.is_empty()).then(|| pick(world, seats)),
        now,
    }
}

pub(crate) async fn create(world: &World, name: &str, seats: &[SeatIndex]) -> AllocationView {
    let command = create_command(world, terms(name), seats, at(1));
    world.store.create_allocation(command).await.unwrap().view
}

pub(crate) async fn create_never(world: &World, seats: &[SeatIndex]) {
    let terms = AllocationTerms { kind: AllocationKind::Never, ..terms("Never") };
    let command = create_command(world, terms, seats, at(1));
    world.store.create_allocation(command).await.unwrap();
}

async fn keep(
    world: &World,
    allocation: AllocationId,
    seats: &[SeatIndex],
    now: Timestamp,
) -> Result<AllocationChange> {
    let (actor, seats) = (world.admin, pick(world, seats));
    world.store.keep_seats(KeepSeats { actor, allocation, seats, now }).await
}

pub(crate) async fn release(
    world: &World,
    allocation: AllocationId,
    seats: Option<&[SeatIndex]>,
    now: Timestamp,
) -> Result<AllocationChange> {
    let (actor, schedule) = (Some(world.admin), world.schedule);
    let seats = seats.map(|seats| pick(world, seats));
    world.store.release_kept(ReleaseKept { actor, schedule, allocation, seats, now }).await
}

async fn states(world: &World) -> Vec<SeatState> {
    let seats = world.store.seats_of(world.schedule).await.unwrap();
    seats.iter().map(|seat| seat.state).collect()
}

async fn indexes_in(world: &World, state: SeatState) -> Vec<SeatIndex> {
    let states = states(world).await;
    (0..).zip(states).filter(|(_, it)| *it == state).map(|(index, _)| index).collect()
}

#[tokio::test]
async fn a_kept_seat_is_refused_to_fans_and_counted_apart() {
    let world = World::new().await;
    let fan = world.fan().await;
    let made = create(&world, "Artist", &[2, 0]).await;
    assert_eq!((made.kept, made.issued), (2, 0));
    let told = refusal(world.hold(&fan, &[0, 1], at(2)).await);
    assert_eq!(told, Refusal::seat_taken(ids(&world, &[0])));
    assert_eq!(indexes_in(&world, SeatState::Kept).await, [0, 2]);
    let kept = &world.store.seats_of(world.schedule).await.unwrap()[0];
    assert_eq!((kept.claim, kept.kept_by), (None, Some(made.id)));
    let free = world.store.free_seats_of(world.schedule).await.unwrap();
    assert!(!free.contains(&0) && free.contains(&1), "the standby list doesn't get kept seats");
    let sales = world.store.seats_by_grade(world.schedule, at(2)).await.unwrap();
    let sum = |of: fn(&podo_app::catalog::port::GradeSales) -> u32| sales.iter().map(of).sum();
    let (available, kept): (u32, u32) = (sum(|it| it.available), sum(|it| it.kept));
    assert_eq!((available, kept), (38, 2));
    let statistics = world.store.statistics(world.schedule).await.unwrap();
    let available: u32 = statistics.iter().map(|it| it.available).sum();
    assert_eq!(available, 38, "reports don't offer kept seats");
    world.finish().await;
}

#[tokio::test]
async fn the_filter_is_reconciled_with_kept_seats() {
    let world = World::new().await;
    let made = create(&world, "Artist", &[3]).await;
    let claims = world.store.claims_of(world.schedule, at(2)).await.unwrap();
    let kept = Claim { fan: keeper(made.id), until: Some(Timestamp::FAR_FUTURE) };
    assert_eq!(claims, [(3, kept)].into());
    world.finish().await;
}

#[tokio::test]
async fn seats_that_are_not_free_are_refused_with_their_list_and_nothing_is_kept() {
    let world = World::new().await;
    let (holder, buyer) = (world.fan().await, world.fan().await);
    world.hold(&holder, &[1], at(1)).await.unwrap();
    world.buy(&buyer, &[2], at(1)).await;
    create(&world, "Sponsor", &[3]).await;
    let command = create_command(&world, terms("Artist"), &[0, 1, 2, 3, 4], at(2));
    let told = refusal(world.store.create_allocation(command).await);
    assert_eq!(told, Refusal::SeatsNotFree { seats: ids(&world, &[1, 2, 3]) });
    let known = world.store.allocations_of(world.schedule).await.unwrap();
    assert_eq!(known.len(), 1, "the allocation isn't created either");
    assert_eq!(indexes_in(&world, SeatState::Kept).await, [3]);
    let made = create(&world, "Artist", &[0]).await;
    let unknown = refusal(keep(&world, made.id, &[4, 99], at(2)).await);
    assert_eq!(unknown, Refusal::NotFound, "a seat that doesn't exist");
    assert_eq!(indexes_in(&world, SeatState::Kept).await, [0, 3]);
    world.finish().await;
}

#[tokio::test]
async fn an_expired_hold_ends_when_its_seat_is_kept_and_keeping_twice_changes_nothing() {
    let world = World::new().await;
    let fan = world.fan().await;
    let held = world.hold(&fan, &[0, 1], at(1)).await.unwrap();
    let made = create(&world, "Artist", &[]).await;
    let a_moment_before = Timestamp::from_ms(held.hold_expires_at.ms() - 1);
    let told = refusal(keep(&world, made.id, &[0], a_moment_before).await);
    assert_eq!(told, Refusal::SeatsNotFree { seats: ids(&world, &[0]) });
    let change = keep(&world, made.id, &[0, 1], held.hold_expires_at).await.unwrap();
    assert_eq!((change.seats, change.freed.len()), (vec![0, 1], 1));
    assert_eq!(world.status(&fan, held.reservation_id).await, ReservationStatus::Expired);
    let again = keep(&world, made.id, &[0, 1, 2], held.hold_expires_at).await.unwrap();
    assert_eq!((again.seats, again.view.kept), (vec![2], 3));
    world.finish().await;
}

#[tokio::test]
async fn some_seats_are_released_or_the_whole_allocation_which_then_ends() {
    let world = World::new().await;
    let fan = world.fan().await;
    let made = create(&world, "Artist", &[0, 1, 2]).await;
    let told = refusal(release(&world, made.id, Some(&[0, 5]), at(2)).await);
    assert_eq!(told, Refusal::SeatsNotKept { seats: ids(&world, &[5]) });
    assert_eq!(indexes_in(&world, SeatState::Kept).await, [0, 1, 2], "all or none");
    let change = release(&world, made.id, Some(&[0]), at(2)).await.unwrap();
    assert_eq!((change.seats, change.view.kept), (vec![0], 2));
    world.hold(&fan, &[0], at(2)).await.unwrap();
    let change = release(&world, made.id, None, at(3)).await.unwrap();
    assert_eq!((change.seats, change.view.released_at), (vec![1, 2], Some(at(3))));
    world.hold(&fan, &[1, 2], at(3)).await.unwrap();
    for told in [
        refusal(release(&world, made.id, None, at(4)).await),
        refusal(keep(&world, made.id, &[4], at(4)).await),
    ] {
        assert_eq!(told, Refusal::AllocationReleased);
    }
    world.finish().await;
}

#[tokio::test]
async fn released_seats_go_to_the_standby_list_first() {
    let world = World::new().await;
    let (waiting, other) = (world.fan().await, world.fan().await);
    let made = create(&world, "Artist", &[0]).await;
    let command = StandBy {
        standby: StandbyId::new(world.id()),
        user: waiting.id,
        schedule: world.schedule,
        grade: "VIP".to_owned(),
        count: 1,
        now: at(2),
    };
    world.store.stand_by(command).await.unwrap();
    release(&world, made.id, None, at(3)).await.unwrap();
    let told = refusal(world.hold(&other, &[0], at(4)).await);
    assert_eq!(told, Refusal::seat_taken(ids(&world, &[0])));
    assert!(world.store.free_seats_of(world.schedule).await.unwrap().contains(&0));
    world.hold(&other, &[0], at(3).plus(KEPT_FOR)).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn a_release_is_due_at_its_time_and_once() {
    let world = World::new().await;
    let release_at = Some(at(60));
    let command = create_command(&world, AllocationTerms { release_at, ..terms("A") }, &[0], at(1));
    let made = world.store.create_allocation(command).await.unwrap().view;
    let due = async |now| world.store.releases_due(now, 10).await.unwrap();
    assert_eq!(due(at(59)).await, []);
    let expected = DueRelease { allocation: made.id, schedule: world.schedule };
    assert_eq!(due(at(60)).await, [expected]);
    release(&world, made.id, None, at(60)).await.unwrap();
    assert_eq!(due(at(61)).await, []);
    world.finish().await;
}

#[tokio::test]
async fn terms_that_make_no_sense_are_refused_with_their_field() {
    let world = World::new().await;
    let made = create(&world, "Artist", &[]).await;
    let late = AllocationTerms { release_at: Some(at(SALE_S)), ..terms("B") };
    let never =
        AllocationTerms { kind: AllocationKind::Never, release_at: Some(at(60)), ..terms("C") };
    for terms in [late, never] {
        let told =
            refusal(world.store.create_allocation(create_command(&world, terms, &[], at(1))).await);
        assert_eq!(told, Refusal::InvalidAllocation { field: "releaseAt" });
    }
    let same = create_command(&world, terms("Artist"), &[], at(1));
    assert_eq!(refusal(world.store.create_allocation(same).await), Refusal::AllocationExists);
    let other = create(&world, "Sponsor", &[]).await;
    let rename = |allocation, name| ChangeAllocation {
        actor: world.admin,
        schedule: world.schedule,
        allocation,
        terms: terms(name),
        now: at(2),
    };
    let told = refusal(world.store.change_allocation(rename(other.id, "Artist")).await);
    assert_eq!(told, Refusal::AllocationExists);
    let renamed = world.store.change_allocation(rename(made.id, "Sponsors")).await.unwrap();
    assert_eq!(renamed.name, "Sponsors");
    let unknown = AllocationId::new(world.id());
    assert_eq!(refusal(keep(&world, unknown, &[0], at(2)).await), Refusal::NotFound);
    world.finish().await;
}

#[tokio::test]
async fn a_date_whose_allocations_never_kept_a_seat_can_be_removed() {
    let world = World::new().await;
    create(&world, "Artist", &[]).await;
    let what = Unwanted::Schedule(world.schedule);
    world.store.remove(Remove { actor: world.admin, what, now: at(2) }).await.unwrap();
    world.finish().await;
}

/// Fans reach for seats while an organiser keeps and releases the same ones.
async fn keep_while_fans_hold(off: Vec<Guard>) -> World {
    let is_guarded = off.is_empty();
    let world = World::planned(Plan { off, seats_per_person: 10, ..Plan::default() }).await;
    let fans = world.fans(40).await;
    let made = create(&world, "Artist", &[]).await;
    let organiser = async {
        for round in 0..10 {
            for index in 0..20 {
                // The loser of a race for a seat is refused.
                let _ = keep(&world, made.id, &[index], at(1)).await;
            }
            if round < 9 {
                let kept = indexes_in(&world, SeatState::Kept).await;
                if !kept.is_empty() {
                    let released = release(&world, made.id, Some(&kept), at(1)).await;
                    assert!(released.is_ok() || !is_guarded, "{released:?}");
                }
            }
        }
    };
    let holds = (0..).zip(&fans).map(|(number, fan)| {
        let seat: SeatIndex = number % 20;
        let world = &world;
        async move {
            for seat in [seat, 39 - seat] {
                match world.hold(fan, &[seat], at(1)).await {
                    Ok(_) | Err(Error::Refused(Refusal::SeatTaken { .. })) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
    });
    tokio::join!(organiser, join_all(holds));
    world
}

#[tokio::test]
async fn of_a_fan_and_an_organiser_who_reach_for_a_seat_exactly_one_gets_it() {
    let world = keep_while_fans_hold(Vec::new()).await;
    let states = states(&world).await;
    assert!(states[..20].iter().all(|it| matches!(it, SeatState::Held | SeatState::Kept)));
    let allocated = world.store.allocated_seats(world.schedule).await.unwrap();
    let listed: Vec<SeatIndex> = allocated.iter().map(|it| it.seat_id.index()).collect();
    assert_eq!(listed, indexes_in(&world, SeatState::Kept).await);
    world.finish().await;
}

/// The control of the race: without the comparison fans and the organiser get the same seats.
#[tokio::test]
async fn without_the_comparison_fans_and_an_organiser_get_the_same_seats() {
    let world = keep_while_fans_hold(vec![Guard::SeatIsCompared]).await;
    let found = broken(&world.store, at(1)).await;
    assert!(found.iter().any(|it| ["I1", "I2", "I29"].contains(it)), "{found:?}");
    world.abandon("seats are kept and held at once");
}

/// The control: without the comparison fans get kept seats, and the invariants say so.
#[tokio::test]
async fn without_the_comparison_kept_seats_are_sold_and_the_invariants_say_so() {
    let world = World::planned(Plan { off: vec![Guard::SeatIsCompared], ..Plan::default() }).await;
    let fan = world.fan().await;
    create(&world, "Artist", &[0]).await;
    world.hold(&fan, &[0], at(2)).await.unwrap();
    assert_eq!(broken(&world.store, at(2)).await, ["I29"]);
    world.abandon("a kept seat is held by a fan");
}

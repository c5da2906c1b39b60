//! The contract of every seat filter. Each rule uses a fresh schedule derived from `seed`, so that
//! the suite can run repeatedly against a shared engine.

use crate::booking::port::seat_filter::{Correction, SeatFilter, Taken};
use podo_domain::booking::reconciliation::FilterHold;
use podo_domain::booking::seats::SeatPick;
use podo_domain::id::SeatIndex;
use podo_domain::{ScheduleId, Timestamp, UserId};
use std::time::Duration;
use uuid::Uuid;

/// Runs every rule. `seed` must differ between runs if the engine outlives them.
pub async fn check(holds: &dyn SeatFilter, seed: u64, now: Timestamp) {
    a_free_seat_is_taken_and_a_taken_one_is_not(holds, seed, now).await;
    a_pick_is_all_or_nothing(holds, seed, now).await;
    the_filter_reports_a_fans_own_seats_as_theirs(holds, seed, now).await;
    a_hold_past_its_time_is_as_good_as_gone(holds, seed, now).await;
    only_the_owner_releases_a_hold(holds, seed, now).await;
    what_the_database_decided_replaces_what_the_filter_thought(holds, seed, now).await;
    schedules_do_not_disturb_each_other(holds, seed, now).await;
    the_live_holds_can_be_listed(holds, seed, now).await;
    a_correction_compares_before_it_sets(holds, seed, now).await;
}

const HOLD: Duration = Duration::from_secs(300);

fn schedule(seed: u64, rule: u64) -> ScheduleId {
    ScheduleId::with_room_for_seats(Uuid::from_u128(
        (u128::from(seed) << 64) | (u128::from(rule) << 32),
    ))
}

fn fan(number: u64) -> UserId {
    UserId::new(Uuid::from_u128(u128::from(number)))
}

fn pick(schedule: ScheduleId, seats: &[SeatIndex]) -> SeatPick {
    let seats: Vec<_> = seats.iter().map(|index| schedule.seat(*index)).collect();
    SeatPick::new(schedule, &seats).expect("the picks of the contract are valid")
}

async fn take(
    holds: &dyn SeatFilter,
    schedule: ScheduleId,
    seats: &[SeatIndex],
    fan: UserId,
    now: Timestamp,
) -> Taken {
    let taken = holds.take(&pick(schedule, seats), fan, now.plus(HOLD), now).await;
    taken.expect("the engine answers")
}

fn blocked(seats: &[SeatIndex], by_self: bool) -> Taken {
    Taken::Blocked { seats: seats.to_vec(), by_self }
}

pub async fn a_free_seat_is_taken_and_a_taken_one_is_not(
    holds: &dyn SeatFilter,
    seed: u64,
    now: Timestamp,
) {
    let schedule = schedule(seed, 1);
    assert_eq!(take(holds, schedule, &[7], fan(1), now).await, Taken::Yes, "the seat is free");
    let second = take(holds, schedule, &[7], fan(2), now).await;
    assert_eq!(second, blocked(&[7], false), "the second fan is refused");
}

pub async fn a_pick_is_all_or_nothing(holds: &dyn SeatFilter, seed: u64, now: Timestamp) {
    let schedule = schedule(seed, 2);
    assert_eq!(take(holds, schedule, &[3], fan(1), now).await, Taken::Yes, "the seat is free");
    let partly = take(holds, schedule, &[1, 2, 3, 4], fan(2), now).await;
    assert_eq!(partly, blocked(&[3], false), "only the taken seat is named");
    let rest = take(holds, schedule, &[1, 2, 4], fan(3), now).await;
    assert_eq!(rest, Taken::Yes, "a pick that failed leaves no seat behind");
}

pub async fn the_filter_reports_a_fans_own_seats_as_theirs(
    holds: &dyn SeatFilter,
    seed: u64,
    now: Timestamp,
) {
    let schedule = schedule(seed, 3);
    take(holds, schedule, &[1], fan(1), now).await;
    take(holds, schedule, &[2], fan(2), now).await;
    let own = take(holds, schedule, &[1, 5], fan(1), now).await;
    assert_eq!(own, blocked(&[1], true), "the fan holds the seat already");
    let mixed = take(holds, schedule, &[1, 2], fan(1), now).await;
    assert_eq!(mixed, blocked(&[1, 2], false), "one of them belongs to another fan");
}

pub async fn a_hold_past_its_time_is_as_good_as_gone(
    holds: &dyn SeatFilter,
    seed: u64,
    now: Timestamp,
) {
    let schedule = schedule(seed, 4);
    take(holds, schedule, &[1], fan(1), now).await;
    let last = now.plus(HOLD).minus(Duration::from_millis(1));
    let early = take(holds, schedule, &[1], fan(2), last).await;
    assert_eq!(early, blocked(&[1], false), "the hold lives to its last millisecond");
    let late = take(holds, schedule, &[1], fan(2), now.plus(HOLD)).await;
    assert_eq!(late, Taken::Yes, "at its end another fan can take the seat");
}

pub async fn only_the_owner_releases_a_hold(holds: &dyn SeatFilter, seed: u64, now: Timestamp) {
    let schedule = schedule(seed, 5);
    take(holds, schedule, &[1, 2], fan(1), now).await;
    holds.release(schedule, &[1, 2], fan(2)).await.expect("the engine answers");
    let still = take(holds, schedule, &[1], fan(2), now).await;
    assert_eq!(still, blocked(&[1], false), "a stranger cannot release a hold");
    holds.release(schedule, &[1, 2, 3], fan(1)).await.expect("the engine answers");
    let free = take(holds, schedule, &[1, 2], fan(2), now).await;
    assert_eq!(free, Taken::Yes, "released seats are free at once");
}

pub async fn what_the_database_decided_replaces_what_the_filter_thought(
    holds: &dyn SeatFilter,
    seed: u64,
    now: Timestamp,
) {
    let schedule = schedule(seed, 6);
    take(holds, schedule, &[1], fan(1), now).await;
    let kept = holds.keep(schedule, &[1, 2], fan(2), Timestamp::FAR_FUTURE).await;
    kept.expect("the engine answers");
    let year = now.plus(Duration::from_secs(365 * 24 * 3600));
    let sold = take(holds, schedule, &[1, 2], fan(1), year).await;
    assert_eq!(sold, blocked(&[1, 2], false), "a sold seat stays taken");
    holds.release(schedule, &[1], fan(1)).await.expect("the engine answers");
    let sold = take(holds, schedule, &[1], fan(3), now).await;
    assert_eq!(sold, blocked(&[1], false), "the first holder has nothing left to release");
    holds.release(schedule, &[1], fan(2)).await.expect("the engine answers");
    let back = take(holds, schedule, &[1], fan(3), now).await;
    assert_eq!(back, Taken::Yes, "a sold seat that is given back is free");
}

pub async fn schedules_do_not_disturb_each_other(
    holds: &dyn SeatFilter,
    seed: u64,
    now: Timestamp,
) {
    take(holds, schedule(seed, 7), &[1], fan(1), now).await;
    let other = take(holds, schedule(seed, 8), &[1], fan(2), now).await;
    assert_eq!(other, Taken::Yes, "the same seat of another date is another seat");
}

pub async fn the_live_holds_can_be_listed(holds: &dyn SeatFilter, seed: u64, now: Timestamp) {
    let schedule = schedule(seed, 9);
    let known = async |now| holds.known(schedule, now).await.expect("the engine answers");
    assert!(known(now).await.is_empty(), "nothing is held yet");
    take(holds, schedule, &[1, 70_000], fan(1), now).await;
    let kept = holds.keep(schedule, &[2], fan(2), Timestamp::FAR_FUTURE).await;
    kept.expect("the engine answers");
    let held = FilterHold { fan: fan(1), until: now.plus(HOLD) };
    let sold = FilterHold { fan: fan(2), until: Timestamp::FAR_FUTURE };
    let expected = [(1, held), (2, sold), (70_000, held)];
    assert_eq!(known(now).await.into_iter().collect::<Vec<_>>(), expected);
    let later = known(now.plus(HOLD)).await;
    assert_eq!(later.into_iter().collect::<Vec<_>>(), [(2, sold)], "an expired hold is gone");
}

pub async fn a_correction_compares_before_it_sets(
    holds: &dyn SeatFilter,
    seed: u64,
    now: Timestamp,
) {
    let schedule = schedule(seed, 10);
    let hold = |number| FilterHold { fan: fan(number), until: now.plus(HOLD) };
    let correct = async |corrections: &[Correction], now| {
        holds.correct(schedule, corrections, now).await.expect("the engine answers")
    };
    take(holds, schedule, &[1, 2], fan(1), now).await;
    let free = |seat, seen| Correction { seat, seen, right: None };
    let set = |seat, seen, right| Correction { seat, seen, right: Some(right) };
    let late = [free(1, Some(hold(2))), free(2, None), set(1, None, hold(3))];
    assert_eq!(correct(&late, now).await, 0, "nothing is as it was seen");
    let right = [free(1, Some(hold(1))), set(2, Some(hold(1)), hold(2)), set(3, None, hold(3))];
    assert_eq!(correct(&right, now).await, 3, "everything is as it was seen");
    let known = holds.known(schedule, now).await.expect("the engine answers");
    assert_eq!(known.into_iter().collect::<Vec<_>>(), [(2, hold(2)), (3, hold(3))]);
    let past = set(2, None, FilterHold { fan: fan(4), until: Timestamp::FAR_FUTURE });
    assert_eq!(correct(&[past], now.plus(HOLD)).await, 1, "an expired hold counts as none");
}

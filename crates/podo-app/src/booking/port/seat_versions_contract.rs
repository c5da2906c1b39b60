//! The contract of every engine of seat versions.

use crate::booking::port::seat_versions::{SeatVersions, Since};
use podo_domain::ScheduleId;
use podo_domain::id::SeatIndex;
use uuid::Uuid;

/// Runs every rule. `seed` must differ between runs if the engine outlives them.
pub async fn check(versions: &dyn SeatVersions, seed: u64) {
    every_change_is_a_version_of_its_own(versions, schedule(seed, 1), schedule(seed, 2)).await;
    every_seat_since_a_version_is_named(versions, schedule(seed, 3)).await;
    changes_too_long_ago_are_not_reported(versions, schedule(seed, 4)).await;
}

fn schedule(seed: u64, number: u128) -> ScheduleId {
    let id = Uuid::from_u128((u128::from(seed) << 64) | (number << 32));
    ScheduleId::with_room_for_seats(id)
}

async fn version(versions: &dyn SeatVersions, schedule: ScheduleId) -> u64 {
    versions.version(schedule).await.expect("the engine answers")
}

async fn bump(versions: &dyn SeatVersions, schedule: ScheduleId, seats: &[SeatIndex]) {
    versions.bump(schedule, seats).await.expect("the engine answers");
}

async fn since(versions: &dyn SeatVersions, schedule: ScheduleId, version: u64) -> Since {
    versions.since(schedule, version).await.expect("the engine answers")
}

pub async fn every_change_is_a_version_of_its_own(
    versions: &dyn SeatVersions,
    ours: ScheduleId,
    other: ScheduleId,
) {
    let mut seen = vec![version(versions, ours).await];
    assert_eq!(version(versions, ours).await, seen[0], "asking changes nothing");
    let others = version(versions, other).await;
    for seat in 0..100 {
        bump(versions, ours, &[seat]).await;
        let now = version(versions, ours).await;
        assert!(!seen.contains(&now), "every change is a version of its own");
        seen.push(now);
    }
    assert_eq!(version(versions, other).await, others, "another date's seats did not change");
}

pub async fn every_seat_since_a_version_is_named(versions: &dyn SeatVersions, ours: ScheduleId) {
    bump(versions, ours, &[1]).await;
    let first = version(versions, ours).await;
    let nothing = Since { version: first, seats: Some(Vec::new()) };
    assert_eq!(since(versions, ours, first).await, nothing, "nothing happened");
    bump(versions, ours, &[2, 70_000]).await;
    bump(versions, ours, &[3]).await;
    let told = since(versions, ours, first).await;
    assert_eq!(told.version, version(versions, ours).await);
    assert_eq!(told.seats, Some(vec![2, 70_000, 3]));
    assert_eq!(since(versions, ours, told.version).await.seats, Some(Vec::new()));
}

pub async fn changes_too_long_ago_are_not_reported(versions: &dyn SeatVersions, ours: ScheduleId) {
    let never = since(versions, ours, 7).await;
    assert_eq!(never.seats, None, "this version never existed");
    bump(versions, ours, &[0]).await;
    let before = version(versions, ours).await;
    for round in 0..3_000 {
        let seats: Vec<SeatIndex> = (round..round + 40).collect();
        bump(versions, ours, &seats).await;
    }
    let told = since(versions, ours, before).await;
    if let Some(seats) = told.seats {
        assert_eq!(seats.len(), 3_000 * 40, "all of it or nothing");
    }
}

//! What every engine of versions must do.

use super::SeatVersions;
use domain::ScheduleId;
use uuid::Uuid;

/// Runs every rule. `seed` differs from run to run when the engine outlives the run.
pub async fn check(versions: &dyn SeatVersions, seed: u64) {
    let schedule = |number: u128| {
        let id = Uuid::from_u128((u128::from(seed) << 64) | (number << 32));
        ScheduleId::with_room_for_seats(id)
    };
    let (ours, other) = (schedule(1), schedule(2));
    let version = async |schedule| versions.version(schedule).await.expect("the engine answers");
    let bump = async |schedule| versions.bump(schedule).await.expect("the engine answers");

    let mut seen = vec![version(ours).await];
    assert_eq!(version(ours).await, seen[0], "asking changes nothing");
    let others = version(other).await;
    for _ in 0..100 {
        bump(ours).await;
        let now = version(ours).await;
        assert!(!seen.contains(&now), "every change is a version of its own");
        seen.push(now);
    }
    assert_eq!(version(other).await, others, "another date's seats did not change");
}

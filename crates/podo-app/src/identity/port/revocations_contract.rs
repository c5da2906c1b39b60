//! The contract of every engine of revocations. Each rule uses fresh sessions derived from `seed`,
//! so that the suite can run repeatedly against a shared engine.

use crate::identity::port::revocations::Revocations;
use podo_domain::{SessionId, Timestamp};
use std::time::Duration;
use uuid::Uuid;

/// Runs every rule. `seed` must differ between runs if the engine outlives them.
pub async fn check(revocations: &dyn Revocations, seed: u64, now: Timestamp) {
    a_session_is_good_until_it_is_revoked(revocations, seed, now).await;
    a_revoked_session_stays_revoked_to_its_end(revocations, seed, now).await;
    revoking_again_never_shortens(revocations, seed, now).await;
    many_revocations_do_not_push_each_other_out(revocations, seed, now).await;
}

const TTL: Duration = Duration::from_secs(900);

fn session(seed: u64, number: u64) -> SessionId {
    SessionId::new(Uuid::from_u128((u128::from(seed) << 64) | u128::from(number)))
}

async fn revoke(revocations: &dyn Revocations, session: SessionId, until: Timestamp) {
    revocations.revoke(session, until).await.expect("the engine answers");
}

async fn is_revoked(revocations: &dyn Revocations, session: SessionId, now: Timestamp) -> bool {
    revocations.is_revoked(session, now).await.expect("the engine answers")
}

pub async fn a_session_is_good_until_it_is_revoked(
    revocations: &dyn Revocations,
    seed: u64,
    now: Timestamp,
) {
    let (one, other) = (session(seed, 1), session(seed, 2));
    assert!(!is_revoked(revocations, one, now).await, "this session has not ended");
    revoke(revocations, one, now.plus(TTL)).await;
    assert!(is_revoked(revocations, one, now).await, "a revoked session is out at once");
    assert!(!is_revoked(revocations, other, now).await, "another session goes on");
}

pub async fn a_revoked_session_stays_revoked_to_its_end(
    revocations: &dyn Revocations,
    seed: u64,
    now: Timestamp,
) {
    let session = session(seed, 3);
    let until = now.plus(TTL);
    revoke(revocations, session, until).await;
    let last = until.minus(Duration::from_millis(1));
    assert!(is_revoked(revocations, session, last).await, "its last access token is still valid");
}

pub async fn revoking_again_never_shortens(
    revocations: &dyn Revocations,
    seed: u64,
    now: Timestamp,
) {
    let session = session(seed, 4);
    revoke(revocations, session, now.plus(TTL)).await;
    revoke(revocations, session, now.plus(TTL / 3)).await;
    let revoked = is_revoked(revocations, session, now.plus(TTL / 2)).await;
    assert!(revoked, "the later of the two ends counts");
}

pub async fn many_revocations_do_not_push_each_other_out(
    revocations: &dyn Revocations,
    seed: u64,
    now: Timestamp,
) {
    for number in 1_000..2_000 {
        revoke(revocations, session(seed, number), now.plus(TTL)).await;
    }
    for number in 1_000..2_000 {
        let revoked = is_revoked(revocations, session(seed, number), now).await;
        assert!(revoked, "revocation {number} of a thousand is remembered");
    }
}

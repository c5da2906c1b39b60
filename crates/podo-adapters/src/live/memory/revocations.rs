//! Revoked sessions in memory, each until its last access token has expired.

use async_trait::async_trait;
use podo_app::Result;
use podo_app::error::Error;
use podo_app::identity::port::revocations;
use podo_domain::{SessionId, Timestamp};
use std::collections::{BTreeSet, HashMap};
use std::sync::RwLock;
use std::sync::atomic::{AtomicI64, Ordering};

/// Each revocation removes up to this many expired ones, which spreads the cost.
const N_FORGOTTEN_PER_REVOCATION: usize = 8;

#[derive(Default)]
pub struct Revocations {
    sessions: RwLock<Sessions>,
    /// The time of the last query, because `revoke` doesn't get the time.
    last_asked_ms: AtomicI64,
}

#[derive(Default)]
struct Sessions {
    until: HashMap<SessionId, Timestamp>,
    by_end: BTreeSet<(Timestamp, SessionId)>,
}

impl Sessions {
    fn revoke(&mut self, session: SessionId, until: Timestamp) {
        let before = self.until.get(&session).copied();
        if before.is_some_and(|before| until <= before) {
            return;
        }
        if let Some(before) = before {
            self.by_end.remove(&(before, session));
        }
        self.until.insert(session, until);
        self.by_end.insert((until, session));
    }

    fn forget(&mut self, now: Timestamp) {
        for _ in 0..N_FORGOTTEN_PER_REVOCATION {
            match self.by_end.first().copied() {
                Some((until, session)) if until <= now => {
                    self.by_end.remove(&(until, session));
                    self.until.remove(&session);
                }
                Some(_) | None => return,
            }
        }
    }
}

#[async_trait]
impl revocations::Revocations for Revocations {
    async fn revoke(&self, session: SessionId, until: Timestamp) -> Result<()> {
        let now = Timestamp::from_ms(self.last_asked_ms.load(Ordering::Relaxed));
        let mut sessions = self.sessions.write().map_err(Error::broken)?;
        sessions.forget(now);
        sessions.revoke(session, until);
        Ok(())
    }

    async fn is_revoked(&self, session: SessionId, now: Timestamp) -> Result<bool> {
        self.last_asked_ms.store(now.ms(), Ordering::Relaxed);
        let sessions = self.sessions.read().map_err(Error::broken)?;
        Ok(sessions.until.get(&session).is_some_and(|until| now < *until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podo_app::identity::port::revocations::Revocations as _;
    use std::time::Duration;
    use uuid::Uuid;

    const START: Timestamp = Timestamp::from_ms(1_900_000_000_000);

    #[tokio::test]
    async fn keeps_the_contract() {
        revocations::contract::check(&Revocations::default(), 1, START).await;
    }

    #[tokio::test]
    async fn what_is_over_is_forgotten() {
        let engine = Revocations::default();
        for second in 0..1_000 {
            let now = START.plus(Duration::from_secs(second));
            let session = SessionId::new(Uuid::from_u128(second.into()));
            assert!(!engine.is_revoked(session, now).await.unwrap());
            engine.revoke(session, now.plus(Duration::from_secs(10))).await.unwrap();
        }
        let sessions = engine.sessions.read().unwrap();
        assert!(sessions.until.len() <= 11 && sessions.by_end.len() == sessions.until.len());
    }
}

//! Time and randomness are ports, so that tests and the simulator can control them.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::Timestamp;
use uuid::Uuid;

pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}

/// The one clock that all nodes can query.
#[async_trait]
pub trait ReferenceClock: Send + Sync {
    /// Its time; `None` if it's the querying machine's own clock.
    async fn shared_time(&self) -> Result<Option<Timestamp>>;
}

pub trait Rng: Send + Sync {
    /// Fills the bytes from an unpredictable source.
    fn fill(&self, bytes: &mut [u8]);

    /// A fresh id that sorts by `now`.
    fn id(&self, now: Timestamp) -> Uuid {
        let mut random = [0; 10];
        self.fill(&mut random);
        let ms = u64::try_from(now.ms()).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(ms, &random).into_uuid()
    }

    fn number(&self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// 256 bits for a secret.
    fn secret(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        self.fill(&mut bytes);
        bytes
    }
}

//! A clock that all nodes share and that runs a hundred times faster than real time: holds expire
//! and unknown payments are voided within a second or two.

use podo_adapters::clock::SystemClock;
use podo_app::operations::port::clock::Clock;
use podo_domain::Timestamp;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

const TICK: Duration = Duration::from_millis(2);
const TICK_MS: i64 = 200;

pub(crate) struct FastClock {
    now_ms: AtomicI64,
}

impl FastClock {
    pub(crate) fn start() -> FastClock {
        FastClock { now_ms: AtomicI64::new(SystemClock.now().ms()) }
    }

    /// Runs forever. On a busy machine it slows down together with everything else.
    pub(crate) async fn run(&self) {
        loop {
            tokio::time::sleep(TICK).await;
            self.now_ms.fetch_add(TICK_MS, Ordering::SeqCst);
        }
    }

    pub(crate) async fn sleep_until(&self, moment: Timestamp) {
        while self.now() < moment {
            tokio::time::sleep(TICK).await;
        }
    }
}

impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.now_ms.load(Ordering::SeqCst))
    }
}

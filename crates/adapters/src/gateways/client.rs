//! The only one that talks to gateways: time limits, careful repeats, and rest for the broken.

use super::breaker::Breaker;
use super::transport::{Failure, Https, Transport};
use super::wire::{Call, Reply};
use app::ports::clock::Chance;
use domain::Timestamp;
use std::sync::Arc;
use std::time::Duration;

const TRIES_MAX: u32 = 3;

/// Pause before the first repeat; the next is four times as long.
const PAUSE_MS: u64 = 200;

/// How a call went.
pub(crate) enum Sent {
    Answered(Reply),
    /// It may have arrived.
    Lost,
    /// It certainly did not arrive.
    Nowhere,
}

pub(crate) struct Client {
    transport: Arc<dyn Transport>,
    breaker: Breaker,
    chance: Arc<dyn Chance>,
    name: &'static str,
}

impl Client {
    pub(crate) fn new(
        name: &'static str,
        patience: Duration,
        chance: Arc<dyn Chance>,
    ) -> Result<Client, String> {
        Ok(Client::over(Arc::new(Https::new(patience)?), name, chance))
    }

    pub(super) fn over(
        transport: Arc<dyn Transport>,
        name: &'static str,
        chance: Arc<dyn Chance>,
    ) -> Client {
        Client { transport, breaker: Breaker::default(), chance, name }
    }

    /// Whether the gateway is being left alone.
    pub(super) fn is_resting(&self, now: Timestamp) -> bool {
        !self.breaker.lets_through(now)
    }

    pub(crate) async fn send(&self, call: &Call, now: Timestamp) -> Sent {
        if self.is_resting(now) {
            return Sent::Nowhere;
        }
        let n_tries = if call.may_repeat { TRIES_MAX } else { 1 };
        let mut may_have_arrived = false;
        for n_try in 1..=n_tries {
            let is_last = n_try == n_tries;
            match self.transport.send(call).await {
                Ok(reply) if is_last || !is_passing(&reply) => {
                    self.breaker.note(reply.status < 500, now);
                    return Sent::Answered(reply);
                }
                Ok(_) | Err(Failure::Cut) => may_have_arrived = true,
                Err(Failure::NotSent) => {}
                Err(Failure::TimedOut) => {
                    may_have_arrived = true;
                    break;
                }
            }
            if !is_last {
                self.pause(n_try).await;
            }
        }
        self.breaker.note(false, now);
        tracing::warn!(gateway = self.name, "A gateway did not answer");
        if may_have_arrived { Sent::Lost } else { Sent::Nowhere }
    }

    async fn pause(&self, n_try: u32) {
        let base = PAUSE_MS * 4_u64.pow(n_try - 1);
        let jitter = self.chance.number() % base;
        self.transport.pause(Duration::from_millis(base + jitter)).await;
    }
}

/// Worth asking again for: a fault of theirs, or the first try of ours still running there.
fn is_passing(reply: &Reply) -> bool {
    reply.status >= 500 || (reply.status == 409 && reply.text.contains("IDEMPOTEN"))
}

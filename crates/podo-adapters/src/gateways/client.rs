//! The HTTP client for gateways, with timeouts, safe retries and the circuit breaker.

pub(super) mod breaker;
pub mod transport;

use crate::gateways::protocol::{Call, Reply};
use breaker::Breaker;
use podo_app::operations::port::clock::Rng;
use podo_domain::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use transport::{Failure, Https, Transport};

const TRIES_MAX: u32 = 3;

/// Pause before the first retry; the next is four times as long.
const PAUSE_MS: u64 = 200;

/// The result of a call.
pub(crate) enum Sent {
    Answered(Reply),
    /// The request may have arrived.
    Lost,
    /// The request didn't arrive.
    Nowhere,
}

pub(crate) struct Client {
    transport: Arc<dyn Transport>,
    breaker: Breaker,
    rng: Arc<dyn Rng>,
    name: &'static str,
}

impl Client {
    pub(crate) fn new(
        name: &'static str,
        patience: Duration,
        rng: Arc<dyn Rng>,
    ) -> Result<Client, String> {
        Ok(Client::over(Arc::new(Https::new(patience)?), name, rng))
    }

    pub(super) fn over(
        transport: Arc<dyn Transport>,
        name: &'static str,
        rng: Arc<dyn Rng>,
    ) -> Client {
        Client { transport, breaker: Breaker::default(), rng, name }
    }

    /// Whether the circuit is open.
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
        tracing::warn!(gateway = self.name, "Gateway did not answer");
        if may_have_arrived { Sent::Lost } else { Sent::Nowhere }
    }

    async fn pause(&self, n_try: u32) {
        let base = PAUSE_MS * 4_u64.pow(n_try - 1);
        let jitter = self.rng.number() % base;
        self.transport.pause(Duration::from_millis(base + jitter)).await;
    }
}

/// Whether a retry may help: a server error, or our first attempt is still in progress there.
fn is_passing(reply: &Reply) -> bool {
    let is_in_progress = || ["IDEMPOTEN", "idempoten"].iter().any(|it| reply.text.contains(it));
    reply.status >= 500 || (reply.status == 409 && is_in_progress())
}

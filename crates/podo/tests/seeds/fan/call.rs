//! Calls to nodes: some are made twice concurrently, some are dropped midway by a node that dies,
//! and then retried with the same key on another.

use crate::coverage::Moment;
use crate::fan::Fan;
use futures::future::{BoxFuture, join};
use podo_app::{AppContext, Error, Result};
use podo_domain::Refusal;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// A call is dropped within this many microseconds.
const DROPPED_WITHIN_US: u64 = 30_000;

/// How long after the end of the sale a fan still asks for the outcome of a request, by the fast
/// clock.
const CURIOUS: Duration = Duration::from_secs(600);

/// What a call returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Saw {
    /// The same response for the same key.
    Answers,
    /// The current state.
    Views,
}

impl Fan {
    /// Repeats the same call until there is a definite response.
    pub(super) async fn ask(
        &mut self,
        what: &'static str,
        saw: Saw,
        request: impl Fn(Arc<AppContext>) -> BoxFuture<'static, Result<Value>>,
    ) -> Option<std::result::Result<Value, Refusal>> {
        let sale = self.sale.clone();
        while sale.now() < sale.closing.plus(CURIOUS) {
            match self.try_to_ask(what, saw, &request).await {
                Some(Ok(answer)) => return Some(Ok(answer)),
                Some(Err(Error::Refused(Refusal::KeyRunning))) => {
                    sale.saw(Moment::KeyRunning);
                    self.pause(20, 80).await;
                }
                Some(Err(Error::Refused(refusal))) => return Some(Err(refusal)),
                Some(Err(Error::Broken(why))) => {
                    sale.ensure(false, || format!("{what} is broken: {why}"));
                    return None;
                }
                Some(Err(Error::Unavailable(_) | Error::Conflict(_))) | None => {}
            }
            self.pause(0, 5).await;
        }
        None
    }

    async fn try_to_ask(
        &mut self,
        what: &'static str,
        saw: Saw,
        request: &impl Fn(Arc<AppContext>) -> BoxFuture<'static, Result<Value>>,
    ) -> Option<Result<Value>> {
        let sale = self.sale.clone();
        let node = |index: usize| sale.cluster.nodes[index].context.clone();
        let first = node(sale.any_node(&mut self.rng));
        if sale.is_on_sale() && self.rng.happens(sale.plan.drops) {
            let lives = Duration::from_micros(self.rng.below(DROPPED_WITHIN_US));
            let answer = tokio::time::timeout(lives, request(first)).await;
            if answer.is_err() {
                sale.saw(Moment::CallDropped);
            }
            return answer.ok();
        }
        if !self.rng.happens(sale.plan.repeats) {
            return Some(request(first).await);
        }
        let other = node(sale.any_node(&mut self.rng));
        let late = self.rng.ms(0, 4);
        let repeat = async {
            tokio::time::sleep(late).await;
            request(other).await
        };
        let (one, other) = join(request(first), repeat).await;
        if let (Ok(one), Ok(other), Saw::Answers) = (&one, &other, saw) {
            sale.ensure(one == other, || format!("I13 {what}: {one} and {other}"));
            sale.saw(Moment::AnsweredAlike);
        }
        Some(if one.is_ok() { one } else { other })
    }
}

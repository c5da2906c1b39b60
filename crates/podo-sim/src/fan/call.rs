//! Calls over the network: a node completes a request even if the caller has gone, and the answer
//! may be lost.

use crate::check::coverage::Coverage;
use crate::fan::Fan;
use crate::time::Owner;
use crate::world::World;
use futures::channel::oneshot;
use futures::future::{BoxFuture, Either, select};
use podo_app::operations::port::clock::Clock;
use podo_app::{AppContext, Error, Result};
use podo_domain::{Refusal, UserId};
use std::sync::Arc;
use std::time::Duration;

/// How long a fan's page waits for an answer.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long after the end of the sale a fan still queries a request's outcome.
const CURIOUS: Duration = Duration::from_secs(300);

type Answering<T> = BoxFuture<'static, Result<T>>;

impl World {
    /// One attempt at any node; none if no answer came.
    pub(crate) async fn call<T: Send + 'static>(
        self: &Arc<World>,
        request: impl FnOnce(Arc<AppContext>) -> Answering<T>,
    ) -> Option<Result<T>> {
        let world = self;
        let is_lost = || world.is_rough() && world.rng.happens(world.swarm.network_loses);
        let (node, context) = world.any_node()?;
        if is_lost() {
            return None;
        }
        let (send, receive) = oneshot::channel();
        let answering = request(context);
        world.time.spawn(Owner::Node(node), async move {
            let _ = send.send(answering.await);
        });
        let answer = match select(receive, world.time.sleep(PATIENCE)).await {
            Either::Left((answer, _)) => answer.ok()?,
            Either::Right(_) => return None,
        };
        if is_lost() {
            world.saw(Coverage::AnswerLost);
            return None;
        }
        Some(answer)
    }
}

impl Fan {
    /// Repeats the same request until there is a conclusive answer.
    pub(super) async fn insist<T: Send + 'static>(
        &self,
        what: &'static str,
        request: impl Fn(Arc<AppContext>) -> Answering<T>,
    ) -> Option<std::result::Result<T, Refusal>> {
        self.world.insist(self.user, what, request).await
    }
}

impl World {
    /// Repeats the same request of a fan or of the organiser until there is a conclusive answer.
    pub(crate) async fn insist<T: Send + 'static>(
        self: &Arc<World>,
        user: UserId,
        what: &'static str,
        request: impl Fn(Arc<AppContext>) -> Answering<T>,
    ) -> Option<std::result::Result<T, Refusal>> {
        let world = self;
        while world.time.now() < world.closing().plus(CURIOUS) {
            let answer = world.call(&request).await;
            world.note(|| {
                let said = match &answer {
                    None => "no answer".to_owned(),
                    Some(Ok(_)) => "done".to_owned(),
                    Some(Err(error)) => error.to_string(),
                };
                format!("{user} asks for {what}: {said}")
            });
            match answer {
                Some(Ok(answer)) => return Some(Ok(answer)),
                Some(Err(Error::Refused(Refusal::KeyRunning))) => world.saw(Coverage::KeyRunning),
                Some(Err(Error::Refused(refusal))) => return Some(Err(refusal)),
                Some(Err(Error::Broken(why))) => world.ensure(false, "bug", || why),
                Some(Err(Error::Unavailable(_) | Error::Conflict(_))) | None => {}
            }
            world.time.sleep(world.rng.ms(200, 5_000)).await;
        }
        None
    }
}

//! Work that changes something goes on when the client hangs up: half a payment is worse than an
//! answer nobody reads.

use crate::api::error::{ApiError, Failure};
use crate::tasks::Tasks;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

type Work = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Runs beside its connection, without a task of its own. When the connection is dropped before
/// the end, the rest becomes a task that shutdown waits for.
pub(super) struct Unstoppable {
    work: Option<Work>,
    tasks: Tasks,
}

impl Unstoppable {
    pub(super) fn new(
        work: impl Future<Output = Result<Response, Infallible>> + Send + 'static,
        tasks: Tasks,
    ) -> Unstoppable {
        let work = AssertUnwindSafe(work).catch_unwind().map(|ended| match ended {
            Ok(answer) => answer.unwrap_or_else(|never| match never {}),
            Err(_panic) => {
                tracing::error!("A handler ended without an answer");
                ApiError::from(Failure::Broken("a handler panicked".into())).into_response()
            }
        });
        Unstoppable { work: Some(Box::pin(work)), tasks }
    }
}

impl Future for Unstoppable {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response> {
        let Some(work) = &mut self.work else { return Poll::Pending };
        let answer = std::task::ready!(work.as_mut().poll(context));
        self.work = None;
        Poll::Ready(answer)
    }
}

impl Drop for Unstoppable {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            self.tasks.spawn_unless_over(work);
        }
    }
}

//! State-changing requests run to completion even if the client disconnects, because half a payment
//! is worse than an unread response.

use crate::http::problem::{ApiError, Failure};
use crate::jobs::tasks::Tasks;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

type Handling = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Polled by its connection, without its own task. If the connection is dropped early, the rest
/// becomes a task that shutdown waits for.
pub(crate) struct DetachOnDrop {
    handling: Option<Handling>,
    tasks: Tasks,
}

impl DetachOnDrop {
    pub(crate) fn new(
        handling: impl Future<Output = Result<Response, Infallible>> + Send + 'static,
        tasks: Tasks,
    ) -> DetachOnDrop {
        let handling = AssertUnwindSafe(handling).catch_unwind().map(|ended| match ended {
            Ok(answer) => answer.unwrap_or_else(|never| match never {}),
            Err(_panic) => {
                tracing::error!("A handler panicked");
                ApiError::from(Failure::Broken("a handler panicked".into())).into_response()
            }
        });
        DetachOnDrop { handling: Some(Box::pin(handling)), tasks }
    }
}

impl Future for DetachOnDrop {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response> {
        let Some(handling) = &mut self.handling else { return Poll::Pending };
        let answer = std::task::ready!(handling.as_mut().poll(context));
        self.handling = None;
        Poll::Ready(answer)
    }
}

impl Drop for DetachOnDrop {
    fn drop(&mut self) {
        if let Some(handling) = self.handling.take() {
            self.tasks.spawn_unless_over(handling);
        }
    }
}

//! The body of a response to a possibly slow client. It is passed on in pieces, so that each
//! further piece shows that the client has read the previous ones.

use crate::http::listener::connection::Sending;
use crate::routes::Room;
use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Largest piece.
const PIECE_MAX: usize = 64 * 1_024;

pub(crate) struct Outgoing {
    body: Body,
    /// The rest of a large chunk.
    rest: Bytes,
    sending: Sending,
    _room: Option<Room>,
}

impl Outgoing {
    pub(crate) fn new(body: Body, sending: Sending, room: Option<Room>) -> Outgoing {
        Outgoing { body, rest: Bytes::new(), sending, _room: room }
    }

    fn next_piece(&mut self) -> Bytes {
        let n_bytes = self.rest.len().min(PIECE_MAX);
        self.sending.take(n_bytes);
        self.rest.split_to(n_bytes)
    }
}

impl HttpBody for Outgoing {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if !self.rest.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(self.next_piece()))));
        }
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let Poll::Ready(polled) = polled else {
            self.sending.wait();
            return Poll::Pending;
        };
        Poll::Ready(polled.map(|frame| {
            frame.map(|frame| match frame.into_data() {
                Ok(data) => {
                    self.rest = data;
                    Frame::data(self.next_piece())
                }
                Err(other) => other,
            })
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (body, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(body.lower() + rest);
        if let Some(upper) = body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

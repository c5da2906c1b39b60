//! The state of one connection: what it is reading, what is unsent, and since when. A stalled
//! connection cannot detect this itself, so [`crate::http::listener::connection_limiter`] checks it
//! every second.

use crate::http::listener::deadlines::{Patience, Taken};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

pub(crate) struct Connection {
    pub(crate) peer: SocketAddr,
    began: Instant,
    is_http2: AtomicBool,
    /// When the first byte of a request arrived whose headers are incomplete.
    reading_since: Moment,
    /// When the socket stopped accepting our bytes.
    blocked_since: Moment,
    /// When the last request ended.
    idle_since: Moment,
    n_requests: AtomicU32,
    n_open: AtomicU32,
    unsent: Unsent,
    answers: Mutex<Vec<Arc<ReadDeadline>>>,
    end: CancellationToken,
}

/// An optional point in time of a connection.
#[derive(Default)]
struct Moment(AtomicU64);

impl Moment {
    fn set(&self, at: Duration) {
        self.0.store(ms(at), Relaxed);
    }

    fn set_first(&self, at: Duration) {
        // If another thread was first, it set the same moment.
        let _ = self.0.compare_exchange(0, ms(at), Relaxed, Relaxed);
    }

    fn clear(&self) {
        if self.is_set() {
            self.0.store(0, Relaxed);
        }
    }

    fn is_set(&self) -> bool {
        self.0.load(Relaxed) != 0
    }

    fn is_before(&self, at: Duration) -> bool {
        let known = self.0.load(Relaxed);
        known != 0 && known < ms(at)
    }

    fn get(&self) -> Option<Duration> {
        Some(self.0.load(Relaxed)).filter(|known| *known != 0).map(Duration::from_millis)
    }
}

/// At least 1, because 0 means none.
fn ms(at: Duration) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// Bytes of responses that a connection has not sent yet.
struct Unsent {
    n_bytes: AtomicU64,
    max: u64,
}

impl Connection {
    /// `unsent_max` is in bytes.
    pub(crate) fn new(peer: SocketAddr, unsent_max: u64) -> Connection {
        Connection {
            peer,
            began: Instant::now(),
            is_http2: AtomicBool::default(),
            reading_since: Moment::default(),
            blocked_since: Moment::default(),
            idle_since: Moment::default(),
            n_requests: AtomicU32::default(),
            n_open: AtomicU32::default(),
            unsent: Unsent { n_bytes: AtomicU64::default(), max: unsent_max },
            answers: Mutex::default(),
            end: CancellationToken::new(),
        }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Marks the connection as HTTP/2.
    pub(crate) fn is_http2(&self) {
        self.is_http2.store(true, Relaxed);
        self.idle_since.set(self.now());
    }

    /// The first byte of a request arrived at this moment.
    pub(crate) fn begin_reading_at(&self, moment: tokio::time::Instant) {
        self.reading_since.set(moment.into_std().saturating_duration_since(self.began));
    }

    /// A byte arrived; it may be the first of a request.
    pub(crate) fn begin_reading(&self) {
        if self.n_open.load(Relaxed) == 0 && !self.reading_since.is_set() {
            self.reading_since.set_first(self.now());
        }
    }

    pub(crate) fn block(&self) {
        if !self.blocked_since.is_set() {
            self.blocked_since.set_first(self.now());
        }
    }

    pub(crate) fn unblock(&self) {
        self.blocked_since.clear();
    }

    /// A request's headers have arrived; returns the deadline of its body.
    pub(crate) fn open_request(self: &Arc<Self>, patience: &Patience) -> (OpenRequest, Instant) {
        self.n_requests.fetch_add(1, Relaxed);
        self.n_open.fetch_add(1, Relaxed);
        let now = self.now();
        let is_http2 = self.is_http2.load(Relaxed);
        let first_byte = self.reading_since.get().filter(|_| !is_http2).unwrap_or(now);
        self.reading_since.clear();
        (OpenRequest(self.clone()), self.began + first_byte + patience.request)
    }

    /// Reserves unsent bytes for a response. A single response always fits.
    pub(crate) fn hold_back(self: &Arc<Self>, n_bytes: u64) -> Option<HeldBack> {
        let Unsent { n_bytes: unsent, max } = &self.unsent;
        let fits = |held: u64| (held == 0 || held + n_bytes <= *max).then_some(held + n_bytes);
        unsent.fetch_update(Relaxed, Relaxed, fits).ok()?;
        Some(HeldBack { connection: self.clone(), n_bytes })
    }

    /// Resolves when the connection must close.
    pub(crate) async fn let_go(&self) {
        self.end.cancelled().await;
    }

    pub(crate) fn end(&self) {
        self.end.cancel();
    }

    /// Whether the client has exceeded one of its deadlines.
    pub(crate) fn is_overdue(&self, now: Instant, patience: &Patience) -> bool {
        let now = now.saturating_duration_since(self.began);
        let is_over = |since: &Moment, limit: Duration| {
            now.checked_sub(limit).is_some_and(|latest| since.is_before(latest))
        };
        if is_over(&self.blocked_since, patience.send_stall) {
            return true;
        }
        if self.n_open.load(Relaxed) > 0 {
            return self.lock_answers().iter().any(|answer| answer.due.is_before(now));
        }
        match (self.is_http2.load(Relaxed), self.n_requests.load(Relaxed)) {
            (false, _) => is_over(&self.reading_since, patience.header),
            (true, 0) => is_over(&self.idle_since, patience.header),
            (true, _) => is_over(&self.idle_since, patience.idle),
        }
    }

    fn lock_answers(&self) -> MutexGuard<'_, Vec<Arc<ReadDeadline>>> {
        self.answers.lock().expect("the lock is never poisoned")
    }
}

/// A request, from its headers to the end of its response.
pub(crate) struct OpenRequest(Arc<Connection>);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.idle_since.set(self.0.now());
        self.0.n_open.fetch_sub(1, Relaxed);
    }
}

/// Unsent bytes reserved by a response until it is sent.
pub(crate) struct HeldBack {
    connection: Arc<Connection>,
    n_bytes: u64,
}

impl Drop for HeldBack {
    fn drop(&mut self) {
        self.connection.unsent.n_bytes.fetch_sub(self.n_bytes, Relaxed);
    }
}

/// When the client must have read more of a response.
#[derive(Default)]
struct ReadDeadline {
    due: Moment,
}

/// A response in transit.
pub(crate) struct Sending {
    request: OpenRequest,
    answer: Arc<ReadDeadline>,
    taken: Taken,
    patience: Patience,
}

impl Sending {
    pub(crate) fn begin(request: OpenRequest, is_stream: bool, patience: Patience) -> Sending {
        let connection = &request.0;
        let answer = Arc::<ReadDeadline>::default();
        connection.lock_answers().push(answer.clone());
        let taken = Taken { since: connection.now(), n_bytes: 0, is_stream };
        let mut sending = Sending { request, answer, taken, patience };
        sending.take(0);
        sending
    }

    /// Records that the socket took more bytes, and sets the deadline for the next ones.
    pub(crate) fn take(&mut self, n_bytes: usize) {
        self.taken.n_bytes += n_bytes as u64;
        let now = self.request.0.now();
        self.answer.due.set(self.patience.take_more_by(now, &self.taken));
    }

    /// The body has nothing to send at the moment.
    pub(crate) fn wait(&self) {
        self.answer.due.clear();
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        let mut answers = self.request.0.lock_answers();
        answers.retain(|answer| !Arc::ptr_eq(answer, &self.answer));
    }
}

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;

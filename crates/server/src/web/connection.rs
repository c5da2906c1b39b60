//! What happens on one connection: what is being read, what is not sent yet, since when. The
//! connection itself cannot tell that it stands still, so [`super::limiter`] looks every second.

use super::patience::{Patience, Taken};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

pub(crate) struct Connection {
    pub(crate) peer: SocketAddr,
    began: Instant,
    is_http2: AtomicBool,
    /// When the first byte of a request came whose headers are not here yet.
    reading_since: Moment,
    /// When the system took nothing more of what we send.
    blocked_since: Moment,
    /// When the last request was over.
    idle_since: Moment,
    n_requests: AtomicU32,
    n_open: AtomicU32,
    unsent: Unsent,
    answers: Mutex<Vec<Arc<Answer>>>,
    end: CancellationToken,
}

/// A moment of a connection, or none.
#[derive(Default)]
struct Moment(AtomicU64);

impl Moment {
    fn set(&self, at: Duration) {
        self.0.store(ms(at), Relaxed);
    }

    fn set_first(&self, at: Duration) {
        // Another thread that was first meant the same moment.
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

/// At least one: zero stands for none.
fn ms(at: Duration) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// Bytes of answers that a connection has not sent yet.
struct Unsent {
    n_bytes: AtomicU64,
    max: u64,
}

impl Connection {
    /// `unsent_max` is in bytes.
    pub(super) fn new(peer: SocketAddr, unsent_max: u64) -> Connection {
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

    /// From here on it speaks HTTP/2.
    pub(super) fn is_http2(&self) {
        self.is_http2.store(true, Relaxed);
        self.idle_since.set(self.now());
    }

    /// The first byte of a request came at this moment.
    pub(super) fn begin_reading_at(&self, moment: tokio::time::Instant) {
        self.reading_since.set(moment.into_std().saturating_duration_since(self.began));
    }

    /// A byte came; it may be the first of a request.
    pub(super) fn begin_reading(&self) {
        if self.n_open.load(Relaxed) == 0 && !self.reading_since.is_set() {
            self.reading_since.set_first(self.now());
        }
    }

    pub(super) fn block(&self) {
        if !self.blocked_since.is_set() {
            self.blocked_since.set_first(self.now());
        }
    }

    pub(super) fn unblock(&self) {
        self.blocked_since.clear();
    }

    /// A request is here with its headers; its body must be here at the moment that is told.
    pub(super) fn open_request(self: &Arc<Self>, patience: &Patience) -> (OpenRequest, Instant) {
        self.n_requests.fetch_add(1, Relaxed);
        self.n_open.fetch_add(1, Relaxed);
        let now = self.now();
        let is_http2 = self.is_http2.load(Relaxed);
        let first_byte = self.reading_since.get().filter(|_| !is_http2).unwrap_or(now);
        self.reading_since.clear();
        (OpenRequest(self.clone()), self.began + first_byte + patience.request)
    }

    /// Takes room for an answer. One answer always has it.
    pub(crate) fn hold_back(self: &Arc<Self>, n_bytes: u64) -> Option<HeldBack> {
        let Unsent { n_bytes: unsent, max } = &self.unsent;
        let fits = |held: u64| (held == 0 || held + n_bytes <= *max).then_some(held + n_bytes);
        unsent.fetch_update(Relaxed, Relaxed, fits).ok()?;
        Some(HeldBack { connection: self.clone(), n_bytes })
    }

    /// Ends when the connection has to.
    pub(super) async fn let_go(&self) {
        self.end.cancelled().await;
    }

    pub(super) fn end(&self) {
        self.end.cancel();
    }

    /// Whether somebody has kept it for longer than they may.
    pub(super) fn is_overdue(&self, now: Instant, patience: &Patience) -> bool {
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

    fn lock_answers(&self) -> MutexGuard<'_, Vec<Arc<Answer>>> {
        self.answers.lock().expect("nothing panics under this lock")
    }
}

/// A request from its headers to the end of its answer.
pub(super) struct OpenRequest(Arc<Connection>);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.idle_since.set(self.0.now());
        self.0.n_open.fetch_sub(1, Relaxed);
    }
}

/// Room that an answer takes until it is sent.
pub(crate) struct HeldBack {
    connection: Arc<Connection>,
    n_bytes: u64,
}

impl Drop for HeldBack {
    fn drop(&mut self) {
        self.connection.unsent.n_bytes.fetch_sub(self.n_bytes, Relaxed);
    }
}

/// When the client must have taken more of an answer.
#[derive(Default)]
struct Answer {
    due: Moment,
}

/// An answer on its way.
pub(super) struct Sending {
    request: OpenRequest,
    answer: Arc<Answer>,
    taken: Taken,
    patience: Patience,
}

impl Sending {
    pub(super) fn begin(request: OpenRequest, is_stream: bool, patience: Patience) -> Sending {
        let connection = &request.0;
        let answer = Arc::<Answer>::default();
        connection.lock_answers().push(answer.clone());
        let taken = Taken { since: connection.now(), n_bytes: 0, is_stream };
        let mut sending = Sending { request, answer, taken, patience };
        sending.take(0);
        sending
    }

    /// So much more was handed on; the next piece has to be asked for in time.
    pub(super) fn take(&mut self, n_bytes: usize) {
        self.taken.n_bytes += n_bytes as u64;
        let now = self.request.0.now();
        self.answer.due.set(self.patience.take_more_by(now, &self.taken));
    }

    /// There is nothing to take at the moment.
    pub(super) fn wait(&self) {
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
mod tests;

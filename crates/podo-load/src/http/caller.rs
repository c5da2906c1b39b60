//! One fan's calls: adds tokens and keys, times every call, counts every answer.

use crate::fan::places::Places;
use crate::http::answers::Problem;
use crate::http::client::{Call, Client, Credentials};
use crate::http::connection::HttpResponse;
use crate::report::stats::{Ending, Stats, Step};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// The first back-off after a failure; it doubles each time.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// What the fans of one run share.
pub(crate) struct Shared {
    pub(crate) client: Client,
    pub(crate) stats: Stats,
    pub(crate) places: Places,
    pub(crate) trouble_retries: u32,
    /// Makes keys and addresses differ between runs.
    pub(crate) run: u64,
}

#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) shared: Arc<Shared>,
    pub(crate) fan: u32,
    pub(crate) access: Option<String>,
    pub(crate) place: Option<String>,
    pub(crate) entry: Option<String>,
    n_keys: u32,
}

impl Caller {
    pub(crate) fn new(shared: Arc<Shared>, fan: u32) -> Caller {
        Caller { shared, fan, access: None, place: None, entry: None, n_keys: 0 }
    }

    /// Calls without a key: reads, and requests that are safe to repeat.
    pub(crate) async fn call(&self, step: Step, call: Call) -> Result<HttpResponse, Ending> {
        self.call_due(step, call, None, Instant::now()).await
    }

    /// Calls under a new key, which all retries of this call share.
    pub(crate) async fn call_once(
        &mut self,
        step: Step,
        call: Call,
    ) -> Result<HttpResponse, Ending> {
        let key = self.next_key();
        self.call_due(step, call, Some(&key), Instant::now()).await
    }

    /// Calls, timed from the moment `due`, and retries failures. Returns a success, a payment in
    /// progress, or what a refusal means for the fan.
    pub(crate) async fn call_due(
        &self,
        step: Step,
        call: Call,
        key: Option<&str>,
        due: Instant,
    ) -> Result<HttpResponse, Ending> {
        let credentials = Credentials {
            access: self.access.as_deref(),
            place: self.place.as_deref(),
            entry: self.entry.as_deref(),
            idempotency_key: key,
        };
        let mut due = due;
        let mut pause = RETRY_PAUSE;
        for _ in 0..self.shared.trouble_retries {
            if let Some(verdict) = self.try_call(step, &call, credentials, due).await {
                return verdict;
            }
            // Jitter, so that fans with the same failure don't retry in the same moment.
            let jitter = Duration::from_millis(u64::from(self.fan % 64));
            tokio::time::sleep(pause + jitter).await;
            pause *= 2;
            due = Instant::now();
        }
        self.try_call(step, &call, credentials, due).await.unwrap_or(Err(Ending::Failed))
    }

    /// One attempt; none if it failed and can be retried.
    async fn try_call(
        &self,
        step: Step,
        call: &Call,
        credentials: Credentials<'_>,
        due: Instant,
    ) -> Option<Result<HttpResponse, Ending>> {
        let answer = self.shared.client.send(call, credentials).await;
        let stats = &self.shared.stats;
        stats.time(step, due.elapsed());
        match answer {
            Ok(answer) if answer.is_success() => Some(Ok(answer)),
            // Our own first attempt is still in progress, or was cut off. Repeat the call, except
            // for a payment, whose outcome may take minutes: that is polled by its id.
            Ok(answer) if code_of(&answer) == "IDEMPOTENCY_KEY_RUNNING" => {
                stats.refuse(step, answer.status, "IDEMPOTENCY_KEY_RUNNING");
                (step == Step::Confirm).then_some(Ok(answer))
            }
            Ok(answer) if answer.status < 500 => Some(Err(self.count_refusal(step, &answer))),
            Ok(answer) => {
                stats.refuse(step, answer.status, &code_of(&answer));
                stats.surprise(step, Some(answer.status), &answer.body);
                None
            }
            Err(none) => {
                stats.refuse(step, 0, "NO_ANSWER");
                stats.surprise(step, None, none.to_string().as_bytes());
                None
            }
        }
    }

    fn count_refusal(&self, step: Step, answer: &HttpResponse) -> Ending {
        let code = code_of(answer);
        self.shared.stats.refuse(step, answer.status, &code);
        Ending::of_refusal(&code).unwrap_or_else(|| {
            self.shared.stats.surprise(step, Some(answer.status), &answer.body);
            Ending::Failed
        })
    }

    /// Parses an answer; one that can't be parsed is unexpected.
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        step: Step,
        answer: &HttpResponse,
    ) -> Result<T, Ending> {
        answer.json().map_err(|error| {
            let text = format!("{error} in {}", String::from_utf8_lossy(&answer.body));
            self.shared.stats.surprise(step, Some(answer.status), text.as_bytes());
            Ending::Failed
        })
    }

    fn next_key(&mut self) -> String {
        self.n_keys += 1;
        let number = (u64::from(self.fan) << 32) | u64::from(self.n_keys);
        Uuid::from_u64_pair(self.shared.run, number).to_string()
    }
}

fn code_of(answer: &HttpResponse) -> String {
    answer.json::<Problem>().map_or_else(|_| "?".into(), |problem| problem.code)
}

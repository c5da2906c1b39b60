//! One fan's way of calling: their tokens and keys, every call timed, every answer counted.

use crate::client::{Answer, Call, Client, Credentials};
use crate::places::Places;
use crate::tally::{Ending, Step, Tally};
use crate::wire::Problem;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// The first pause after trouble; it doubles each time.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// What the fans of one run share.
pub(crate) struct Shared {
    pub(crate) client: Client,
    pub(crate) tally: Tally,
    pub(crate) places: Places,
    pub(crate) trouble_retries: u32,
    /// Makes keys and addresses of this run differ from those of any other.
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

    /// Calls without a key: reading, and what is harmless to repeat.
    pub(crate) async fn call(&self, step: Step, call: Call) -> Result<Answer, Ending> {
        self.call_due(step, call, None, Instant::now()).await
    }

    /// Calls under a new key, which all repeats of this call share.
    pub(crate) async fn call_once(&mut self, step: Step, call: Call) -> Result<Answer, Ending> {
        let key = self.next_key();
        self.call_due(step, call, Some(&key), Instant::now()).await
    }

    /// Calls, timed from the moment `due`, and repeats the call after trouble. Answers with a
    /// success, with a payment that is still running, or with what a refusal means for the fan.
    pub(crate) async fn call_due(
        &self,
        step: Step,
        call: Call,
        key: Option<&str>,
        due: Instant,
    ) -> Result<Answer, Ending> {
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
            // Fans who met the same trouble do not come back in the same moment.
            let jitter = Duration::from_millis(u64::from(self.fan % 64));
            tokio::time::sleep(pause + jitter).await;
            pause *= 2;
            due = Instant::now();
        }
        self.try_call(step, &call, credentials, due).await.unwrap_or(Err(Ending::Failed))
    }

    /// One attempt; nothing when it met trouble and may be repeated.
    async fn try_call(
        &self,
        step: Step,
        call: &Call,
        credentials: Credentials<'_>,
        due: Instant,
    ) -> Option<Result<Answer, Ending>> {
        let answer = self.shared.client.send(call, credentials).await;
        let tally = &self.shared.tally;
        tally.time(step, due.elapsed());
        match answer {
            Ok(answer) if answer.is_success() => Some(Ok(answer)),
            // Our own first try is still under way, or was cut off. The same call asks again, but
            // for a payment, whose outcome may take minutes: that is asked for by its id.
            Ok(answer) if code_of(&answer) == "IDEMPOTENCY_KEY_RUNNING" => {
                tally.refuse(step, answer.status, "IDEMPOTENCY_KEY_RUNNING");
                (step == Step::Confirm).then_some(Ok(answer))
            }
            Ok(answer) if answer.status < 500 => Some(Err(self.count_refusal(step, &answer))),
            Ok(answer) => {
                tally.refuse(step, answer.status, &code_of(&answer));
                tally.surprise(step, Some(answer.status), &answer.body);
                None
            }
            Err(none) => {
                tally.refuse(step, 0, "NO_ANSWER");
                tally.surprise(step, None, none.to_string().as_bytes());
                None
            }
        }
    }

    fn count_refusal(&self, step: Step, answer: &Answer) -> Ending {
        let code = code_of(answer);
        self.shared.tally.refuse(step, answer.status, &code);
        Ending::of_refusal(&code).unwrap_or_else(|| {
            self.shared.tally.surprise(step, Some(answer.status), &answer.body);
            Ending::Failed
        })
    }

    /// Reads an answer; one that is not understood is a surprise.
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        step: Step,
        answer: &Answer,
    ) -> Result<T, Ending> {
        answer.json().map_err(|error| {
            let text = format!("{error} in {}", String::from_utf8_lossy(&answer.body));
            self.shared.tally.surprise(step, Some(answer.status), text.as_bytes());
            Ending::Failed
        })
    }

    fn next_key(&mut self) -> String {
        self.n_keys += 1;
        let number = (u64::from(self.fan) << 32) | u64::from(self.n_keys);
        Uuid::from_u64_pair(self.shared.run, number).to_string()
    }
}

fn code_of(answer: &Answer) -> String {
    answer.json::<Problem>().map_or_else(|_| "?".into(), |problem| problem.code)
}

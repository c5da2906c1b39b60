//! Argon2id in a small thread pool: a surge of log-ins must not slow the sale, and a surge of
//! sign-ups must not slow log-ins.

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash};
use async_trait::async_trait;
use crossbeam_channel::{Receiver, Sender, TrySendError};
use futures::channel::oneshot;
use podo_app::identity::port::passwords::{Passwords, Verdict};
use podo_app::{Error, Result};
use podo_domain::Refusal;
use std::thread;

/// Queue limit; at some 30 ms each, the last hash waits a few seconds.
const WAITING_MAX: usize = 256;

/// Queue limit for sign-ups.
const WAITING_NEW_MAX: usize = 64;

/// While log-ins wait, one hash in this many is a sign-up's.
const NEW_EVERY: usize = 4;

/// Verified if there is no account, so that timing doesn't reveal it. It is the hash of nothing: a
/// matching password would still be refused.
const PLACEHOLDER_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGhhcyB0aGlzIQ\
     $bm8gcGFzc3dvcmQgb24gZWFydGggaGFzIHRoaXMgaGE";

type Task = Box<dyn FnOnce(&Argon2<'static>) + Send>;

pub struct Argon2Pool {
    tasks: Sender<Task>,
    new_tasks: Sender<Task>,
}

/// The queues that a thread takes its tasks from.
#[derive(Clone)]
struct Waiting {
    tasks: Receiver<Task>,
    new_tasks: Receiver<Task>,
}

impl Waiting {
    /// The `round`th task of a thread: a sign-up in every fourth round, and whenever no log-in
    /// waits.
    fn next(&self, round: usize) -> Option<Task> {
        let is_new_first = round % NEW_EVERY == NEW_EVERY - 1;
        let (first, second) = match is_new_first {
            true => (&self.new_tasks, &self.tasks),
            false => (&self.tasks, &self.new_tasks),
        };
        first.try_recv().or_else(|_empty| second.try_recv()).ok().or_else(|| self.wait())
    }

    /// The next task of either queue; none once the pool is gone.
    fn wait(&self) -> Option<Task> {
        crossbeam_channel::select! {
            recv(self.tasks) -> task => task.ok(),
            recv(self.new_tasks) -> task => task.ok(),
        }
    }
}

impl Argon2Pool {
    /// Starts `n_threads` workers with OWASP's parameters (19 MiB, 2 passes, 1 lane).
    pub fn start(n_threads: usize) -> std::result::Result<Argon2Pool, String> {
        let (tasks, waiting) = crossbeam_channel::bounded::<Task>(WAITING_MAX);
        let (new_tasks, waiting_new) = crossbeam_channel::bounded::<Task>(WAITING_NEW_MAX);
        let waiting = Waiting { tasks: waiting, new_tasks: waiting_new };
        for index in 0..n_threads.max(1) {
            let waiting = waiting.clone();
            thread::Builder::new()
                .name(format!("podo-password-{index}"))
                .spawn(move || {
                    let argon2 = Argon2::default();
                    for round in 0.. {
                        let Some(task) = waiting.next(round) else { break };
                        task(&argon2);
                    }
                })
                .map_err(|error| error.to_string())?;
        }
        Ok(Argon2Pool { tasks, new_tasks })
    }

    async fn run<T: Send + 'static>(
        &self,
        tasks: &Sender<Task>,
        work: impl FnOnce(&Argon2<'static>) -> T + Send + 'static,
    ) -> Result<T> {
        let (send, receive) = oneshot::channel();
        let task: Task = Box::new(move |argon2| {
            // Don't spend 30 ms on a caller that has gone.
            if !send.is_canceled() {
                let _ = send.send(work(argon2));
            }
        });
        tasks.try_send(task).map_err(|error| match error {
            TrySendError::Full(_) => Error::from(Refusal::LoginBusy),
            TrySendError::Disconnected(_) => Error::unavailable("the password pool has stopped"),
        })?;
        receive.await.map_err(|oneshot::Canceled| Error::unavailable("a password task was lost"))
    }
}

fn hash(argon2: &Argon2<'_>, password: &str) -> Result<String> {
    argon2.hash_password(password.as_bytes()).map(|it| it.to_string()).map_err(Error::broken)
}

fn verify(argon2: &Argon2<'_>, password: &str, stored: &str) -> Result<Verdict> {
    if stored.starts_with("$2") {
        let is_right = bcrypt::verify(password, stored).map_err(Error::broken)?;
        return Ok(if is_right { Verdict::RightButOld } else { Verdict::Wrong });
    }
    let parsed = PasswordHash::new(stored).map_err(Error::broken)?;
    let is_right = argon2.verify_password(password.as_bytes(), &parsed).is_ok();
    Ok(if is_right { Verdict::Right } else { Verdict::Wrong })
}

#[async_trait]
impl Passwords for Argon2Pool {
    async fn hash(&self, password: String) -> Result<String> {
        self.run(&self.tasks, move |argon2| hash(argon2, &password)).await?
    }

    async fn hash_new(&self, password: String) -> Result<String> {
        self.run(&self.new_tasks, move |argon2| hash(argon2, &password)).await?
    }

    async fn verify(&self, password: String, stored: Option<String>) -> Result<Verdict> {
        let is_stored_hash = stored.is_some();
        let stored = stored.unwrap_or_else(|| PLACEHOLDER_HASH.to_owned());
        let verdict =
            self.run(&self.tasks, move |argon2| verify(argon2, &password, &stored)).await??;
        Ok(if is_stored_hash { verdict } else { Verdict::Wrong })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_of_an_account_passes() {
        let pool = Argon2Pool::start(1).unwrap();
        let hash = pool.hash("맛있는 포도".into()).await.unwrap();
        assert!(hash.starts_with("$argon2id$"));
        let verdict =
            async |password: &str, hash| pool.verify(password.into(), hash).await.unwrap();
        assert_eq!(verdict("맛있는 포도", Some(hash.clone())).await, Verdict::Right);
        assert_eq!(verdict("신 포도", Some(hash)).await, Verdict::Wrong);
        assert_eq!(verdict("not a stored password", None).await, Verdict::Wrong);
    }

    #[test]
    fn a_missing_account_takes_as_long_as_an_existing_one() {
        let stored_hash = hash(&Argon2::default(), "신 포도").unwrap();
        let cost = |hash: &str| {
            let hash = PasswordHash::new(hash).unwrap();
            let lengths = (hash.salt.unwrap().len(), hash.hash.unwrap().len());
            (hash.algorithm, hash.version, hash.params, lengths)
        };
        assert_eq!(cost(PLACEHOLDER_HASH), cost(&stored_hash));
    }

    #[tokio::test]
    async fn a_hash_of_an_older_system_is_understood() {
        let pool = Argon2Pool::start(1).unwrap();
        let old = bcrypt::hash("맛있는 포도", 4).unwrap();
        let verdict =
            async |password: &str| pool.verify(password.into(), Some(old.clone())).await.unwrap();
        assert_eq!(verdict("맛있는 포도").await, Verdict::RightButOld);
        assert_eq!(verdict("신 포도").await, Verdict::Wrong);
    }

    #[tokio::test]
    async fn two_hashes_of_one_password_differ() {
        let pool = Argon2Pool::start(1).unwrap();
        assert_ne!(
            pool.hash("포도".into()).await.unwrap(),
            pool.hash("포도".into()).await.unwrap()
        );
    }

    #[tokio::test]
    async fn a_herd_is_turned_away_instead_of_waiting_for_ever() {
        let pool = Argon2Pool::start(1).unwrap();
        let herd = (0..WAITING_MAX + 50).map(|_| pool.hash("포도송이".into()));
        let turned_away = futures::future::join_all(herd)
            .await
            .into_iter()
            .filter(|answer| matches!(answer, Err(Error::Refused(Refusal::LoginBusy))));
        assert!(turned_away.count() >= 40);
    }

    #[tokio::test]
    async fn a_log_in_is_not_behind_the_sign_ups_that_came_before_it() {
        let pool = Argon2Pool::start(1).unwrap();
        let n_done = std::sync::atomic::AtomicUsize::new(0);
        let sign_ups = futures::future::join_all((0..WAITING_NEW_MAX).map(async |_| {
            let hash = pool.hash_new("포도송이".into()).await;
            n_done.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            hash
        }));
        let log_in = async {
            pool.verify("신 포도".into(), None).await.unwrap();
            n_done.load(std::sync::atomic::Ordering::SeqCst)
        };
        let (made, n_before) = futures::join!(sign_ups, log_in);
        assert!(n_before <= 3, "{n_before} sign-ups were served before the log-in");
        assert!(made.into_iter().all(|hash| hash.is_ok()), "sign-ups are served too");
    }
}

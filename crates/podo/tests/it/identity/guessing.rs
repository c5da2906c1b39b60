//! Password guessing, account enumeration, and concurrent refreshes from several tabs.

use crate::support::client::{Answer, text};
use crate::support::world::World;
use futures::future::join_all;
use futures::{StreamExt, stream};
use serde_json::json;
use std::time::{Duration, Instant};

const PASSWORD: &str = "sour green grapes";

async fn sign_up(world: &World, email: &str) {
    let body = json!({ "email": email, "password": PASSWORD, "name": "포도" });
    world.stranger.post("/api/auth/signup", &body).await.expect(201);
}

async fn log_in(world: &World, email: &str, password: &str) -> Answer {
    let body = json!({ "email": email, "password": password });
    world.stranger.post("/api/auth/login", &body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn of_fifty_tabs_that_refresh_at_once_one_gets_the_pair_and_all_stay_logged_in() {
    let world = World::start().await;
    sign_up(&world, "fan@podo.kr").await;
    let session = log_in(&world, "fan@podo.kr", PASSWORD).await.expect(200);
    let body = json!({ "refreshToken": text(&session, "refreshToken") });
    let tabs = (0..50).map(|_| world.stranger.post("/api/auth/refresh", &body));
    let answers = join_all(tabs).await;
    let fresh: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(fresh.len(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.refused(409, "REFRESH_RETRY");
    }
    let next = fresh[0].expect(200);
    for token in [text(&session, "accessToken"), text(&next, "accessToken")] {
        world.stranger.with_token(&token).get("/api/users/me").await.expect(200);
    }
    let body = json!({ "refreshToken": text(&next, "refreshToken") });
    world.stranger.post("/api/auth/refresh", &body).await.expect(200);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_thousand_guesses_twenty_are_looked_at_and_the_owner_is_never_locked_out() {
    let limits = [("PODO_LIMITS", "on"), ("PODO_REQUESTS_PER_SECOND_PER_IP", "100000")];
    let world = World::with(&limits).await;
    sign_up(&world, "fan@podo.kr").await;
    let guess = |number: usize| {
        let world = &world;
        async move { log_in(world, "fan@podo.kr", &format!("guess number {number}")).await.status }
    };
    let statuses: Vec<u16> = stream::iter(0..1_000).map(guess).buffer_unordered(20).collect().await;
    let n_looked_at = statuses.iter().filter(|status| **status == 401).count();
    assert!((10..=20).contains(&n_looked_at), "{n_looked_at} guesses were looked at");
    let n_put_off = statuses.iter().filter(|status| [429, 503].contains(status)).count();
    assert_eq!(n_looked_at + n_put_off, 1_000);
    assert_eq!(log_in(&world, "fan@podo.kr", PASSWORD).await.status, 429);
    world.clock.advance(Duration::from_secs(15 * 60));
    log_in(&world, "fan@podo.kr", PASSWORD).await.expect(200);
}

/// The median duration of these logins, alternating between two kinds.
async fn medians(world: &World, n: usize, kinds: [(&str, &str); 2]) -> [Duration; 2] {
    middle_of(n, async |_, kind| {
        let (email, password) = kinds[kind];
        log_in(world, email, password).await;
    })
    .await
}

/// The median duration of these calls, alternating between two kinds.
async fn middle_of(n: usize, call: impl AsyncFn(usize, usize)) -> [Duration; 2] {
    let mut took = [Vec::new(), Vec::new()];
    for number in 0..n {
        for (kind, times) in took.iter_mut().enumerate() {
            let started = Instant::now();
            call(number, kind).await;
            times.push(started.elapsed());
        }
    }
    took.map(|mut times| {
        times.sort_unstable();
        times[n / 2]
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn time_does_not_tell_whether_an_address_has_an_account() {
    let world = World::start().await;
    sign_up(&world, "fan@podo.kr").await;
    let wrong = "sweet red grapes";
    // The machine is shared: one quiet round is enough, because a real difference would remain.
    let mut ratio = f64::MAX;
    for _ in 0..4 {
        let kinds = [("fan@podo.kr", wrong), ("unknown@podo.kr", wrong)];
        let [known, unknown] = medians(&world, 40, kinds).await.map(|it| it.as_secs_f64());
        ratio = ratio.min((known / unknown).max(unknown / known));
        if ratio < 1.1 {
            break;
        }
    }
    assert!(ratio < 1.1, "one takes {ratio:.2} times as long as the other");
    // The control: a response without that work is noticeably faster.
    let kinds = [("fan@podo.kr", wrong), ("no address", wrong)];
    let [known, not_hashed] = medians(&world, 5, kinds).await;
    assert!(not_hashed * 3 < known, "{not_hashed:?} and {known:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn time_to_answer_does_not_reveal_whether_an_address_has_signed_up() {
    let known = "boss@podo.kr";
    let settings = [
        ("PODO_CONFIRM_EMAIL", "on"),
        ("PODO_ADMIN_EMAIL", known),
        ("PODO_ADMIN_PASSWORD", PASSWORD),
    ];
    let world = World::with(&settings).await;
    let ask = async |email: String| {
        let body = json!({ "email": email, "password": PASSWORD, "name": "포도" });
        world.stranger.post("/api/auth/signup", &body).await.expect(202);
    };
    let mut ratio = f64::MAX;
    for round in 0..4 {
        let medians = middle_of(40, async |number, kind| match kind {
            0 => ask(known.to_owned()).await,
            _ => ask(format!("new{round}.{number}@podo.kr")).await,
        });
        let [taken, free] = medians.await.map(|it| it.as_secs_f64());
        ratio = ratio.min((taken / free).max(free / taken));
        if ratio < 1.1 {
            break;
        }
    }
    assert!(ratio < 1.1, "one takes {ratio:.2} times as long as the other");
}

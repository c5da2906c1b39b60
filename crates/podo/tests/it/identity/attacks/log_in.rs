//! Locking an owner out of their account, and locking everyone out with sign-ups.

use crate::support::client::{Answer, Api, send};
use crate::support::world::World;
use futures::future::join_all;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const PASSWORD: &str = "sour green grapes";
const OWNER: &str = "owner@podo.kr";
const LIMITS_ON: [(&str, &str); 2] =
    [("PODO_LIMITS", "on"), ("PODO_REQUESTS_PER_SECOND_PER_IP", "100000")];

fn sign_up_body(email: &str) -> Value {
    json!({ "email": email, "password": PASSWORD, "name": "포도" })
}

fn log_in_call(api: &Api, password: &str) -> RequestBuilder {
    let body = json!({ "email": OWNER, "password": password });
    api.call(Method::POST, "/api/auth/login").json(&body)
}

/// A program at another address.
struct Elsewhere {
    http: Client,
    url: String,
}

impl Elsewhere {
    fn new(world: &World) -> Elsewhere {
        let address = Ipv4Addr::new(127, 0, 0, 2);
        let http = Client::builder().local_address(Some(address.into())).build().unwrap();
        Elsewhere { http, url: world.running.url() }
    }

    async fn log_in(&self, password: &str) -> Answer {
        let body = json!({ "email": OWNER, "password": password });
        send(self.http.post(format!("{}/api/auth/login", self.url)).json(&body)).await
    }
}

/// The device cookie in the response to a login.
fn device_of(answer: &Answer) -> String {
    let cookies = answer.headers.get_all("set-cookie").iter().map(|it| it.to_str().unwrap());
    let mut device = cookies.filter(|it| it.starts_with("__Host-podo_device="));
    device.next().expect("a device").split(';').next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_from_elsewhere_keep_no_owner_out_of_a_network_that_logged_in_before() {
    let world = World::with(&LIMITS_ON).await;
    world.stranger.post("/api/auth/signup", &sign_up_body(OWNER)).await.expect(201);
    send(log_in_call(&world.stranger, PASSWORD)).await.expect(200);
    let attacker = Elsewhere::new(&world);
    let mut failed = 0;
    for round in 0..20 {
        // Two guesses a second.
        for number in 0..6 {
            attacker.log_in(&format!("guess {round} {number}")).await;
            world.clock.advance(Duration::from_millis(500));
        }
        let answer = send(log_in_call(&world.stranger, PASSWORD)).await;
        failed += u32::from(answer.status != 200);
    }
    assert_eq!(failed, 0, "the right password failed {failed} of 20 times");
    // The attacker still has to wait, even with the right password: the owner's login doesn't help.
    assert_eq!(attacker.log_in(PASSWORD).await.status, 429);
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_in_the_owners_network_keep_no_device_out_that_logged_in_before() {
    let world = World::with(&LIMITS_ON).await;
    world.stranger.post("/api/auth/signup", &sign_up_body(OWNER)).await.expect(201);
    let first = send(log_in_call(&world.stranger, PASSWORD)).await;
    let device = device_of(&first);
    let forged = device.replacen("podo_device=", "podo_device=AAAA", 1);
    let mut n_guesses = 0;
    loop {
        let cookie = if n_guesses % 2 == 0 { "" } else { forged.as_str() };
        let guess = log_in_call(&world.stranger, &format!("guess {n_guesses}"));
        if send(guess.header("Cookie", cookie)).await.status == 429 {
            break;
        }
        n_guesses += 1;
        assert!(n_guesses <= 20, "no limit slows the guesses down");
    }
    assert_eq!(send(log_in_call(&world.stranger, PASSWORD)).await.status, 429);
    for _ in 0..10 {
        let call = log_in_call(&world.stranger, PASSWORD).header("Cookie", &device);
        send(call).await.expect(200);
    }
    // A device cookie is no way to keep guessing: it has its own budget, which runs out too.
    let mut n_looked_at = 0;
    for number in 0..60 {
        let guess = log_in_call(&world.stranger, &format!("more {number}"));
        n_looked_at += u32::from(send(guess.header("Cookie", &device)).await.status == 401);
    }
    assert!(n_looked_at <= 20, "{n_looked_at} guesses of one device were looked at");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_network_makes_so_many_accounts_a_minute_and_no_more() {
    let settings = [LIMITS_ON[0], LIMITS_ON[1], ("PODO_SIGN_UPS_PER_MINUTE_PER_IP", "3")];
    let world = World::with(&settings).await;
    let ask = async |number: u32| {
        let body = sign_up_body(&format!("fan{number}@podo.kr"));
        world.stranger.post("/api/auth/signup", &body).await
    };
    let form = async |number: u32| {
        let email = format!("form{number}@podo.kr");
        let fields = [("email", email.as_str()), ("password", PASSWORD), ("name", "포도")];
        send(world.stranger.call(Method::POST, "/join").form(&fields)).await
    };
    for number in 0..3 {
        ask(number).await.expect(201);
    }
    ask(4).await.refused(429, "TOO_MANY_REQUESTS");
    assert!(form(5).await.text.contains("role=\"alert\""));
    let elsewhere = Elsewhere::new(&world);
    let call = elsewhere.http.post(format!("{}/api/auth/signup", elsewhere.url));
    send(call.json(&sign_up_body("other@podo.kr"))).await.expect(201);
    world.clock.advance(Duration::from_secs(60));
    ask(6).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_distributed_flood_of_sign_ups_does_not_block_log_ins() {
    let settings = [LIMITS_ON[0], LIMITS_ON[1], ("PODO_TRUSTED_PROXIES", "127.0.0.1")];
    let world = World::with(&settings).await;
    world.stranger.post("/api/auth/signup", &sign_up_body(OWNER)).await.expect(201);
    let (is_full, n_made) = (AtomicBool::new(false), std::sync::atomic::AtomicU32::new(0));
    let flood = join_all((0..400_u32).map(|number| {
        let body = sign_up_body(&format!("flood{number}@podo.kr"));
        let network = format!("198.51.{}.{}", number / 250, number % 250 + 1);
        let call = world.stranger.call(Method::POST, "/api/auth/signup").json(&body);
        let call = call.header("X-Forwarded-For", network);
        let (is_full, n_made) = (&is_full, &n_made);
        async move {
            match send(call).await.status {
                503 => is_full.store(true, Ordering::SeqCst),
                _ => _ = n_made.fetch_add(1, Ordering::SeqCst),
            }
        }
    }));
    let owner = async {
        crate::support::world::until("the flood waits", async || {
            is_full.load(Ordering::SeqCst).then_some(())
        })
        .await;
        let n_before = n_made.load(Ordering::SeqCst);
        let answer = send(log_in_call(&world.stranger, PASSWORD)).await;
        (answer, n_made.load(Ordering::SeqCst) - n_before)
    };
    let (_, (answer, n_passed)) = futures::join!(flood, owner);
    answer.expect(200);
    assert!(n_passed < 20, "{n_passed} sign-ups passed a log-in");
}

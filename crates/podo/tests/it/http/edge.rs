//! The edge: rate limits by address, trusted proxies, silent connections.

use crate::support::client::{Answer, send};
use crate::support::world::World;
use futures::future::{Either, join_all, select};
use hyper::client::conn::http2;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use reqwest::Method;
use std::io::{ErrorKind, Read};
use std::net::{Ipv4Addr, TcpStream};
use std::pin::pin;
use std::time::Duration;

async fn ask_for(world: &World, client: &str) -> Answer {
    let call = world.stranger.call(Method::GET, "/api/events");
    send(call.header("X-Forwarded-For", client)).await
}

/// How many of these quick calls are refused.
async fn n_refused(world: &World, n_calls: usize, client: &str) -> usize {
    let mut n_refused = 0;
    for _ in 0..n_calls {
        let answer = ask_for(world, client).await;
        if answer.status == 429 {
            answer.refused(429, "TOO_MANY_REQUESTS");
            assert_eq!(answer.header("retry-after"), "1");
            n_refused += 1;
        }
    }
    n_refused
}

/// A server whose clock stands still, so that all calls fall into one second on any machine.
async fn ten_a_second(more: &[(&str, &str)]) -> World {
    let limits = [("PODO_LIMITS", "on"), ("PODO_REQUESTS_PER_SECOND_PER_IP", "10")];
    let world = World::with(&[limits.as_slice(), more].concat()).await;
    world.clock.stop_at(world.context().now());
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_over_its_rate_limit_gets_a_retry_after() {
    let world = ten_a_second(&[]).await;
    assert!(n_refused(&world, 60, "203.0.113.1").await > 0);
    assert!(n_refused(&world, 1, "203.0.113.2").await > 0, "a stranger's word counts for nothing");
    world.clock.advance(Duration::from_secs(2));
    assert_eq!(n_refused(&world, 5, "203.0.113.1").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_over_the_rate_limit_of_a_route_gets_a_retry_after() {
    let settings = [("PODO_LIMITS", "on"), ("PODO_REQUESTS_PER_MINUTE_PER_USER", "5")];
    let world = World::with(&settings).await;
    let (fan, other) = (world.fan().await, world.fan().await);
    for _ in 0..5 {
        let answer = fan.api.get("/api/wallet").await;
        answer.expect(200);
        assert_eq!(answer.header("ratelimit-policy"), "\"address\";q=100;w=1");
        assert!(answer.header("ratelimit").starts_with("\"address\";r="), "{answer:?}");
    }
    fan.api.get("/api/wallet").await.refused(429, "TOO_MANY_REQUESTS");
    fan.api.get("/api/tickets").await.expect(200);
    other.api.get("/api/wallet").await.expect(200);
    world.clock.advance(Duration::from_secs(13));
    fan.api.get("/api/wallet").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_proxy_of_ours_every_client_has_a_limit_of_their_own() {
    let world = ten_a_second(&[("PODO_TRUSTED_PROXIES", "127.0.0.0/8")]).await;
    assert!(n_refused(&world, 60, "203.0.113.1").await > 0);
    assert_eq!(n_refused(&world, 5, "203.0.113.2").await, 0);
    assert!(n_refused(&world, 1, "9.9.9.9, 203.0.113.1").await > 0, "made up in front");
}

/// Some proxies add a header line after the one that a client forged.
#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_a_client_made_up_does_not_hide_them() {
    let proxies = ("PODO_TRUSTED_PROXIES", "127.0.0.0/8");
    for (header, line) in [("x-forwarded-for", ""), ("forwarded", "for=")] {
        let world = ten_a_second(&[proxies, ("PODO_FORWARDED_HEADER", header)]).await;
        let mut n_refused = 0;
        for number in 0..60 {
            let call = world.stranger.call(Method::GET, "/api/events");
            let made_up = call.header(header, format!("{line}198.51.100.{number}"));
            let answer = send(made_up.header(header, format!("{line}203.0.113.1"))).await;
            n_refused += usize::from(answer.status == 429);
        }
        assert!(n_refused > 0, "{header}: sixty calls of one client, each with another address");
    }
}

/// Whether the server has closed the connection.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    match stream.read(&mut [0]) {
        Ok(n_bytes) => n_bytes == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_connections_of_one_address_do_not_lock_out_others() {
    let settings = [("PODO_LIMITS", "on"), ("PODO_CONNECTIONS_PER_IP", "50")];
    let world = World::with(&settings).await;
    let address = world.running.address;
    let connect = |_| TcpStream::connect(address).unwrap();
    let mut silent: Vec<TcpStream> = (0..200).map(connect).collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let n_open = silent.iter_mut().filter_map(|it| (!is_closed(it)).then_some(())).count();
    assert!(n_open <= 50, "{n_open} are open");
    assert!(n_open >= 40, "{n_open} are open");
    let elsewhere =
        reqwest::Client::builder().local_address(Some(Ipv4Addr::new(127, 0, 0, 2).into()));
    let elsewhere = elsewhere.build().unwrap();
    let answer = elsewhere.get(format!("http://{address}/livez")).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    drop(silent);
    tokio::time::sleep(Duration::from_millis(200)).await;
    world.stranger.get("/api/events").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_over_https_send_strict_transport_security() {
    let encrypted = World::with(&[("PODO_PUBLIC_URL", "https://podo.example")]).await;
    let answer = encrypted.stranger.get("/api/events").await;
    assert_eq!(answer.header("strict-transport-security"), "max-age=31536000; includeSubDomains");
    let plain = World::start().await.stranger.get("/livez").await;
    assert_eq!(plain.header("strict-transport-security"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_is_far_too_long_is_not_read() {
    let world = World::start().await;
    let ask = async |length: usize, n_headers: usize| {
        let mut call = world.stranger.call(Method::GET, "/api/events");
        for number in 0..n_headers {
            call = call.header(format!("x-{number}"), "x".repeat(length / n_headers));
        }
        crate::support::client::try_send(call).await.map_or(0, |answer| answer.status)
    };
    assert_eq!(ask(8 * 1_024, 1).await, 200);
    for (length, n_headers) in [(32 * 1_024, 1), (1 << 20, 8), (200, 200)] {
        let status = ask(length, n_headers).await;
        assert!([0, 400, 431].contains(&status), "{length} bytes in {n_headers}: {status}");
    }
    assert_eq!(ask(1, 1).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_share_a_connection_of_http2() {
    let world = World::start().await;
    let address = world.running.address;
    let stream = TokioIo::new(tokio::net::TcpStream::connect(address).await.unwrap());
    let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
    let ask = |path: &str| {
        let request = Request::get(format!("http://{address}{path}")).body(String::new()).unwrap();
        let mut sender = sender.clone();
        async move { sender.send_request(request).await.unwrap().status() }
    };
    let paths = ["/livez", "/api/events", "/api/wallet", "/nowhere"];
    let all = pin!(join_all(paths.iter().cycle().take(40).map(|path| ask(path))));
    match select(all, pin!(connection)).await {
        Either::Left((statuses, _)) => {
            let expected = [200, 200, 401, 404].map(|code| StatusCode::from_u16(code).unwrap());
            assert!(statuses.chunks(4).all(|some| some == expected), "{statuses:?}");
        }
        Either::Right((ended, _)) => panic!("the connection ended: {ended:?}"),
    }
}

//! The real process: its command line, its pages, its shutdown.

use crate::support::client::{Api, send, text};
use crate::support::world::{Plan, World};
use podo_testbed::Launch;
use reqwest::Method;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Runs `podo` without the environment's own settings.
pub(crate) fn podo(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_podo")).env_clear().args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn check_config_shows_what_counts() {
    let shown = podo(&["check-config", "--data", "elsewhere"]);
    assert!(shown.status.success());
    let shown = stdout(&shown);
    assert!(shown.contains("data = \"elsewhere\""), "{shown}");
    assert!(shown.contains("hold_seconds = 300"), "{shown}");
    let manual = stdout(&podo(&["check-config", "--manual"]));
    assert!(manual.contains("# How long seats are held"), "{manual}");
}

#[test]
fn a_setting_that_does_not_exist_is_refused_by_name() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let file = folder.path().join("podo.toml");
    std::fs::write(&file, "hold_secnods = 3").unwrap();
    let file = file.to_str().unwrap();
    for command in ["check-config", "serve", "migrate"] {
        let refused = podo(&[command, "--config", file, "--data", file]);
        assert!(!refused.status.success(), "{command}");
        assert!(stderr(&refused).contains("hold_secnods"), "{}", stderr(&refused));
    }
}

#[test]
fn the_openapi_document_is_the_one_in_the_docs() {
    let printed: Value = serde_json::from_slice(&podo(&["openapi"]).stdout).unwrap();
    let kept = include_str!("../../../../../docs/openapi.json");
    let kept: Value = serde_json::from_str(kept).unwrap();
    assert!(text(&printed, "openapi").starts_with("3.1"), "{}", printed["openapi"]);
    let names = |document: &Value, member: &str| -> Vec<String> {
        document[member].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(names(&printed, "paths"), names(&kept, "paths"), "run `cargo xtask openapi`");
    let schemas = |document: &Value| names(&document["components"], "schemas");
    assert_eq!(schemas(&printed), schemas(&kept));
}

#[test]
fn a_command_that_is_unknown_or_has_no_data_says_so() {
    assert!(!podo(&["sing"]).status.success());
    let folder = TempDir::with_prefix("podo-").unwrap();
    let nothing = podo(&["verify", "--data", folder.path().to_str().unwrap()]);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(stderr(&nothing).contains("no database"), "{}", stderr(&nothing));
}

/// The launcher reads the address from the first line of standard output, so any other output there
/// breaks the start.
#[tokio::test(flavor = "multi_thread")]
async fn the_process_answers_and_ends_when_it_is_asked_to() {
    let mut podo = Launch::new(env!("CARGO_BIN_EXE_podo")).start().unwrap();
    let api = Api::at(podo.url());
    for (path, kind) in [
        ("/livez", "text/plain"),
        ("/readyz", "text/plain"),
        ("/metrics", "application/openmetrics-text"),
        ("/docs/", "text/html"),
        ("/api/openapi.json", "application/json"),
        ("/", "text/html"),
        ("/pay/sandbox", "text/html"),
        ("/shared/styles/base.css", "text/css"),
        ("/shared/app/api.js", "text/javascript"),
    ] {
        let answer = api.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.header("content-type").starts_with(kind), "{path}: {:?}", answer.headers);
    }
    let metrics = api.get("/metrics").await.text;
    assert!(metrics.contains("/readyz"), "{metrics}");
    let ended = podo.terminate().unwrap();
    assert_eq!(ended.code(), Some(0));
}

/// A request that still waits for its body at shutdown.
#[test]
fn a_request_under_way_is_answered_before_the_process_ends() {
    let mut podo = Launch::new(env!("CARGO_BIN_EXE_podo")).start().unwrap();
    let address = podo_testbed::network::http::address(podo.url()).unwrap();
    let body = r#"{"email":"unknown@podo.kr","password":"green grapes"}"#;
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /api/auth/login HTTP/1.1\r\nHost: podo\r\nContent-Type: application/json\r\n\
         Expect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut go_on = *b"HTTP/1.1 100 Continue\r\n\r\n";
    stream.read_exact(&mut go_on).unwrap();
    assert!(go_on.starts_with(b"HTTP/1.1 100"), "the handler waits for the body");

    let ending = std::thread::spawn(move || podo.terminate().unwrap().code());
    let deadline = Instant::now() + Duration::from_secs(10);
    while TcpStream::connect(address).is_ok() {
        assert!(Instant::now() < deadline, "it goes on taking connections");
        std::thread::yield_now();
    }
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    assert_eq!(ending.join().unwrap(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_has_the_headers_that_keep_it_safe() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let seats = format!("/api/schedules/{}/seats", show.schedule);
    for path in ["/", "/livez", "/metrics", "/docs/", "/api/events", "/api/wallet", "/no", &seats] {
        let answer = world.stranger.get(path).await;
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("x-frame-options", "DENY"),
        ] {
            assert_eq!(answer.header(name), value, "{path}");
        }
        assert!(answer.header("content-security-policy").contains("frame-ancestors"), "{path}");
        assert!(!answer.header("cache-control").is_empty(), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_not_changed_is_not_sent_again() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let seats = format!("/api/schedules/{}/seats", show.schedule);
    let ask = async |path: &str, accept: &str, tag: &str| {
        let call = world.stranger.call(Method::GET, path).header("Accept", accept);
        send(call.header("If-None-Match", tag)).await
    };
    let packed = "application/octet-stream";
    let mut tags = Vec::new();
    for (path, accept) in [("/", "*/*"), (seats.as_str(), "*/*"), (seats.as_str(), packed)] {
        let first = ask(path, accept, "\"no\"").await;
        assert_eq!(first.status, 200, "{path}");
        let tag = first.header("etag").to_owned();
        let again = ask(path, accept, &tag).await;
        assert_eq!((again.status, again.text.as_str()), (304, ""), "{path}");
        assert_eq!(again.header("etag"), tag, "{path}");
        tags.push(tag);
    }
    assert_ne!(tags[1], tags[2], "one tag, one representation");
    world.fan_inside(&show).await.hold(&show, &[0]).await;
    show.wait_for_letter(&world.stranger, 0, 'H').await;
    assert_eq!(ask(&seats, "*/*", &tags[1]).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_requests_from_one_address_get_a_retry_after() {
    let settings = [("PODO_LIMITS", "on"), ("PODO_REQUESTS_PER_SECOND_PER_IP", "20")];
    let world = World::with(&settings).await;
    let asks = (0..60).map(|_| world.stranger.get("/api/events"));
    let answers = futures::future::join_all(asks).await;
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status != 200).collect();
    assert!((20..60).contains(&refused.len()), "{} of 60 were refused", refused.len());
    for answer in refused {
        answer.refused(429, "TOO_MANY_REQUESTS");
        assert!(answer.header("retry-after").parse::<u64>().unwrap() > 0);
    }
}

/// The permission bits of a file or folder.
fn mode_of(path: &std::path::Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn the_data_folder_and_its_files_are_closed_to_others() {
    let home = TempDir::with_prefix("podo-").unwrap();
    let data = home.path().join("data");
    let start = || Launch::new(env!("CARGO_BIN_EXE_podo")).data(&data).start().unwrap();
    let assert_closed = || {
        assert_eq!(mode_of(&data), 0o700);
        for file in ["podo.db", "podo.db-wal", "podo.db-shm", "secret.key"] {
            assert_eq!(mode_of(&data.join(file)), 0o600, "{file}");
        }
    };
    let mut node = start();
    assert_closed();
    node.kill_9().unwrap();
    // An earlier version or a copy left it readable.
    let open = Command::new("chmod").args(["-R", "a+rX"]).arg(&data).status().unwrap();
    assert!(open.success() && mode_of(&data.join("podo.db")) == 0o644);
    let key = Command::new("chmod").arg("600").arg(data.join("secret.key")).status().unwrap();
    assert!(key.success());
    let _node = start();
    assert_closed();
}

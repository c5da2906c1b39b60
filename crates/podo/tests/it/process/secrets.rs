//! Personal data is never stored or logged in plain text (I23), and keys can be rotated.

use crate::support::canary;
use crate::support::client::{Api, text};
use podo_testbed::{Gateways, Launch, TempDir};
use serde_json::json;
use std::process::Command;

#[tokio::test(flavor = "multi_thread")]
async fn no_personal_data_is_found_in_the_database_or_the_log() {
    let portone = Gateways::start().unwrap();
    let launch = Launch::new(env!("CARGO_BIN_EXE_podo"));
    let settings = canary::settings(&portone);
    let launch = settings.iter().fold(launch, |launch, (name, value)| launch.env(name, value));
    let launch = launch.env("RUST_LOG", "debug").env("PODO_CONFIRM_EMAIL", "on");
    let mut podo = launch.start().unwrap();
    let secrets = canary::live(podo.url(), &portone).await;
    // The files as a thief finds them, before any cleanup.
    podo.kill_9().unwrap();
    assert_eq!(canary::found_in(&podo.data(), &secrets), Vec::<String>::new());
    let log = podo.log_path();
    assert_eq!(canary::found_in(log.parent().unwrap(), &secrets), Vec::<String>::new());
    for line in std::fs::read_to_string(&log).unwrap().lines() {
        let entry: serde_json::Value = serde_json::from_str(line).expect(line);
        assert!(entry["timestamp"].is_string() && entry["level"].is_string(), "{line}");
    }
    // The control: the search itself works.
    std::fs::write(podo.data().join("canary"), format!("x{}y", secrets[0])).unwrap();
    assert_eq!(canary::found_in(&podo.data(), &secrets).len(), 1);
}

/// The numbers of the keys that encrypted the names in a database.
fn key_numbers(data: &std::path::Path) -> Vec<u8> {
    let database = rusqlite::Connection::open(data.join("podo.db")).unwrap();
    let mut rows = database.prepare("select distinct substr(name, 1, 1) from users").unwrap();
    let read = |row: &rusqlite::Row<'_>| row.get::<_, Vec<u8>>(0);
    rows.query_map([], read).unwrap().map(|bytes| bytes.unwrap()[0]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_of_personal_fields_can_be_changed() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let (first, second) = ("11".repeat(32), "22".repeat(32));
    let with = |keys: &[(&str, &str)]| {
        let launch = Launch::new(env!("CARGO_BIN_EXE_podo")).data(folder.path());
        keys.iter().fold(launch, |launch, (name, value)| launch.env(name, value)).start().unwrap()
    };
    let mut podo = with(&[]);
    let api = Api::at(podo.url());
    for number in 0..5 {
        let body = json!({ "email": format!("fan{number}@podo.kr"), "name": "김포도",
            "password": "sour green grapes", "phone": "010-1234-5678" });
        api.post("/api/auth/signup", &body).await.expect(201);
    }
    podo.terminate().unwrap();
    assert_eq!(key_numbers(folder.path()), [1]);
    let rotate = |keys: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_podo"));
        command.env_clear().envs(keys.iter().copied()).args(["admin", "rotate-keys", "--data"]);
        let output = command.arg(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(rotate(&[]).starts_with("Re-encrypted 0 rows"));
    let printed = rotate(&[("PODO_FIELD_SECRET", &first)]);
    assert!(printed.starts_with("Re-encrypted 5 rows"), "{printed}");
    let both = [("PODO_FIELD_SECRET", &*second), ("PODO_FIELD_SECRET_PREVIOUS", &*first)];
    assert!(rotate(&both).starts_with("Re-encrypted 5 rows"));
    assert!(rotate(&both).starts_with("Re-encrypted 0 rows"), "what is done is passed over");
    let numbers = key_numbers(folder.path());
    assert!(numbers.len() == 1 && numbers[0] > 1, "{numbers:?}");
    let podo = with(&[("PODO_FIELD_SECRET", &second)]);
    let body = json!({ "email": "fan3@podo.kr", "password": "sour green grapes" });
    let session = Api::at(podo.url()).post("/api/auth/login", &body).await.expect(200);
    assert_eq!(text(&session["user"], "name"), "김포도");
}

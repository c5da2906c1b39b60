//! A backup taken while the server runs is complete; `podo doctor` names what is wrong.

use crate::process::cli::podo;
use crate::support::client::Api;
use podo_testbed::Launch;
use serde_json::json;
use std::path::Path;
use tempfile::TempDir;

fn path(folder: &Path) -> &str {
    folder.to_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_a_running_server_is_restored_with_everybody_in_it() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let [data, copy, other] = ["data", "copy", "other"].map(|name| folder.path().join(name));
    let mut running = Launch::new(env!("CARGO_BIN_EXE_podo")).data(&data).start().unwrap();
    let fan = json!({ "email": "fan@podo.kr", "password": "grapes-in-the-sun", "name": "김포도" });
    Api::at(running.url()).post("/api/auth/signup", &fan).await.expect(201);
    let backed_up = podo(&["backup", path(&copy), "--data", path(&data)]);
    assert!(backed_up.status.success(), "{backed_up:?}");
    let again = podo(&["backup", path(&copy), "--data", path(&data)]);
    assert!(!again.status.success(), "a backup is never overwritten");
    let over = podo(&["restore", path(&copy), "--data", path(&data)]);
    assert!(!over.status.success(), "nor a database");
    running.terminate().unwrap();

    let restored = podo(&["restore", path(&copy), "--data", path(&other)]);
    assert!(restored.status.success(), "{restored:?}");
    let running = Launch::new(env!("CARGO_BIN_EXE_podo")).data(&other).start().unwrap();
    let login = json!({ "email": "fan@podo.kr", "password": "grapes-in-the-sun" });
    let session = Api::at(running.url()).post("/api/auth/login", &login).await.expect(200);
    let fan = Api::at(running.url()).with_token(session["accessToken"].as_str().unwrap());
    assert_eq!(fan.get("/api/users/me").await.expect(200)["name"], "김포도");
}

#[test]
fn the_doctor_names_what_is_wrong_and_changes_nothing() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let data = folder.path().join("data");
    let well = podo(&["doctor", "--data", path(&data)]);
    assert!(well.status.success(), "{well:?}");
    assert!(!data.exists());
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_podo"));
    command.env_clear().env("PODO_LIVE_URL", "redis://127.0.0.1:1");
    let unwell = command.args(["doctor", "--data", path(&data)]).output().unwrap();
    assert_eq!(unwell.status.code(), Some(1));
    let said = String::from_utf8(unwell.stdout).unwrap();
    assert!(said.contains("no connection to 127.0.0.1:1"), "{said}");
}

//! What operators see: readiness with its reasons, the admin listener, migration plans.

use crate::process::cli::podo;
use crate::support::client::Api;
use crate::support::world::World;
use tempfile::TempDir;

#[tokio::test(flavor = "multi_thread")]
async fn a_node_says_what_its_readiness_hangs_on() {
    let world = World::start().await;
    let ready = world.stranger.get("/readyz").await;
    assert_eq!((ready.status, ready.text.as_str()), (200, "ok"));
    for path in ["/readyz?verbose", "/readyz?verbose=1", "/healthz?x=1&verbose"] {
        let ready = world.stranger.get(path).await;
        assert_eq!(ready.status, 200, "{}", ready.text);
        let lines: Vec<&str> = ready.text.lines().collect();
        assert_eq!(lines.len(), 6, "{}", ready.text);
        assert_eq!(lines[0], "[+] process: running as api,admitter,worker");
        assert_eq!(lines[1], "[+] store: answers");
        assert!(lines[2].starts_with("[+] clock: "), "{}", lines[2]);
        assert_eq!(lines[3], "[+] live engine: answers");
        assert!(lines[4].starts_with("[+] messages: "), "{}", lines[4]);
        assert_eq!(lines[5], "ok");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn operators_can_have_an_address_of_their_own() {
    let world = World::with(&[("PODO_LISTEN_ADMIN", "127.0.0.1:0")]).await;
    let inner = world.running.inner.expect("an address for operators");
    let inner = Api::at(&format!("http://{inner}"));
    for path in ["/livez", "/readyz", "/readyz?verbose", "/healthz", "/metrics"] {
        let answer = inner.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("x-request-id").len(), 32, "{path}");
    }
    assert!(inner.get("/metrics").await.text.contains("podo_outbox_pending"));
    for path in ["/", "/api/events", "/docs", "/api/openapi.json"] {
        inner.get(path).await.refused(404, "NOT_FOUND");
    }
    // The public listener no longer serves the metrics, but still serves the load balancer's
    // checks.
    assert_eq!(world.stranger.get("/metrics").await.status, 404);
    world.stranger.get("/livez").await.expect(200);
    world.stranger.get("/readyz").await.expect(200);
    // The control: without the admin listener, the public one serves them.
    let plain = World::start().await;
    assert!(plain.running.inner.is_none());
    assert!(plain.stranger.get("/metrics").await.text.contains("podo_outbox_pending"));
}

#[test]
fn a_plan_shows_every_statement_and_changes_nothing() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let data = folder.path().join("data");
    let podo = |arguments: &[&str]| {
        let output = podo(&[arguments, &["--data", data.to_str().unwrap()]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let plan = podo(&["migrate", "--plan"]);
    assert!(plan.starts_with("-- From V0 to V"), "{plan}");
    assert!(plan.contains("\n-- V1 podo\n") && plan.contains("create table users ("), "{plan}");
    assert!(!data.exists(), "a plan makes nothing");
    podo(&["migrate"]);
    let done = podo(&["migrate", "--plan"]);
    assert!(done.starts_with("-- The schema is up to date (V"), "{done}");
    assert_eq!(done.lines().count(), 1, "{done}");
    // A schema that is one step behind gets that step and no other.
    let database = rusqlite::Connection::open(data.join("podo.db")).unwrap();
    let newest = "select max(version) from refinery_schema_history";
    let version = || database.query_row(newest, [], |row| row.get::<_, i64>(0)).unwrap();
    let last = version();
    let forget = "delete from refinery_schema_history where version = ?1";
    database.execute(forget, [last]).unwrap();
    let plan = podo(&["migrate", "--plan"]);
    // Numbers may have gaps.
    assert!(plan.starts_with(&format!("-- From V{} to V{last}.\n", version())), "{plan}");
    assert_eq!(plan.matches("\n-- V").count(), 1, "{plan}");
}

#[test]
fn the_doctor_looks_at_the_clocks_too() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let output = podo(&["doctor", "--data", folder.path().to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    for what in ["store's clock", "live clock"] {
        assert!(text.lines().any(|line| line.starts_with("ok") && line.contains(what)), "{text}");
    }
}

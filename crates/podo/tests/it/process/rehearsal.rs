//! A rehearsal simulates a crowd in its own sandbox and doesn't touch the date.

use crate::process::cli::podo;
use crate::support::world::{Plan, World, config};
use podo::bootstrap;
use podo_domain::ScheduleId;
use tempfile::TempDir;

#[tokio::test(flavor = "multi_thread")]
async fn a_rehearsal_keeps_every_invariant_advises_a_rate_and_touches_nothing() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let config = config(folder.path(), &[]);
    let world = World::on(&config, bootstrap::context(&config).await.unwrap()).await;
    let show = world.show(Plan { n_seats: 100, ..Plan::default() }).await;
    let fan = world.fan_inside(&show).await;
    fan.buy(&show, 0).await;
    show.wait_for_letter(&world.stranger, 0, 'S').await;
    let before = world.stranger.get(&format!("/api/schedules/{}/seats", show.schedule)).await;
    let people = world.organiser.get("/api/admin/users").await.expect(200);

    let data = folder.path().to_str().unwrap();
    let id = show.schedule.to_string();
    let arguments = ["rehearse", "--schedule", &id, "--fans", "60", "--data", data];
    let played = podo(&[&arguments[..], &["--chaos", "store,gateway,webhooks"]].concat());
    let said = String::from_utf8(played.stdout).unwrap();
    assert!(played.status.success(), "{said}");
    assert!(said.contains("The server was killed and restarted."), "{said}");
    assert!(said.contains("PASS  every acknowledged purchase exists"), "{said}");
    assert!(said.contains("Configure  admitPerSecond"), "{said}");
    assert!(!said.contains("FAIL"), "{said}");

    let after = world.stranger.get(&format!("/api/schedules/{}/seats", show.schedule)).await;
    assert_eq!(before.expect(200)["seats"], after.expect(200)["seats"]);
    let now = world.organiser.get("/api/admin/users").await.expect(200);
    assert_eq!(people["items"], now["items"]);
    let left = std::fs::read_dir(folder.path()).unwrap().flatten();
    let names: Vec<_> = left.map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| !name.starts_with("rehearsal-")), "{names:?}");

    let unknown_id =
        "0190a000-0000-7000-8000-000000000000".parse::<ScheduleId>().unwrap().to_string();
    let refused = podo(&["rehearse", "--schedule", &unknown_id, "--data", data]);
    assert_eq!(refused.status.code(), Some(1));
}

//! A rehearsal simulates a crowd in its own sandbox and doesn't touch the date.

use crate::process::cli::podo;
use crate::support::world::{Plan, World, config};
use podo::bootstrap;
use podo_domain::{ScheduleId, Timestamp};
use serde_json::json;
use std::time::Duration;
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

/// The date is divided for members and everybody, with a type, a fee, a code and two kept seats.
#[tokio::test(flavor = "multi_thread")]
async fn a_rehearsal_plays_the_phases_types_codes_and_kept_seats_of_the_date() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let config = config(folder.path(), &[]);
    let world = World::on(&config, bootstrap::context(&config).await.unwrap()).await;
    let hour = Duration::from_secs(3_600);
    let show = world.show(Plan { n_seats: 100, opens_in: hour, ..Plan::default() }).await;
    let path = format!("/api/admin/schedules/{}", show.schedule);
    let view = world.stranger.get(&format!("/api/schedules/{}", show.schedule)).await.expect(200);
    let opens_at: Timestamp = serde_json::from_value(view["saleStartsAt"].clone()).unwrap();
    let phase = |name: &str, audience: &str, from: u32| {
        json!({ "name": name, "nameEn": name, "audience": audience, "seatsPerPerson": 2,
            "startsAt": opens_at.plus(hour * from), "endsAt": opens_at.plus(hour * (from + 1)) })
    };
    let phases = json!({ "phases": [phase("A", "CODE", 0), phase("B", "MEMBERS", 1),
        phase("C", "DRAWN", 2), phase("D", "EVERYBODY", 3)] });
    world.organiser.put(&format!("{path}/phases"), &phases).await.expect(200);
    let options = json!({ "ticketTypes": [{ "name": "청소년", "nameEn": "Youth", "percent": 20 }],
        "fees": { "booking": { "amount": 2_000, "refund": "NEVER" } } });
    world.organiser.put(&format!("{path}/price-options"), &options).await.expect(200);
    let code = json!({ "code": "GRAPES", "percent": 10, "per": "ORDER", "usesMax": 1 });
    world.organiser.post(&format!("{path}/promotions"), &code).await.expect(201);
    let seats = [show.seat(0), show.seat(1)];
    let kept = json!({ "name": "Sponsor", "kind": "SPONSOR", "seatIds": seats });
    world.organiser.post(&format!("{path}/allocations"), &kept).await.expect(201);

    let (data, id) = (folder.path().to_str().unwrap(), show.schedule.to_string());
    let played = podo(&["rehearse", "--schedule", &id, "--fans", "48", "--data", data]);
    let said = String::from_utf8(played.stdout).unwrap();
    assert!(played.status.success(), "{said}");
    let copied = "Copied: 3 phases, 1 ticket types, 1 codes (as test codes), 2 kept seats. \
                  Phases for winners of a draw are left out: 1.";
    assert!(said.contains(copied), "{said}");
    assert!(said.contains("PASS  every invariant holds") && !said.contains("FAIL"), "{said}");
    // Both kinds of proof, and what fans choose at checkout.
    assert!(said.contains("verify") && said.contains("order"), "{said}");
    let promotions = world.organiser.get(&format!("{path}/promotions")).await.expect(200);
    assert_eq!(promotions["items"][0]["used"], 0, "the code of the date isn't used");
}

/// `podo bench --profile phases` and `--profile members` with few fans.
#[test]
fn a_bench_plays_a_presale_then_the_general_sale_and_uploads_a_member_list() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let data = folder.path().to_str().unwrap();
    let bench = |profile: &str, fans: &str| {
        let arguments =
            ["bench", "--profile", profile, "--fans", fans, "--seats", "200", "--data", data];
        let played = podo(&arguments);
        let said = String::from_utf8(played.stdout).unwrap();
        let failed = String::from_utf8_lossy(&played.stderr).into_owned();
        assert!(played.status.success(), "{said}\n{failed}");
        said
    };
    let said = bench("phases", "40");
    assert!(said.contains("purchases in a sale with 40 fans"), "{said}");
    assert!(said.contains("verify") && said.contains("order"), "{said}");
    assert!(said.contains("places: 40 given, 0 lost, 0 given twice, 0 grew, 0 passed"), "{said}");
    let said = bench("members", "2000");
    assert!(said.contains("lines of a list of 2000 members"), "{said}");
}

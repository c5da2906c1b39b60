//! Seats that an organiser keeps from sale, over HTTP.

use crate::booking::race::wired_without;
use crate::support::client::{Answer, send, text};
use crate::support::world::{PRICE, Plan, Show, World, config};
use futures::future::join_all;
use podo_adapters::sql::Guard;
use podo_app::operations::port::invariants::Finding;
use podo_domain::identity::permissions::{Membership, TeamRole};
use podo_domain::{SeatId, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tempfile::TempDir;

fn path(show: &Show) -> String {
    format!("/api/admin/schedules/{}/allocations", show.schedule)
}

fn seat_ids(show: &Show, indexes: &[u32]) -> Vec<SeatId> {
    indexes.iter().map(|index| show.seat(*index)).collect()
}

async fn create(world: &World, show: &Show, name: &str, seats: &[u32]) -> Answer {
    let body = json!({ "name": name, "kind": "ARTIST", "seatIds": seat_ids(show, seats) });
    world.organiser.post(&path(show), &body).await
}

/// Sends seats to a command of an allocation.
async fn tell(world: &World, show: &Show, id: &str, verb: &str, seats: &[u32]) -> Answer {
    let body = json!({ "seatIds": seat_ids(show, seats) });
    world.organiser.post(&format!("{}/{id}/{verb}", path(show)), &body).await
}

async fn import(world: &World, show: &Show, id: &str, csv: &str) -> Answer {
    let request = world.organiser.call(Method::POST, &format!("{}/{id}/import", path(show)));
    send(request.header("Content-Type", "text/csv").body(csv.to_owned())).await
}

async fn listed(world: &World, show: &Show) -> Value {
    world.organiser.get(&path(show)).await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn kept_seats_look_sold_to_fans_until_they_are_released() {
    let world = World::start().await;
    let show = world.show(Plan { n_seats: 4, ..Plan::default() }).await;
    let fan = world.fan_inside(&show).await;
    let made = create(&world, &show, "아티스트", &[0, 1]).await.expect(201);
    let id = text(&made, "id");
    assert_eq!((&made["kept"], &made["issued"]), (&json!(2), &json!(0)));
    show.wait_for_letter(&world.stranger, 0, 'S').await;
    fan.select(&show, &[0]).await.refused(409, "SEAT_TAKEN");
    let held = fan.best(&show, json!({ "count": 2 })).await.expect(201);
    let numbers: Vec<_> =
        held["seats"].as_array().unwrap().iter().map(|it| &it["number"]).collect();
    assert_eq!(numbers, ["A-3", "A-4"], "the best seats are kept");
    assert_eq!(listed(&world, &show).await["status"], "KKHH", "organisers see who keeps it");
    let layout = format!("/api/admin/schedules/{}/layout", show.schedule);
    world.organiser.get(&layout).await.expect(200);
    let live = world.organiser.get(&format!("/api/admin/schedules/{}/live", show.schedule)).await;
    let live = live.expect(200);
    assert_eq!(
        (&live["kept"], &live["available"], &live["sold"]),
        (&json!(2), &json!(0), &json!(0))
    );
    let other = world.fan_inside(&show).await;
    show.wait_for_letter(&world.stranger, 2, 'H').await;
    other.best(&show, json!({ "count": 1 })).await.refused(409, "NO_SEATS_TOGETHER");

    tell(&world, &show, &id, "release", &[1]).await.expect(200);
    show.wait_for_letter(&world.stranger, 1, 'A').await;
    other.select(&show, &[1]).await.expect(201);
    let ended = world.organiser.post(&format!("{}/{id}/release", path(&show)), &json!({})).await;
    assert!(ended.expect(200)["releasedAt"].is_string());
    show.wait_for_letter(&world.stranger, 0, 'A').await;
    other.select(&show, &[0]).await.expect(201);
    let list = listed(&world, &show).await;
    assert_eq!((&list["items"][0]["kept"], &list["seats"]), (&json!(0), &json!([])));
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_kept_or_released_is_refused_with_its_seats() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    fan.hold(&show, &[3]).await;
    let refused = create(&world, &show, "아티스트", &[2, 3]).await.refused(409, "SEATS_NOT_FREE");
    assert_eq!(refused["seatIds"], json!(seat_ids(&show, &[3])));
    assert_eq!(listed(&world, &show).await["items"], json!([]), "nothing half done");
    let id = text(&create(&world, &show, "아티스트", &[0, 1]).await.expect(201), "id");
    let twice = create(&world, &show, "아티스트", &[]).await.refused(409, "ALLOCATION_EXISTS");
    assert_eq!(twice["errors"][0]["field"], "name");
    let refused = tell(&world, &show, &id, "release", &[0, 5]).await.refused(409, "SEATS_NOT_KEPT");
    assert_eq!(refused["seatIds"], json!(seat_ids(&show, &[5])));
    tell(&world, &show, &id, "seats", &[]).await.refused(422, "NO_SEATS");
    tell(&world, &show, &id, "seats", &[4, 4]).await.refused(422, "SEAT_REPEATED");
    tell(&world, &show, &id, "seats", &[99]).await.refused(404, "NOT_FOUND");
    let other = world.show(Plan::default()).await;
    tell(&world, &other, &id, "seats", &[4]).await.refused(404, "NOT_FOUND");
    let past = json!({ "name": "B", "kind": "SPONSOR", "releaseAt": "2020-01-01T00:00:00Z" });
    let refused = world.organiser.post(&path(&show), &past).await;
    assert_eq!(refused.refused(422, "INVALID_ALLOCATION")["errors"][0]["field"], "releaseAt");
    world.organiser.post(&format!("{}/{id}/release", path(&show)), &json!({})).await.expect(200);
    tell(&world, &show, &id, "seats", &[4]).await.refused(409, "ALLOCATION_RELEASED");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_seats_is_applied_as_a_whole_or_refused_line_by_line() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    fan.hold(&show, &[3]).await;
    let id = text(&create(&world, &show, "스폰서", &[]).await.expect(201), "id");
    let lines = |answer: Answer| {
        let refused = answer.refused(422, "INVALID_SEAT_LIST");
        let errors = refused["errors"].as_array().unwrap().clone();
        assert!(errors.iter().all(|it| it["field"] == "seat" && it["detail"].is_string()));
        errors.iter().map(|it| it["line"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(lines(import(&world, &show, &id, "A-1\nA-2\n").await), [1]);
    let csv = "seat,memo\nA-1,ok\nZ-1,unknown\nA-1,again\nA-2\n";
    assert_eq!(lines(import(&world, &show, &id, csv).await), [3, 4, 5]);
    assert_eq!(lines(import(&world, &show, &id, "seat\nA-1\nA-4\n").await), [3], "A-4 is held");
    assert_eq!(listed(&world, &show).await["items"][0]["kept"], 0, "nothing half done");
    let kept = import(&world, &show, &id, "좌석,메모\r\n\"A-1\",\"무대, 앞\"\r\nA-2,\r\n").await;
    assert_eq!(kept.expect(200)["kept"], 2);
    let seats = &listed(&world, &show).await["seats"];
    let expected =
        |index| json!({ "seatId": show.seat(index), "allocationId": id, "issued": false });
    assert_eq!(*seats, json!([expected(0), expected(1)]));
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_job_releases_an_allocation_at_its_time() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let id = text(&create(&world, &show, "예비", &[0]).await.expect(201), "id");
    let at: Timestamp = world.context().now().plus(Duration::from_secs(600));
    let body = json!({ "name": "예비석", "kind": "PRODUCTION", "note": "FOH", "releaseAt": at });
    let changed = world.organiser.put(&format!("{}/{id}", path(&show)), &body).await.expect(200);
    assert_eq!((&changed["name"], &changed["note"]), (&json!("예비석"), &json!("FOH")));
    show.wait_for_letter(&world.stranger, 0, 'S').await;
    world.clock.advance(Duration::from_secs(600));
    show.wait_for_letter(&world.stranger, 0, 'A').await;
    assert!(listed(&world, &show).await["items"][0]["releasedAt"].is_string());
    let audit = world.organiser.get("/api/admin/audit?action=allocation").await.expect(200);
    let actions: Vec<_> =
        audit["items"].as_array().unwrap().iter().map(|it| text(it, "action")).collect();
    let expected =
        ["allocation.release", "allocation.change", "allocation.keep", "allocation.create"];
    assert_eq!(actions, expected);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_people_with_the_permission_keep_seats() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let body = json!({ "name": "아티스트", "kind": "ARTIST" });
    for (role, status) in [(TeamRole::Viewer, 403), (TeamRole::Gate, 403), (TeamRole::Manager, 201)]
    {
        let api = world.member(Membership::preset(role)).await;
        api.post(&path(&show), &body).await.expect(status);
    }
    world.finish().await;
}

/// Fans take the best seats while an organiser keeps and releases the same ones. Returns the seats
/// that are kept in the end, and those that fans hold, each as often as it is held.
async fn keep_while_fans_take_the_best(world: &World) -> (BTreeSet<String>, Vec<String>) {
    let show = world.show(Plan { n_seats: 40, ..Plan::default() }).await;
    let id = text(&create(world, &show, "아티스트", &[]).await.expect(201), "id");
    let mut fans = world.fans(24).await;
    join_all(fans.iter_mut().map(|fan| fan.go_inside(&show))).await;
    let organiser = async {
        let mut kept: BTreeSet<u32> = BTreeSet::new();
        for round in 0..60_u32 {
            let seat = (round * 7) % 40;
            if tell(world, &show, &id, "seats", &[seat]).await.status == 200 {
                kept.insert(seat);
            }
            if round % 3 == 2
                && let Some(seat) = kept.pop_first()
            {
                // Refused without the guards: a fan has the seat as well.
                tell(world, &show, &id, "release", &[seat]).await;
            }
        }
        kept
    };
    let best = join_all(fans.iter().map(|fan| fan.best(&show, json!({ "count": 1 }))));
    let (kept, answers) = tokio::join!(organiser, best);
    let held = answers.iter().filter(|answer| answer.status == 201);
    let held = held.map(|answer| text(&answer.expect(201)["seats"][0], "id")).collect();
    (kept.into_iter().map(|seat| show.seat(seat).to_string()).collect(), held)
}

#[tokio::test(flavor = "multi_thread")]
async fn best_available_never_sells_a_kept_seat_while_seats_are_kept_and_released() {
    let world = World::start().await;
    let (kept, held) = keep_while_fans_take_the_best(&world).await;
    let held_once: BTreeSet<String> = held.iter().cloned().collect();
    assert_eq!(held_once.len(), held.len(), "a seat is held twice");
    assert!(!held.is_empty() && !kept.is_empty());
    assert_eq!(kept.intersection(&held_once).next(), None, "a seat is kept and held");
    world.finish().await;
}

/// The control: without the comparison and the filter, fans and the organiser get the same seats.
#[tokio::test(flavor = "multi_thread")]
async fn without_the_comparison_best_available_and_an_organiser_get_the_same_seats() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let config = config(folder.path(), &[]);
    let off = vec![Guard::SeatIsCompared];
    let world = World::on(&config, wired_without(&config, off).await).await;
    keep_while_fans_take_the_best(&world).await;
    let broken = |id: &str| {
        let id = id.to_owned();
        move |finding: &Finding| finding.id == id && finding.n_broken > 0
    };
    let findings = world.findings().await;
    let is_damaged = ["I1", "I2", "I29"].iter().any(|id| findings.iter().any(broken(id)));
    assert!(is_damaged, "the control must show the damage: {findings:?}");
    world.abandon();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unpaid_hold_keeps_its_price_while_its_neighbour_is_kept() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    create(&world, &show, "아티스트", &[1]).await.expect(201);
    fan.charge(PRICE).await;
    let reservation = fan.hold(&show, &[0]).await;
    fan.pay_from_wallet(&reservation).await.expect(200);
    world.finish().await;
}

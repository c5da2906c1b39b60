//! Simulated fans, sent from the control room.

use crate::support::client::text;
use crate::support::world::{Plan, World, until};
use serde_json::json;

const PATH: &str = "/api/admin/simulation";

#[tokio::test(flavor = "multi_thread")]
async fn simulated_fans_buy_seats_and_leave_a_number() {
    let world = World::with(&[("PODO_LIMITS", "off")]).await;
    let show = world.show(Plan::default()).await;
    let idle = world.organiser.get(PATH).await.expect(200);
    assert_eq!(idle["status"], json!("IDLE"));
    let body = json!({ "scheduleId": show.schedule, "fans": 3, "seconds": 0, "botPercent": 50 });
    world.organiser.post(PATH, &body).await.expect(202);
    let done = until("the fans are done", async || {
        let state = world.organiser.get(PATH).await.expect(200);
        (text(&state, "status") == "DONE").then_some(state)
    })
    .await;
    assert_eq!(done["progress"]["finished"], json!(3), "{done}");
    assert_eq!(done["report"]["unexpected"], json!(0), "{done}");
    world.finish().await;
}

/// The limit per address is on, and far below what the fans need together.
#[tokio::test(flavor = "multi_thread")]
async fn simulated_fans_neither_meet_the_limit_of_an_address_nor_spend_the_organisers() {
    let limits = [("PODO_LIMITS", "on"), ("PODO_REQUESTS_PER_SECOND_PER_IP", "60")];
    let world = World::with(&limits).await;
    let show = world.show(Plan::default()).await;
    let body = json!({ "scheduleId": show.schedule, "fans": 150, "seconds": 0 });
    world.organiser.post(PATH, &body).await.expect(202);
    let done = until("the fans are done", async || {
        let state = world.organiser.get(PATH).await.expect(200);
        (text(&state, "status") == "DONE").then_some(state)
    })
    .await;
    assert_eq!(done["progress"]["finished"], json!(150), "{done}");
    assert_eq!(done["report"]["unexpected"], json!(0), "{done}");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_simulation_runs_at_a_time_and_stops_on_request() {
    let world = World::with(&[("PODO_LIMITS", "off")]).await;
    let show = world.show(Plan::default()).await;
    let body = json!({ "scheduleId": show.schedule, "fans": 2, "seconds": 600, "thinkMs": 60_000 });
    world.organiser.post(PATH, &body).await.expect(202);
    let again = world.organiser.post(PATH, &body).await.expect(200);
    assert_eq!(again["status"], json!("RUNNING"));
    world.organiser.delete(PATH).await.expect(204);
    until("everybody went home", async || {
        let state = world.organiser.get(PATH).await.expect(200);
        (text(&state, "status") != "RUNNING").then_some(())
    })
    .await;
    let many = json!({ "scheduleId": show.schedule, "fans": 20_001, "seconds": 1 });
    world.organiser.post(PATH, &many).await.refused(422, "INVALID");
    let fan = world.fan().await;
    fan.api.post(PATH, &body).await.refused(403, "ADMIN_ONLY");
}

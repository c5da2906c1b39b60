//! Booking needs admission: the entry token is the fan's own, for this date, and valid.

use crate::support::world::{Plan, World, until};
use podo_app::waiting_room::tokens::{Token, TokenClaims};
use serde_json::json;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_needs_the_fans_own_entry_token_for_this_date() {
    let world = World::start().await;
    let (show, other_show) = (world.show(Plan::default()).await, world.show(Plan::default()).await);
    let fan = world.fan_inside(&show).await;
    let stranger = world.fan_inside(&show).await;
    let elsewhere = {
        let mut fan = fan.clone();
        fan.go_inside(&other_show).await;
        fan.api.entry().to_owned()
    };
    let entry = fan.api.entry().to_owned();
    let place = fan.enter(&show).await.expect(200)["token"].as_str().unwrap().to_owned();
    let mut flipped = entry.clone().into_bytes();
    flipped[30] = if flipped[30] == b'A' { b'B' } else { b'A' };
    let bad = [
        ("another fan's", stranger.api.entry().to_owned()),
        ("another date's", elsewhere),
        ("a forged one", String::from_utf8(flipped).unwrap()),
        ("a truncated one", entry[..entry.len() - 1].to_owned()),
        ("a longer one", format!("{entry}A")),
        ("a place token", place),
        ("an empty one", String::new()),
        ("nonsense", "let me in".to_owned()),
    ];
    let mut asking = fan.clone();
    for (what, token) in bad {
        asking.api = fan.api.with_entry(&token);
        let answer = asking.select(&show, &[0]).await;
        assert_eq!(answer.status, 403, "{what}: {}", answer.text);
        answer.refused(403, "ENTRY_REQUIRED");
    }
    asking.api = fan.api.without_entry();
    asking.select(&show, &[0]).await.refused(403, "ENTRY_REQUIRED");
    fan.select(&show, &[0]).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_genuine_token_of_a_place_that_was_never_let_in_opens_nothing() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let mut fan = world.fan().await;
    let context = world.context();
    let caller = context.identity.sessions.check(fan.api.token(), context.now()).unwrap();
    let claims = TokenClaims::Entry { number: 1, session: caller.session };
    let token = Token { schedule: show.schedule, user: fan.id, claims };
    fan.api = fan.api.with_entry(&token.issue(context.keyring.tokens()));
    fan.select(&show, &[0]).await.refused(401, "ENTRY_EXPIRED");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_its_time_an_entry_opens_nothing() {
    let world = World::start().await;
    let show = world.show(Plan { entry_ttl_seconds: 60, ..Plan::default() }).await;
    let fan = world.fan_inside(&show).await;
    world.clock.advance(Duration::from_secs(61));
    fan.select(&show, &[0]).await.refused(401, "ENTRY_EXPIRED");
    fan.status(&show).await.refused(401, "ENTRY_EXPIRED");
    let extend = json!({ "scheduleId": show.schedule });
    fan.api.post("/api/queue/extend", &extend).await.refused(401, "ENTRY_EXPIRED");
}

#[tokio::test(flavor = "multi_thread")]
async fn paying_ends_the_entry() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    fan.buy(&show, 0).await;
    fan.select(&show, &[1]).await.refused(401, "ENTRY_EXPIRED");
    fan.status(&show).await.refused(404, "NOT_IN_QUEUE");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_ends_while_the_fan_pays_does_not_cost_the_seats() {
    let world = World::start().await;
    let show = world.show(Plan { entry_ttl_seconds: 60, ..Plan::default() }).await;
    let fan = world.fan_inside(&show).await;
    fan.charge(crate::support::world::PRICE).await;
    let reservation = fan.hold(&show, &[0]).await;
    let payment = fan.ready(&reservation, "WALLET").await;
    world.clock.advance(Duration::from_secs(90));
    fan.confirm(&payment).await.expect(200);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_is_extended_twice_and_no_more() {
    let world = World::start().await;
    let show = world.show(Plan { entry_ttl_seconds: 60, ..Plan::default() }).await;
    let fan = world.fan_inside(&show).await;
    let body = json!({ "scheduleId": show.schedule });
    for left in [1, 0] {
        let view = fan.api.post("/api/queue/extend", &body).await.expect(200);
        assert_eq!(view["extensionsLeft"], left);
    }
    fan.api.post("/api/queue/extend", &body).await.refused(409, "NO_EXTENSIONS_LEFT");
    world.clock.advance(Duration::from_secs(170));
    fan.select(&show, &[0]).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_who_leaves_gives_up_the_entry() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    fan.leave(&show).await;
    fan.select(&show, &[0]).await.refused(401, "ENTRY_EXPIRED");
    fan.status(&show).await.refused(404, "NOT_IN_QUEUE");
    fan.leave(&show).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_fan_is_let_in_when_one_pays_leaves_or_runs_out_of_time() {
    let world = World::start().await;
    let plan = Plan { max_active: 1, entry_ttl_seconds: 60, ..Plan::default() };
    let show = world.show(plan).await;
    let mut fans = world.fans(4).await;
    for (index, fan) in fans.iter().enumerate() {
        let view = fan.enter(&show).await.expect(200);
        let state = if index == 0 { "ADMITTED" } else { "WAITING" };
        assert_eq!(
            (view["state"].as_str(), view["ahead"].as_u64()),
            (Some(state), { Some(index.saturating_sub(1) as u64) })
        );
    }
    fans[0].wait_inside(&show).await;
    fans[0].buy(&show, 0).await;
    fans[1].wait_inside(&show).await;
    fans[1].leave(&show).await;
    fans[2].wait_inside(&show).await;
    assert_eq!(fans[3].status(&show).await.expect(200)["position"], 1);
    // In two steps, because a running round of the admitter must not start an entry in the past.
    for _ in 0..2 {
        world.clock.advance(Duration::from_secs(31));
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    fans[3].wait_inside(&show).await;
    until("one is inside", async || {
        let path = format!("/api/admin/schedules/{}/live", show.schedule);
        (world.organiser.get(&path).await.expect(200)["active"] == 1).then_some(())
    })
    .await;
}

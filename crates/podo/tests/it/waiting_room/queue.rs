//! The waiting room: one place per fan, a verifiable order, modes for organisers.

use crate::support::client::text;
use crate::support::fan::Fan;
use crate::support::world::{Plan, Show, World, accounts, until};
use podo_domain::identity::Role;
use podo_domain::waiting_room::draw;
use podo_domain::waiting_room::is_seen_logged;
use podo_domain::{NodeId, SessionId};
use serde_json::json;
use std::time::Duration;
use uuid::Uuid;

/// Sets the mode of the queue.
async fn set_mode(world: &World, show: &Show, plan: &Plan, mode: &str) {
    let path = format!("/api/admin/schedules/{}/queue", show.schedule);
    let set = world.organiser.put(&path, &plan.queue(mode)).await.expect(200);
    assert_eq!(world.organiser.get(&path).await.expect(200), set);
}

/// The same fan on another device.
fn second_session(world: &World, fan: &Fan) -> Fan {
    let context = world.context();
    let now = context.now();
    let session = SessionId::new(context.rng.id(now));
    let caller = podo_app::identity::sessions::Caller { user: fan.id, session, role: Role::User };
    let token = context.identity.sessions.issue(caller, context.rng.id(now), now);
    Fan { id: fan.id, api: world.stranger.with_token(&token) }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_devices_of_one_fan_have_one_place() {
    let world = World::start().await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let _inside = world.fan_inside(&show).await;
    let fans = world.fans(3).await;
    for (index, fan) in fans.iter().enumerate() {
        let view = fan.enter(&show).await.expect(200);
        assert_eq!((view["position"].as_u64(), view["ahead"].as_u64()), {
            (Some(index as u64 + 1), Some(index as u64))
        });
    }
    let again = second_session(&world, &fans[1]).enter(&show).await.expect(200);
    assert_eq!((again["position"].as_u64(), again["behind"].as_u64()), (Some(2), Some(1)));
    let path = format!("/api/queue/position?scheduleId={}", show.schedule);
    assert_eq!(fans[2].api.get(&path).await.expect(200)["ahead"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_token_alone_tells_where_its_fan_stands() {
    let world = World::start().await;
    let (show, other) = (world.show(Plan::default()).await, world.show(Plan::default()).await);
    let (fan, stranger) = (world.fan().await, world.fan().await);
    let token = text(&fan.enter(&show).await.expect(200), "token");
    let ask = async |api: &crate::support::client::Api, show: &Show, token: &str| {
        let path = format!("/api/queue/status?scheduleId={}", show.schedule);
        let call = api.call(reqwest::Method::GET, &path).header("Queue-Token", token);
        crate::support::client::send(call).await
    };
    assert_eq!(ask(&world.stranger, &show, &token).await.expect(200)["state"], "ADMITTED");
    ask(&stranger.api, &show, &token).await.refused(401, "QUEUE_TOKEN_INVALID");
    ask(&fan.api, &other, &token).await.refused(401, "QUEUE_TOKEN_INVALID");
    ask(&fan.api, &show, "nonsense").await.refused(401, "QUEUE_TOKEN_INVALID");
    stranger.status(&show).await.refused(404, "NOT_IN_QUEUE");
    let path = format!("/api/queue/status?scheduleId={}", show.schedule);
    world.stranger.get(&path).await.refused(401, "LOGIN_REQUIRED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_queue_accepts_fans_and_admits_none() {
    let world = World::start().await;
    let plan = Plan::default();
    let show = world.show(plan).await;
    set_mode(&world, &show, &plan, "PAUSED").await;
    let mut fan = world.fan().await;
    assert_eq!(fan.enter(&show).await.expect(200)["state"], "WAITING");
    let view = fan.status(&show).await.expect(200);
    assert_eq!(view["estimatedWait"], serde_json::Value::Null);
    assert_eq!(view["paused"], true);
    assert!(crate::support::client::text(&view, "message").contains("순서는 그대로"), "{view}");
    set_mode(&world, &show, &plan, "AUTO").await;
    fan.wait_inside(&show).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draining_queue_admits_waiting_fans_and_refuses_new_ones() {
    let world = World::start().await;
    let plan = Plan { max_active: 1, ..Plan::default() };
    let show = world.show(plan).await;
    let inside = world.fan_inside(&show).await;
    let mut waiting = world.fan().await;
    waiting.enter(&show).await.expect(200);
    set_mode(&world, &show, &plan, "DRAINING").await;
    world.fan().await.enter(&show).await.refused(409, "QUEUE_CLOSED");
    inside.leave(&show).await;
    waiting.wait_inside(&show).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_queue_reports_its_state_and_admits_none() {
    let world = World::start().await;
    let plan = Plan { max_active: 1, ..Plan::default() };
    let show = world.show(plan).await;
    let inside = world.fan_inside(&show).await;
    let waiting = world.fan().await;
    waiting.enter(&show).await.expect(200);
    set_mode(&world, &show, &plan, "CLOSED").await;
    world.fan().await.enter(&show).await.refused(409, "QUEUE_CLOSED");
    assert_eq!(waiting.status(&show).await.expect(200)["state"], "CLOSED");
    inside.select(&show, &[0]).await.expect(201);
    inside.leave(&show).await;
    assert_eq!(waiting.status(&show).await.expect(200)["state"], "CLOSED");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lobby_is_drawn_from_the_seed_that_was_promised() {
    const N_FANS: usize = 20;
    let world = World::start().await;
    let plan = Plan { opens_in: Duration::from_secs(60), max_active: 1, ..Plan::default() };
    let show = world.show(plan).await;
    let fans = world.fans(N_FANS).await;
    for fan in &fans {
        let view = fan.enter(&show).await.expect(200);
        assert_eq!((view["state"].as_str(), view["canEnter"].as_bool()), {
            (Some("LOBBY"), Some(false))
        });
    }
    let path = format!("/api/queue/{}/draw", show.schedule);
    let promise = world.stranger.get(&path).await.expect(200);
    assert!(promise["seed"].is_null() && promise["drawn"].is_null(), "{promise}");

    world.clock.advance(Duration::from_secs(61));
    let live = format!("/api/admin/schedules/{}/live", show.schedule);
    until("the first is let in", async || {
        (world.organiser.get(&live).await.expect(200)["active"] == 1).then_some(())
    })
    .await;
    let mut ranks = Vec::new();
    for fan in &fans {
        // The first is admitted, at 0; all other positions count from there.
        let view = fan.status(&show).await.expect(200);
        ranks.push(view["position"].as_u64().and_then(|it| u32::try_from(it).ok()).unwrap());
    }
    let kept = world.stranger.get(&path).await.expect(200);
    assert_eq!((&kept["seedHash"], &kept["drawn"]), (&promise["seedHash"], &json!(N_FANS)));
    let (seed, hash) = (bytes(&text(&kept, "seed")), bytes(&text(&promise, "seedHash")));
    assert!(draw::verify(&seed, &hash));
    assert_eq!(ranks, draw::permutation(&seed, u32::try_from(N_FANS).unwrap()));
}

/// 32 bytes from their hex digits.
fn bytes(hex: &str) -> [u8; 32] {
    let byte = |index: usize| u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).unwrap();
    std::array::from_fn(byte)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cap_holds_while_many_come_and_go() {
    const CAP: u64 = 5;
    let world = World::start().await;
    let show = world.show(Plan { max_active: 5, ..Plan::default() }).await;
    let mut fans = world.fans(30).await;
    for fan in &fans {
        fan.enter(&show).await.expect(200);
    }
    let path = format!("/api/admin/schedules/{}/live", show.schedule);
    for fan in &mut fans {
        fan.wait_inside(&show).await;
        let live = world.organiser.get(&path).await.expect(200);
        assert!(live["active"].as_u64().unwrap() <= CAP, "{live}");
        fan.leave(&show).await;
    }
    assert_eq!(world.organiser.get(&path).await.expect(200)["admitted"], 30);
}

#[tokio::test(flavor = "multi_thread")]
async fn fans_inside_stay_inside_over_a_restart() {
    let folder = tempfile::TempDir::with_prefix("podo-").unwrap();
    let config = crate::support::world::config(folder.path(), &[]);
    let world = World::on(&config, podo::bootstrap::context(&config).await.unwrap()).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let (token, entry) = (fan.api.token().to_owned(), fan.api.entry().to_owned());
    world.running.stop().await;

    let world = World::on(&config, podo::bootstrap::context(&config).await.unwrap()).await;
    let _others = accounts(world.context(), 1, Role::User).await;
    let api = world.stranger.with_token(&token).with_entry(&entry);
    let fan = Fan { id: fan.id, api };
    fan.buy(&show, 0).await;
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poll_with_the_place_token_finds_the_place_after_a_restart() {
    let folder = tempfile::TempDir::with_prefix("podo-").unwrap();
    let config = crate::support::world::config(folder.path(), &[]);
    let world = World::on(&config, podo::bootstrap::context(&config).await.unwrap()).await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let _inside = world.fan_inside(&show).await;
    let fans = world.fans(3).await;
    let mut tokens = Vec::new();
    for fan in &fans {
        tokens.push(text(&fan.enter(&show).await.expect(200), "token"));
    }
    world.running.stop().await;

    let world = World::on(&config, podo::bootstrap::context(&config).await.unwrap()).await;
    let path = format!("/api/queue/status?scheduleId={}", show.schedule);
    for token in tokens.iter().rev() {
        let call = world.stranger.call(reqwest::Method::GET, &path).header("Queue-Token", token);
        let view = crate::support::client::send(call).await.expect(200);
        assert_eq!(view["state"], "WAITING", "{view}");
    }
    for (token, ahead) in tokens.iter().zip(0_u64..) {
        until("the order is as before", async || {
            let call =
                world.stranger.call(reqwest::Method::GET, &path).header("Queue-Token", token);
            let view = crate::support::client::send(call).await.expect(200);
            (view["ahead"].as_u64() == Some(ahead)).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_shared_progress_gives_everybody_their_position() {
    let world = World::start().await;
    let show = world.show(Plan { max_active: 2, n_seats: 4, ..Plan::default() }).await;
    let mut inside = world.fan_inside(&show).await;
    let _other = world.fan_inside(&show).await;
    let fans = world.fans(5).await;
    let mut numbers = Vec::new();
    for fan in &fans {
        numbers.push(fan.enter(&show).await.expect(200)["number"].as_u64().unwrap());
    }
    let path = format!("/api/queue/{}/progress", show.schedule);
    let position = |progress: &serde_json::Value, number: u64| {
        let field = |name: &str| progress[name].as_u64().unwrap();
        (number - field("admittedUpTo")).min(field("waiting"))
    };
    let progress = until("the progress is known", async || {
        let answer = world.stranger.get(&path).await;
        assert_eq!(answer.header("cache-control"), "public, max-age=1");
        let progress = answer.expect(200);
        (progress["waiting"] == 5).then_some(progress)
    })
    .await;
    assert_eq!((&progress["active"], &progress["mode"]), (&json!(2), &json!("AUTO")));
    assert!(progress["pollAfterMs"].as_u64().unwrap() >= 1_000, "{progress}");
    for (number, expected) in numbers.iter().zip(1_u64..) {
        assert_eq!(position(&progress, *number), expected);
    }
    // One in the middle leaves and the first is admitted: positions are exact up to the one who
    // left, and an upper bound behind.
    fans[2].leave(&show).await;
    inside.leave(&show).await;
    inside = fans[0].clone();
    inside.wait_inside(&show).await;
    let progress = until("two are gone", async || {
        let progress = world.stranger.get(&path).await.expect(200);
        (progress["waiting"] == 3).then_some(progress)
    })
    .await;
    let exact = fans[4].status(&show).await.expect(200)["position"].as_u64().unwrap();
    assert_eq!((position(&progress, numbers[1]), exact), (1, 3));
    assert_eq!(position(&progress, numbers[4]), 3, "never more than there are");
    assert!(position(&progress, numbers[3]) >= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_fan_sees_the_chance_to_get_seats() {
    let world = World::start().await;
    let show = world.show(Plan { max_active: 1, n_seats: 4, ..Plan::default() }).await;
    let inside = world.fan_inside(&show).await;
    let fans = world.fans(5).await;
    for fan in &fans {
        fan.enter(&show).await.expect(200);
    }
    let chance = async |fan: &Fan| {
        until("the seats are counted", async || {
            let view = fan.status(&show).await.expect(200);
            view["chance"].as_str().map(str::to_owned)
        })
        .await
    };
    assert_eq!(chance(&fans[1]).await, "GOOD");
    assert_eq!(chance(&fans[3]).await, "FAIR");
    assert_eq!(chance(&fans[4]).await, "SLIM");
    inside.hold(&show, &[0, 1, 2, 3]).await;
    until("everything is held", async || (chance(&fans[0]).await == "SLIM").then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_organiser_sees_what_is_sold_by_grade() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let other = world.fan_inside(&show).await;
    fan.buy(&show, 0).await;
    other.hold(&show, &[1, 2]).await;
    let path = format!("/api/admin/schedules/{}/live", show.schedule);
    let live = world.organiser.get(&path).await.expect(200);
    let price = crate::support::world::PRICE;
    let grade = json!({ "grade": "VIP", "available": 17, "held": 2, "sold": 1, "kept": 0,
        "revenue": price });
    assert_eq!(live["grades"], json!([grade]), "{live}");
    assert_eq!((&live["revenue"], &live["admitPercent"]), (&json!(price), &json!(100)));
    assert_eq!((&live["settings"]["mode"], &live["active"]), (&json!("AUTO"), &json!(1)));
    fan.api.get(&path).await.refused(403, "ADMIN_ONLY");
    fan.api.get(&format!("{path}/stream")).await.refused(403, "ADMIN_ONLY");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_is_counted_for_the_operator() {
    let world = World::start().await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let first = world.fan_inside(&show).await;
    let mut fans = world.fans(3).await;
    for fan in &fans {
        fan.enter(&show).await.expect(200);
    }
    fans[2].leave(&show).await;
    first.leave(&show).await;
    fans[0].wait_inside(&show).await;
    let text = world.stranger.get("/metrics").await.text;
    let label = format!("{{schedule=\"{}\"}}", show.schedule);
    for (name, value) in [
        ("podo_queue_waiting", "1"),
        ("podo_queue_active", "1"),
        ("podo_queue_admitted_total", "2"),
        ("podo_queue_abandoned_total", "2"),
    ] {
        let line = format!("{name}{label} {value}");
        assert!(text.lines().any(|it| it == line), "{line} in\n{text}");
    }
    for line in ["podo_queue_wait_seconds_count 1", "podo_queue_admit_ratio 1.0"] {
        assert!(text.lines().any(|it| it == line), "{line} in\n{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_let_in_when_and_how_it_ended_can_be_asked() {
    let world = World::start().await;
    let plan = Plan { max_active: 2, ..Plan::default() };
    let (show, other_show) = (world.show(plan).await, world.show(plan).await);
    let (paid, mut left) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    let waits = world.fan().await;
    waits.enter(&show).await.expect(200);
    left.go_inside(&other_show).await;
    left.leave(&show).await;
    paid.buy(&show, 0).await;
    let states = |page: &serde_json::Value| -> Vec<(String, Option<String>)> {
        let item = |it: &serde_json::Value| {
            (text(it, "state"), it["endedReason"].as_str().map(str::to_owned))
        };
        page["items"].as_array().unwrap().iter().map(item).collect()
    };
    let mine = left.api.get("/api/queue/history?limit=1").await.expect(200);
    assert_eq!(states(&mine), [("ACTIVE".to_owned(), None)]);
    let next = format!("/api/queue/history?limit=1&cursor={}", text(&mine, "nextCursor"));
    let mine = left.api.get(&next).await.expect(200);
    assert_eq!(states(&mine), [("EXPIRED".to_owned(), Some("LEFT".to_owned()))]);
    assert!(mine["nextCursor"].is_null() && mine["items"][0]["userId"].is_null(), "{mine}");
    left.api.get("/api/queue/history?cursor=7").await.refused(422, "INVALID");

    let path = format!("/api/admin/schedules/{}/queue/history", show.schedule);
    let of_paid = format!("{path}?userId={}", paid.id);
    until("the purchase has ended the entry", async || {
        let page = world.organiser.get(&of_paid).await.expect(200);
        (states(&page) == [("EXPIRED".to_owned(), Some("PAID".to_owned()))]).then_some(())
    })
    .await;
    let all = until("the next fan was let in", async || {
        let page = world.organiser.get(&path).await.expect(200);
        (states(&page).len() == 3).then_some(page)
    })
    .await;
    let numbers: Vec<_> =
        all["items"].as_array().unwrap().iter().map(|it| it["number"].as_u64()).collect();
    assert!(numbers.is_sorted_by(|one, next| one > next), "{all}");
    assert_eq!(all["items"][0]["userId"], json!(waits.id));
    waits.api.get(&path).await.refused(403, "ADMIN_ONLY");
    let fan = world.fan().await;
    fan.enter(&show).await.expect(200);
    let mine = fan.api.get("/api/queue/history").await.expect(200);
    assert!(states(&mine).len() <= 1, "{mine}");
}

/// "What happened to me?": a fan who waited, polled, left, came back and was admitted.
#[tokio::test(flavor = "multi_thread")]
async fn support_sees_what_happened_to_a_fan() {
    let world = World::start().await;
    let plan = Plan::default();
    let show = world.show(plan).await;
    set_mode(&world, &show, &plan, "PAUSED").await;
    let mut fan = world.fan().await;
    fan.enter(&show).await.expect(200);
    // A waiting fan's position is logged at one poll in ten minutes.
    let shortest_pause = Duration::from_millis(1_500);
    while !is_seen_logged(fan.id, shortest_pause, world.context().now()) {
        world.clock.advance(Duration::from_secs(1));
    }
    fan.status(&show).await.expect(200);
    world.clock.advance(Duration::from_secs(60));
    fan.leave(&show).await;
    set_mode(&world, &show, &plan, "AUTO").await;
    fan.go_inside(&show).await;
    fan.buy(&show, 0).await;
    let path = format!("/api/admin/users/{}/queue?scheduleId={}", fan.id, show.schedule);
    let mut expected = ["ENTERED", "POSITION_SEEN", "LEFT", "ENTERED", "ADMITTED", "ENDED"];
    expected.sort_unstable();
    let items = until("all of it is logged", async || {
        let page = world.organiser.get(&path).await.expect(200);
        let mut items = page["items"].as_array().unwrap().clone();
        items.reverse();
        let mut kinds: Vec<String> = items.iter().map(|it| text(it, "kind")).collect();
        kinds.sort_unstable();
        (kinds == expected).then_some(items)
    })
    .await;
    assert!(items.is_sorted_by_key(|it| text(it, "at")), "{items:?}");
    assert_eq!(items[0]["position"], 1);
    assert_eq!(items.last().unwrap()["reason"], "PAID");
    fan.api.get(&path).await.refused(403, "ADMIN_ONLY");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_after_the_concert_its_waiting_room_is_gone() {
    let world = World::start().await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let _inside = world.fan_inside(&show).await;
    world.fan().await.enter(&show).await.expect(200);
    let context = world.context();
    let counts =
        async || context.waiting_room.queue.counts(show.schedule, context.now()).await.unwrap();
    let day = Duration::from_secs(24 * 60 * 60);
    // The concert ends 31 days after the opening.
    for (days, is_there) in [(31, true), (1, false)] {
        world.clock.advance(day * days);
        podo_app::operations::retention::cleanup::forget_rooms(context, context.now())
            .await
            .unwrap();
        assert_eq!(counts().await.front > 0, is_there);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_those_inside_are_served_badly_fewer_are_let_in() {
    // No hold is faster than its commit, so with a limit of one millisecond every node is
    // overloaded.
    let world = World::with(&[("PODO_SLOW_DOWN_P99_MS", "1")]).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let path = format!("/api/admin/schedules/{}/live", show.schedule);
    let live = async || world.organiser.get(&path).await.expect(200);
    assert_eq!(live().await["admitPercent"], 100);
    let slowed = until("the rate is cut", async || {
        for _ in 0..5 {
            let reservation = fan.hold(&show, &[0]).await;
            fan.release(&reservation).await.expect(204);
        }
        world.clock.advance(Duration::from_millis(250));
        let live = live().await;
        (live["admitPercent"].as_u64() < Some(100)).then_some(live)
    })
    .await;
    assert!(slowed["p99Ms"].as_u64() > Some(1), "{slowed}");
    let metrics = world.stranger.get("/metrics").await.text;
    assert!(!metrics.contains("podo_queue_admit_ratio 1.0"), "{metrics}");
    until("it comes back when it is quiet", async || {
        world.clock.advance(Duration::from_secs(1));
        (live().await["admitPercent"] == 100).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_bears_little_slows_all_of_them_down_until_it_is_gone() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let context = world.context();
    let path = format!("/api/admin/schedules/{}/live", show.schedule);
    let percent = async || world.organiser.get(&path).await.expect(200)["admitPercent"].clone();
    assert_eq!(percent().await, 100);
    let weak = NodeId::new(Uuid::from_u128(7));
    until("this node hears of the weak one", async || {
        context.operations.node_load.share(weak, 20, context.now()).await.unwrap();
        (percent().await == 20).then_some(())
    })
    .await;
    until("no fan waits for a node that is gone", async || {
        world.clock.advance(Duration::from_secs(1));
        (percent().await == 100).then_some(())
    })
    .await;
}

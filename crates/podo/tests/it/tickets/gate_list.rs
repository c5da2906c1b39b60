//! The list that a device at the gate keeps: pages, changes, and who may continue a download.

use super::{check_in, code_of};
use crate::support::client::{Api, text};
use crate::support::world::{Plan, Show, World};
use podo_app::operations::port::audit::AuditQuery;
use podo_app::store::Order;
use podo_domain::Timestamp;
use podo_domain::identity::permissions::{Membership, TeamRole};
use serde_json::{Value, json};
use std::time::Duration;

async fn page(api: &Api, show: &Show, query: &str) -> Value {
    let path = format!("/api/admin/schedules/{}/gate-list?{query}", show.schedule);
    api.get(&path).await.expect(200)
}

/// Ids and states of a page.
fn states(page: &Value) -> Vec<(String, String)> {
    let items = page["items"].as_array().unwrap();
    items.iter().map(|it| (text(it, "ticketId"), text(it, "status"))).collect()
}

/// How often the audit log has a download of this list.
async fn n_downloads(world: &World, show: &Show) -> usize {
    let everything = AuditQuery {
        actor: None,
        action: Some("read".to_owned()),
        subject: None,
        from: Timestamp::from_ms(0),
        to: Timestamp::FAR_FUTURE,
        order: Order::Newest,
        cursor: None,
        limit: 100,
    };
    let entries = podo_app::operations::audit::entries(world.context(), everything).await.unwrap();
    let path = format!("/api/admin/schedules/{}/gate-list", show.schedule);
    entries.items.iter().filter(|entry| entry.subject == path).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_has_every_ticket_and_is_recorded_once() {
    let world = World::start().await;
    let show = world.show(Plan::tonight()).await;
    let mut bought = Vec::new();
    for seat in 0..5 {
        bought.push(world.fan_inside(&show).await.buy(&show, seat).await.ticket);
        // Some at the same moment, some not.
        world.clock.advance(Duration::from_millis(u64::from(seat % 2)));
    }
    let mut found = Vec::new();
    let mut query = "limit=2".to_owned();
    let last = loop {
        let page = page(&world.organiser, &show, &query).await;
        assert_eq!(page["total"], if query.contains("cursor") { json!(null) } else { json!(5) });
        found.extend(states(&page).into_iter().map(|(ticket, _)| ticket));
        match page["nextCursor"].as_str() {
            Some(cursor) => query = format!("limit=2&cursor={cursor}"),
            None => break page,
        }
    };
    found.sort_unstable();
    bought.sort_unstable();
    assert_eq!(found, bought);
    assert!(last["refreshCursor"].is_string(), "{last}");
    assert_eq!(n_downloads(&world, &show).await, 1);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_tells_what_changed_at_other_gates_and_by_fans() {
    let world = World::start().await;
    let show = world.show(Plan::tonight()).await;
    let fans = [world.fan_inside(&show).await, world.fan_inside(&show).await];
    let (used, canceled) = (fans[0].buy(&show, 0).await, fans[1].buy(&show, 1).await);
    world.clock.advance(Duration::from_secs(60));
    let list = page(&world.organiser, &show, "").await;
    let refresh = |list: &Value| format!("limit=2000&cursor={}", text(list, "refreshCursor"));
    let nothing = page(&world.organiser, &show, &refresh(&list)).await;
    assert_eq!(nothing["items"], json!([]));

    let code = code_of(&world, &fans[0], &used.ticket).await;
    check_in(&world.organiser, &show, &code).await.expect(200);
    fans[1].cancel(&canceled.reservation).await.expect(200);
    let late = world.fan_inside(&show).await.buy(&show, 2).await;
    let changed = page(&world.organiser, &show, &refresh(&nothing)).await;
    let mut found = states(&changed);
    found.sort_unstable();
    let state = |ticket: &str, status: &str| (ticket.to_owned(), status.to_owned());
    let mut expected = [
        state(&used.ticket, "USED"),
        state(&canceled.ticket, "VOID"),
        state(&late.ticket, "VALID"),
    ];
    expected.sort_unstable();
    assert_eq!(found, expected);
    for line in changed["items"].as_array().unwrap() {
        match line["status"].as_str().unwrap() {
            "USED" => assert_eq!(line["usedGate"], "1", "{line}"),
            "VOID" => assert!(line["name"].is_null() && line["key"] == "", "{line}"),
            _ => assert!(line["name"].is_string() && line["changedAt"].is_string(), "{line}"),
        }
    }
    assert_eq!(n_downloads(&world, &show).await, 1, "a refresh continues the download");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_works_for_its_organiser_and_date_and_not_for_ever() {
    let world = World::start().await;
    let (show, other) = (world.show(Plan::tonight()).await, world.show(Plan::tonight()).await);
    let list = page(&world.organiser, &show, "").await;
    let cursor = text(&list, "refreshCursor");
    let ask = async |api: &Api, show: &Show, cursor: &str| {
        api.get(&format!("/api/admin/schedules/{}/gate-list?cursor={cursor}", show.schedule)).await
    };
    ask(&world.organiser, &show, &cursor).await.expect(200);
    let colleague = world.member(Membership::preset(TeamRole::Gate)).await;
    let zeroes = "A".repeat(cursor.len());
    for answer in [
        ask(&world.organiser, &other, &cursor).await,
        ask(&colleague, &show, &cursor).await,
        ask(&world.organiser, &show, &zeroes).await,
        ask(&world.organiser, &show, "").await,
        ask(&world.organiser, &show, "0190a000-0000-7000-8000-000000000000").await,
    ] {
        assert_eq!(answer.refused(422, "INVALID")["errors"][0]["field"], "cursor");
    }
    let path = format!("/api/admin/schedules/{}/gate-list?limit=2001", show.schedule);
    world.organiser.get(&path).await.refused(422, "INVALID");
}

/// Names of guests leave the server only around the show, also to a device that continues its list.
#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_a_date_is_given_while_its_gates_are_open() {
    let world = World::start().await;
    let later = Plan { starts_in: Duration::from_secs(37 * 3_600), ..Plan::default() };
    let (far, show) = (world.show(later).await, world.show(Plan::tonight()).await);
    let ask = async |api: &Api, show: &Show, query: &str| {
        api.get(&format!("/api/admin/schedules/{}/gate-list?{query}", show.schedule)).await
    };
    let refused = ask(&world.organiser, &far, "").await.refused(409, "GATES_CLOSED");
    assert!(refused["items"].is_null(), "{refused}");
    let owner = Membership::preset(TeamRole::Owner);

    world.clock.advance(Duration::from_secs(2 * 3_600));
    let api = world.member(owner.clone()).await;
    ask(&api, &far, "").await.expect(200);
    // 30 hours to the start, and 12 from it.
    world.clock.advance(Duration::from_secs(40 * 3_600 - 60));
    let api = world.member(owner).await;
    let cursor = text(&ask(&api, &show, "").await.expect(200), "refreshCursor");
    world.clock.advance(Duration::from_secs(120));
    ask(&api, &show, "").await.refused(409, "GATES_CLOSED");
    ask(&api, &show, &format!("cursor={cursor}")).await.refused(409, "GATES_CLOSED");
}

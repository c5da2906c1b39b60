//! Resale at face value: the swap, and every race around it.

use crate::support::client::{Answer, new_key, text};
use crate::support::fan::{Bought, Fan};
use crate::support::world::{PRICE, Plan, Show, World, until};
use crate::tickets::{check_in, code_of, offer};
use futures::future::{join, join_all};
use serde_json::{Value, json};
use std::time::Duration;

/// A sold-out show of two seats, the buyer of the first, and fans on its standby list.
struct SoldOut {
    world: World,
    show: Show,
    buyer: Fan,
    bought: Bought,
    waiting: Vec<Fan>,
}

async fn sold_out(settings: &[(&str, &str)], n_waiting: usize) -> SoldOut {
    let world = World::with(settings).await;
    let show = world.show(Plan { n_seats: 2, ..Plan::default() }).await;
    let buyer = world.fan_inside(&show).await;
    let bought = buyer.buy(&show, 0).await;
    world.fan_inside(&show).await.buy(&show, 1).await;
    let mut waiting = Vec::new();
    for _ in 0..n_waiting {
        let fan = world.fan().await;
        let body = json!({ "scheduleId": show.schedule, "grade": "VIP", "count": 1 });
        fan.api.post("/api/booking/standby", &body).await.expect(200);
        fan.charge(PRICE).await;
        waiting.push(fan);
    }
    SoldOut { world, show, buyer, bought, waiting }
}

impl SoldOut {
    async fn list(&self) -> Value {
        let path = format!("/api/tickets/{}/resale", self.bought.ticket);
        self.buyer.api.post(&path, &json!({})).await.expect(200)
    }

    async fn withdraw(&self) -> Answer {
        let path = format!("/api/tickets/{}/resale", self.bought.ticket);
        self.buyer.api.delete(&path).await
    }

    /// Waits until the listing is offered to this fan.
    async fn offered_to(&self, fan: &Fan) -> String {
        until("the ticket is offered", async || {
            let mine = fan.api.get("/api/users/me/resales").await.expect(200);
            mine["offered"].as_array().unwrap().first().map(|it| text(it, "id"))
        })
        .await
    }

    async fn state(&self) -> String {
        let mine = self.buyer.api.get("/api/users/me/resales").await.expect(200);
        text(&mine["listed"][0], "state")
    }
}

async fn take(fan: &Fan, resale: &str, key: &str) -> Answer {
    let path = format!("/api/booking/resales/{resale}/take");
    fan.api.post_once(&path, key, &json!({ "amount": PRICE })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_is_taken_at_the_price_paid_and_its_buyer_gets_exactly_that_back() {
    let sold_out = sold_out(&[], 1).await;
    let SoldOut { world, show, buyer, bought, waiting } = &sold_out;
    let before = buyer.balance().await;
    // The event keeps a third of an ordinary cancellation.
    let policy = json!({ "steps": [{ "daysBefore": 60, "feePercent": 30 },
                                   { "daysBefore": 0, "feePercent": 40 }] });
    let path = format!("/api/admin/events/{}/refund-policy", show.event);
    world.organiser.put(&path, &policy).await.expect(200);
    let listed = sold_out.list().await;
    assert_eq!((listed["price"].as_i64(), text(&listed, "state")), (Some(PRICE), "LISTED".into()));
    assert_eq!(text(&sold_out.list().await, "id"), text(&listed, "id"), "listed once");
    let resale = sold_out.offered_to(&waiting[0]).await;
    let old = code_of(world, buyer, &bought.ticket).await;
    let wrong = json!({ "amount": PRICE - 1 });
    let path = format!("/api/booking/resales/{resale}/take");
    waiting[0].api.post_new(&path, &wrong).await.refused(422, "AMOUNT_MISMATCH");
    take(buyer, &resale, "own").await.refused(404, "NOT_FOUND");
    let taken = take(&waiting[0], &resale, "take").await;
    let paid = taken.expect(200);
    assert_eq!(take(&waiting[0], &resale, "take").await.text, taken.text, "the same answer");
    assert_eq!(text(&paid["tickets"][0], "seatNumber"), "A-1");
    assert_eq!((buyer.balance().await, waiting[0].balance().await), (before + PRICE, 0));
    check_in(&world.organiser, show, &old).await.refused(409, "TICKET_VOID");
    let code = code_of(world, &waiting[0], &text(&paid["tickets"][0], "id")).await;
    check_in(&world.organiser, show, &code).await.expect(200);
    assert_eq!(sold_out.state().await, "SOLD");
    assert_eq!(sold_out.withdraw().await.status, 404);
    assert_eq!(show.letter(&world.stranger, 0).await, 'S');
    sold_out.world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_takers_at_once_and_a_buyer_who_withdraws_one_wins() {
    for _ in 0..6 {
        let sold_out = sold_out(&[], 2).await;
        sold_out.list().await;
        let (first, second) = (&sold_out.waiting[0], &sold_out.waiting[1]);
        let resale = sold_out.offered_to(first).await;
        let keys: Vec<String> = (0..6).map(|_| new_key()).collect();
        let takes = join_all(keys.iter().map(|key| take(first, &resale, key)));
        // It is offered to the first, so the second can't take it.
        let others = join(take(second, &resale, "mine"), sold_out.withdraw());
        let (takes, (foreign, withdrawn)) = join(takes, others).await;
        foreign.refused(404, "NOT_FOUND");
        let n_taken = takes.iter().filter(|answer| answer.status == 200).count();
        let is_withdrawn = usize::from(withdrawn.status == 204);
        assert_eq!(n_taken + is_withdrawn, 1, "{takes:?} {withdrawn:?}");
        for lost in takes.iter().filter(|answer| answer.status != 200) {
            assert!([404, 409].contains(&lost.status), "{}", lost.text);
        }
        let has_ticket = sold_out.buyer.api.get("/api/tickets").await.expect(200);
        let status = text(&has_ticket["items"][0], "status");
        assert_eq!(status, if n_taken == 1 { "VOID" } else { "VALID" });
        sold_out.world.finish().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_on_offer_is_checked_in_or_taken_but_not_both() {
    for _ in 0..6 {
        let sold_out = sold_out(&[], 1).await;
        let SoldOut { world, show, buyer, bought, waiting } = &sold_out;
        sold_out.list().await;
        let resale = sold_out.offered_to(&waiting[0]).await;
        let code = code_of(world, buyer, &bought.ticket).await;
        let (inside, taken) =
            join(check_in(&world.organiser, show, &code), take(&waiting[0], &resale, "k")).await;
        assert_eq!(
            usize::from(inside.status == 200) + usize::from(taken.status == 200),
            1,
            "{inside:?} {taken:?}"
        );
        if inside.status == 200 {
            assert_eq!(waiting[0].balance().await, PRICE, "nothing was paid");
            until("the listing ends", async || (sold_out.state().await == "ENDED").then_some(()))
                .await;
        }
        sold_out.world.finish().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_that_is_not_taken_goes_to_the_next_and_nothing_else_changes() {
    let sold_out = sold_out(&[("PODO_OFFER_SECONDS", "60")], 2).await;
    let SoldOut { world, show, buyer, bought, waiting } = &sold_out;
    let before = buyer.balance().await;
    sold_out.list().await;
    let resale = sold_out.offered_to(&waiting[0]).await;
    world.clock.advance(Duration::from_secs(61));
    let late = take(&waiting[0], &resale, "late").await;
    // The offer is over, or it already belongs to the next fan.
    assert!([404, 409].contains(&late.status), "{}", late.text);
    assert_eq!(sold_out.offered_to(&waiting[1]).await, resale);
    world.clock.advance(Duration::from_secs(61));
    until("it is listed again", async || (sold_out.state().await == "LISTED").then_some(())).await;
    assert_eq!(buyer.balance().await, before);
    let code = code_of(world, buyer, &bought.ticket).await;
    check_in(&world.organiser, show, &code).await.expect(200);
    sold_out.world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_buyer_lists_and_a_transferred_or_canceled_ticket_is_not_sold() {
    let sold_out = sold_out(&[], 1).await;
    let SoldOut { world, buyer, bought, waiting, .. } = &sold_out;
    let path = format!("/api/tickets/{}/resale", bought.ticket);
    waiting[0].api.post(&path, &json!({})).await.refused(404, "NOT_FOUND");
    sold_out.withdraw().await.refused(404, "NOT_FOUND");
    sold_out.list().await;
    let resale = sold_out.offered_to(&waiting[0]).await;
    let friend = world.fan_at("friend@podo.example").await;
    offer(buyer, &bought.ticket, &json!({ "email": "friend@podo.example" })).await.expect(202);
    let accept = format!("/api/tickets/{}/accept", bought.ticket);
    friend.api.post_new(&accept, &json!({})).await.expect(200);
    let taken = take(&waiting[0], &resale, "k").await;
    assert!([404, 409].contains(&taken.status), "{}", taken.text);
    friend.api.post(&path, &json!({})).await.refused(409, "TICKET_TRANSFERRED");
    assert_eq!(waiting[0].balance().await, PRICE);
    sold_out.world.finish().await;
}

//! Price changes of a date that is on sale.

use crate::world::{FAR, NEAR, World, at, refusal, won};
use futures::future::join_all;
use podo_app::Result;
use podo_app::booking::port::reservations::Reservations;
use podo_app::catalog::port::Catalog;
use podo_app::catalog::pricing_port::{ChangePrices, PriceVerb, Pricing};
use podo_app::payments::port::wallets::Wallets;
use podo_domain::booking::order::price_changes::PriceChanges;
use podo_domain::{Refusal, Timestamp, Won};
use std::collections::BTreeMap;

const DEARER: i64 = 90_000;

fn list(vip: i64, regular: i64) -> BTreeMap<String, Won> {
    BTreeMap::from([("VIP".into(), won(vip)), ("R".into(), won(regular))])
}

pub(crate) async fn change(
    world: &World,
    from: Option<Timestamp>,
    prices: BTreeMap<String, Won>,
    now: Timestamp,
) -> Result<PriceChanges> {
    let (actor, schedule) = (world.admin, world.schedule);
    let verb = PriceVerb::Add { from, prices };
    world.store.change_prices(ChangePrices { actor, schedule, verb, now }).await
}

#[tokio::test]
async fn seats_cost_what_their_grade_costs_when_they_are_held() {
    let world = World::new().await;
    let before = world.fan().await;
    let early = world.hold(&before, &[10, 11], at(1)).await.unwrap();
    assert_eq!(early.amount, won(2 * FAR));
    change(&world, None, list(NEAR, DEARER), at(2)).await.unwrap();
    change(&world, Some(at(100)), list(NEAR, FAR), at(2)).await.unwrap();

    let after = world.fan().await;
    let late = world.hold(&after, &[0, 12], at(3)).await.unwrap();
    assert_eq!(late.amount, won(NEAR + DEARER));
    let last = world.fan().await;
    assert_eq!(world.hold(&last, &[13], at(100)).await.unwrap().amount, won(FAR));
    let held = world.store.reservation(early.reservation_id, before.id).await.unwrap().unwrap();
    assert_eq!(held.amount, won(2 * FAR), "a hold keeps its price");
    world.finish().await;
}

#[tokio::test]
async fn an_expired_hold_is_sold_at_the_new_price_and_revenue_follows() {
    let world = World::new().await;
    let slow = world.fan().await;
    world.hold(&slow, &[10], at(1)).await.unwrap();
    change(&world, None, list(NEAR, DEARER), at(2)).await.unwrap();
    let quick = world.fan().await;
    world.buy(&quick, &[10], at(400)).await;
    let left = world.store.balance(quick.id).await.unwrap();
    assert_eq!(left, won(1_000_000 - DEARER));
    let sales = world.store.seats_by_grade(world.schedule, at(500)).await.unwrap();
    let regular = sales.iter().find(|sales| sales.grade == "R").unwrap();
    assert_eq!((regular.sold, regular.revenue), (1, won(DEARER)));
    world.finish().await;
}

#[tokio::test]
async fn wrong_changes_are_refused_and_change_nothing() {
    let world = World::new().await;
    let wrong_from = Refusal::InvalidPriceChange { field: "from" };
    assert_eq!(refusal(change(&world, Some(at(1)), list(1, 1), at(2)).await), wrong_from);
    let incomplete = BTreeMap::from([("VIP".to_owned(), won(1))]);
    let refused = refusal(change(&world, None, incomplete, at(2)).await);
    assert!(matches!(refused, Refusal::InvalidTemplate { at, .. } if at == "price of R"));
    let planned = change(&world, Some(at(9)), list(1, 1), at(2)).await.unwrap();
    assert_eq!(planned.all().len(), 1);
    assert_eq!(refusal(change(&world, Some(at(9)), list(2, 2), at(2)).await), wrong_from);

    let withdraw = async |from, now| {
        let (actor, schedule, verb) =
            (world.admin, world.schedule, PriceVerb::Withdraw { from: at(from) });
        world.store.change_prices(ChangePrices { actor, schedule, verb, now: at(now) }).await
    };
    assert_eq!(refusal(withdraw(8, 3).await), Refusal::NotFound);
    assert_eq!(refusal(withdraw(9, 9).await), Refusal::PriceChangeBegun);
    assert!(withdraw(9, 8).await.unwrap().is_empty());
    world.finish().await;
}

/// Each order is sold at the old list or the new one, and its seats agree with its amount.
#[tokio::test]
async fn a_race_of_holds_with_a_price_change_sells_at_one_of_both_prices() {
    let world = World::new().await;
    let fans = world.fans(20).await;
    let hold = async |number: usize| {
        let seat = 10 + u32::try_from(number).unwrap();
        world.hold(&fans[number], &[seat], at(5)).await.unwrap()
    };
    let holds = join_all((0..20).map(hold));
    let (held, changed) = futures::join!(holds, change(&world, None, list(NEAR, DEARER), at(5)));
    changed.unwrap();
    for held in held {
        assert!([won(FAR), won(DEARER)].contains(&held.amount), "{:?}", held.amount);
        assert_eq!(Won::sum(held.seats.iter().map(|seat| seat.price)), Some(held.amount));
    }
    world.finish().await;
}

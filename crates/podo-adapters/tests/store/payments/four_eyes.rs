//! Attacks on the four-eyes rule: one organiser splits a sum, over requests, payments, wallets and
//! concurrent calls.

use crate::payments::refund_part::{buy_dear, by_organiser};
use crate::world::{Fan, SALE_S, World, at, fresh, won};
use futures::future::join_all;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::refunds::{OrganiserRefund, RefundByOrganiser, Refunds};
use podo_app::payments::port::wallets::{AdjustWallet, Adjustment, Wallets};
use podo_domain::{LedgerId, PaymentId, Timestamp, UserId};

fn correction(
    world: &World,
    actor: UserId,
    fan: &Fan,
    amount: i64,
    now: Timestamp,
) -> AdjustWallet {
    let organiser = Fan { id: actor, entry: world.entry(world.number()) };
    AdjustWallet {
        key: world.key(&organiser, "admin/wallet"),
        actor,
        user: fan.id,
        ledger: LedgerId::new(world.id()),
        amount,
        currency: podo_domain::Currency::Krw,
        reason: "test".into(),
        now,
    }
}

/// Whether it took effect at once.
async fn adjust(world: &World, actor: UserId, fan: &Fan, amount: i64) -> bool {
    let command = correction(world, actor, fan, amount, at(2));
    matches!(fresh(world.store.adjust_wallet(command).await.unwrap()), Adjustment::Made(_))
}

fn one_seat(world: &World, actor: UserId, payment: PaymentId, seat: u32) -> RefundByOrganiser {
    let seats = vec![world.schedule.seat(seat)];
    RefundByOrganiser { seats, ..by_organiser(world, actor, payment) }
}

fn is_made(answer: &Idempotent<OrganiserRefund>) -> bool {
    match answer {
        Idempotent::Fresh(OrganiserRefund::Made(..)) => true,
        Idempotent::Fresh(OrganiserRefund::SecondNeeded(_)) => false,
        Idempotent::Replay(answer) => panic!("done before: {answer:?}"),
    }
}

#[tokio::test]
async fn a_payment_is_not_given_back_seat_by_seat() {
    let mut world = World::new().await;
    let fan = world.fan().await;
    let payment = buy_dear(&mut world, &fan).await;
    let mut made = Vec::new();
    // Even if each request comes from another organiser.
    for seat in 0..4 {
        let actor = world.fan().await.id;
        let command = one_seat(&world, actor, payment, seat);
        made.push(is_made(&world.store.refund_by_organiser(command).await.unwrap()));
    }
    assert_eq!(made, [true, true, false, false], "each seat costs 400,000 won");
    // The second request for the same seats is the second pair of eyes.
    let command = one_seat(&world, world.admin, payment, 2);
    assert!(is_made(&world.store.refund_by_organiser(command).await.unwrap()));
    world.finish().await;
}

#[tokio::test]
async fn seats_of_one_payment_at_the_same_moment_count_together() {
    let mut world = World::new().await;
    let fan = world.fan().await;
    let payment = buy_dear(&mut world, &fan).await;
    let actors = [world.fan().await.id, world.fan().await.id, world.fan().await.id, world.admin];
    let commands = actors.iter().zip(0..).map(|(actor, seat)| {
        world.store.refund_by_organiser(one_seat(&world, *actor, payment, seat))
    });
    let answers = join_all(commands).await;
    let n_made = answers.iter().filter(|it| is_made(it.as_ref().unwrap())).count();
    assert_eq!(n_made, 2);
    world.finish().await;
}

#[tokio::test]
async fn one_organiser_does_not_spread_a_sum_over_wallets_and_payments() {
    let mut world = World::new().await;
    let (buyer, admin) = (world.fan().await, world.admin);
    let payment = buy_dear(&mut world, &buyer).await;
    let fans = [world.fan().await, world.fan().await, world.fan().await];
    assert!(adjust(&world, admin, &fans[0], 300_000).await);
    let command = one_seat(&world, admin, payment, 0);
    assert!(is_made(&world.store.refund_by_organiser(command).await.unwrap()));
    // Debits count like credits: 300,000, 400,000 and 250,000 are moved.
    assert!(adjust(&world, admin, &fans[0], -250_000).await);
    assert!(!adjust(&world, admin, &fans[1], 50_001).await);
    let command = one_seat(&world, admin, payment, 1);
    assert!(!is_made(&world.store.refund_by_organiser(command).await.unwrap()));
    assert!(adjust(&world, admin, &fans[2], 50_000).await, "this much was left");
    // Another organiser and another day have their own sums.
    let other = world.fan().await.id;
    assert!(adjust(&world, other, &fans[2], 50_001).await);
    let tomorrow = correction(&world, admin, &fans[0], 900_000, at(SALE_S));
    let made = fresh(world.store.adjust_wallet(tomorrow).await.unwrap());
    assert!(matches!(made, Adjustment::Made(_)), "{made:?}");
    world.finish().await;
}

#[tokio::test]
async fn corrections_at_the_same_moment_count_together() {
    let world = World::new().await;
    let fans = world.fans(12).await;
    let commands = fans.iter().map(|fan| adjust(&world, world.admin, fan, 300_000));
    let made = join_all(commands).await;
    assert_eq!(made.iter().filter(|is_made| **is_made).count(), 3, "{made:?}");
    for (fan, is_made) in fans.iter().zip(made) {
        let balance = if is_made { won(300_000) } else { won(0) };
        assert_eq!(world.store.balance(fan.id).await.unwrap(), balance);
    }
    world.finish().await;
}

#[tokio::test]
async fn a_wallet_is_not_filled_by_many_hands_and_two_who_agree_fill_it() {
    let world = World::new().await;
    let (fan, second) = (world.fan().await, world.fan().await.id);
    let hands = world.fans(4).await;
    let mut n_made = 0;
    for hand in &hands {
        n_made += i32::from(adjust(&world, hand.id, &fan, 400_000).await);
    }
    // The third of them waits, and the fourth requests the same: two agree.
    assert_eq!(n_made, 3);
    for _ in 0..2 {
        assert!(
            !adjust(&world, world.admin, &fan, 5_000_000).await,
            "no one approves their own request"
        );
    }
    assert!(!adjust(&world, second, &fan, 4_999_999).await, "that is not the same");
    assert!(adjust(&world, second, &fan, 5_000_000).await);
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(3 * 400_000 + 5_000_000));
    world.finish().await;
}

//! The wallet: never below zero, never a won lost.

use crate::world::{FAR, Plan, World, at, refusal, won};
use futures::future::join_all;
use futures::{StreamExt, stream};
use podo_app::payments::port::payments::Payments;
use podo_app::payments::port::wallets::{AdjustWallet, ChargeWallet, Wallets};
use podo_app::{Error, Result};
use podo_domain::payments::PaymentMethod;
use podo_domain::payments::wallet::{BALANCE_MAX, CHARGE_MAX, LedgerKind};
use podo_domain::{LedgerId, Refusal, Won};

/// Repeats a command until the store has decided. With hundreds of commands at once, a busy machine
/// refuses some of them a connection; their callers try again with the same key.
async fn decided<C: Clone, T>(command: C, send: impl AsyncFn(C) -> Result<T>) -> Result<T> {
    loop {
        match send(command.clone()).await {
            Err(Error::Unavailable(_) | Error::Conflict(_)) => {}
            decision => return decision,
        }
    }
}

async fn charge(world: &World, fan: &crate::world::Fan, amount: Won) -> Result<()> {
    let command = ChargeWallet {
        key: world.key(fan, "wallet/charge"),
        user: fan.id,
        ledger: LedgerId::new(world.id()),
        amount,
        currency: podo_domain::Currency::Krw,
        now: at(1),
    };
    decided(command, async |it| world.store.charge_wallet(it).await).await.map(drop)
}

/// The operator changed the currency of the server: won of before don't become cents.
#[tokio::test]
async fn a_wallet_keeps_the_currency_of_its_first_money() {
    let world = World::new().await;
    let [before, after] = [world.fan().await, world.fan().await];
    charge(&world, &before, won(5_000)).await.unwrap();
    let euros = |fan: &crate::world::Fan| ChargeWallet {
        key: world.key(fan, "wallet/charge"),
        user: fan.id,
        ledger: LedgerId::new(world.id()),
        amount: won(700),
        currency: podo_domain::Currency::Eur,
        now: at(2),
    };
    let refused = refusal(world.store.charge_wallet(euros(&before)).await);
    assert_eq!(refused, Refusal::WalletCurrency { field: "amount" });
    world.store.charge_wallet(euros(&after)).await.unwrap();
    assert_eq!(world.store.balance(before.id).await.unwrap(), won(5_000));
    assert_eq!(world.store.balance(after.id).await.unwrap(), won(700));
    world.finish().await;
}

#[tokio::test]
async fn a_wallet_without_charges_is_empty() {
    let world = World::new().await;
    let fan = world.fan().await;
    assert_eq!(world.store.balance(fan.id).await.unwrap(), Won::ZERO);
    assert_eq!(world.store.movements(fan.id, None, 10).await.unwrap(), []);
    world.finish().await;
}

#[tokio::test]
async fn balances_come_in_the_order_asked_for() {
    let world = World::new().await;
    let [without, rich] = [world.fan().await, world.fan().await];
    charge(&world, &rich, won(5_000)).await.unwrap();
    let balances = world.store.balances(vec![rich.id, without.id, rich.id]).await.unwrap();
    assert_eq!(balances, [won(5_000), Won::ZERO, won(5_000)]);
    assert_eq!(world.store.balances(Vec::new()).await.unwrap(), []);
    world.finish().await;
}

#[tokio::test]
async fn a_charge_and_a_balance_have_their_limits() {
    let world = World::new().await;
    let fan = world.fan().await;
    assert_eq!(refusal(charge(&world, &fan, Won::ZERO).await), Refusal::WalletLimit);
    let too_much = CHARGE_MAX.checked_add(won(1)).unwrap();
    assert_eq!(refusal(charge(&world, &fan, too_much).await), Refusal::WalletLimit);
    for _ in 0..5 {
        charge(&world, &fan, CHARGE_MAX).await.unwrap();
    }
    assert_eq!(refusal(charge(&world, &fan, won(1)).await), Refusal::WalletLimit);
    assert_eq!(world.store.balance(fan.id).await.unwrap(), BALANCE_MAX);
    world.finish().await;
}

#[tokio::test]
async fn movements_come_newest_first_and_page_by_their_number() {
    let world = World::new().await;
    let fan = world.fan().await;
    for amount in [10, 20, 30] {
        charge(&world, &fan, won(amount)).await.unwrap();
    }
    let page = world.store.movements(fan.id, None, 2).await.unwrap();
    let amounts: Vec<i64> = page.iter().map(|(_, movement)| movement.amount).collect();
    assert_eq!(amounts, [30, 20]);
    let rest = world.store.movements(fan.id, Some(page[1].0), 2).await.unwrap();
    assert_eq!(rest.len(), 1);
    assert_eq!((rest[0].1.amount, rest[0].1.balance_after), (10, won(10)));
    assert_eq!(rest[0].1.kind, LedgerKind::Charge);
    world.finish().await;
}

#[tokio::test]
async fn three_hundred_debits_at_once_never_take_more_than_there_is() {
    let plan = Plan { rows: 11, seats_per_row: 30, seats_per_person: 1_000, off: Vec::new() };
    let world = World::planned(plan).await;
    let fan = world.fan().await;
    // Enough for 100 of the 300 seats, and a remainder below a seat's price.
    for _ in 0..5 {
        charge(&world, &fan, CHARGE_MAX).await.unwrap();
    }
    let request = async |seat| {
        let reservation = world.hold(&fan, &[seat], at(1)).await.unwrap().reservation_id;
        world.request(&fan, reservation, PaymentMethod::Wallet, at(1)).await.unwrap()
    };
    let ready: Vec<_> = stream::iter((30..330).map(request)).buffered(16).collect().await;
    let commands = ready.iter().map(|ready| world.confirm_command(&fan, ready, at(2)));
    let confirm = async |command| world.store.confirm_payment(command).await;
    let answers = join_all(commands.map(|command| decided(command, confirm))).await;
    let n_paid = answers.iter().filter(|answer| answer.is_ok()).count();
    assert_eq!(n_paid, 100, "{BALANCE_MAX} buys {} seats", BALANCE_MAX.get() / FAR);
    let is_poor = |error: &Error| {
        matches!(error, Error::Refused(Refusal::PaymentDeclined { reason })
                        if reason == "INSUFFICIENT_BALANCE")
    };
    assert!(answers.iter().filter_map(|answer| answer.as_ref().err()).all(is_poor));
    assert_eq!(world.store.balance(fan.id).await.unwrap(), Won::ZERO);
    world.finish().await;
}

#[tokio::test]
async fn of_a_thousand_debits_at_once_as_many_count_as_the_wallet_can_pay() {
    let world = World::new().await;
    let fan = world.fan().await;
    charge(&world, &fan, won(10_000)).await.unwrap();
    let take = |turn: i64| AdjustWallet {
        key: world.key(&fan, "admin/wallet"),
        actor: world.admin,
        user: fan.id,
        ledger: LedgerId::new(world.id()),
        // 10,000 isn't a multiple of it: something is always left.
        amount: -(90 + turn % 20),
        currency: podo_domain::Currency::Krw,
        reason: "test".into(),
        now: at(2),
    };
    let commands: Vec<AdjustWallet> = (0..1_000).map(take).collect();
    let taken: Vec<i64> = commands.iter().map(|command| -command.amount).collect();
    let adjust = async |command| world.store.adjust_wallet(command).await;
    let answers = join_all(commands.into_iter().map(|it| decided(it, adjust))).await;
    let paid = answers.iter().zip(&taken).filter(|(answer, _)| answer.is_ok());
    let sum: i64 = paid.map(|(_, amount)| amount).sum();
    let left = world.store.balance(fan.id).await.unwrap();
    assert_eq!(left.get(), 10_000 - sum);
    assert!(left < won(110), "{left} could have paid for one more");
    for answer in answers.into_iter().filter(Result::is_err) {
        assert_eq!(refusal(answer), Refusal::WalletLimit);
    }
    world.finish().await;
}

#[tokio::test]
async fn charges_at_once_all_count() {
    let world = World::new().await;
    let fan = world.fan().await;
    let answers = join_all((1..=200).map(|amount| charge(&world, &fan, won(amount)))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(200 * 201 / 2));
    world.finish().await;
}

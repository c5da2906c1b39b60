//! Commands that share a transaction don't affect each other.

use crate::world::{Plan, World, at, refusal, won};
use futures::future::join_all;
use podo_app::booking::port::reservations::Reservations;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::wallets::Wallets;
use podo_domain::Refusal;
use podo_domain::payments::PaymentMethod;

/// Each command wants one seat of its own and one that all want, so a loser has already claimed the
/// first one.
#[tokio::test]
async fn a_command_that_fails_half_way_leaves_no_trace_and_fails_alone() {
    let world = World::planned(Plan { rows: 5, seats_per_row: 20, ..Plan::default() }).await;
    let fans = world.fans(40).await;
    let wish = |at: usize| match at % 2 {
        0 => vec![u32::try_from(at).unwrap() + 1],
        _ => vec![0, u32::try_from(at).unwrap() + 1],
    };
    let holds = fans.iter().enumerate().map(|(turn, fan)| {
        let (world, seats) = (&world, wish(turn));
        async move { world.hold(fan, &seats, at(1)).await }
    });
    let results = join_all(holds).await;
    let (quiet, greedy): (Vec<_>, Vec<_>) =
        results.into_iter().enumerate().partition(|(turn, _)| turn % 2 == 0);
    assert!(quiet.iter().all(|(_, result)| result.is_ok()), "no other command wanted these");
    assert_eq!(greedy.iter().filter(|(_, result)| result.is_ok()).count(), 1);
    let lost = greedy.into_iter().filter(|(_, result)| result.is_err());
    for (_, result) in lost {
        let wanted = vec![world.schedule.seat(0)];
        assert_eq!(refusal(result), Refusal::seat_taken(wanted));
    }
    // The losers' temporary claims are undone: all but one of the twenty are free.
    let others = world.fans(20).await;
    let mut n_free = 0;
    for (seat, fan) in (2..).step_by(2).zip(&others) {
        n_free += usize::from(world.hold(fan, &[seat], at(1)).await.is_ok());
    }
    assert_eq!(n_free, 19);
    world.finish().await;
}

#[tokio::test]
async fn a_wallet_that_pays_for_many_things_at_once_pays_for_what_it_can() {
    let world = World::planned(Plan { rows: 5, seats_per_row: 20, ..Plan::default() }).await;
    let fans = world.fans(1).await;
    let fan = &fans[0];
    world.charge(fan, 250_000).await;
    let mut ready = Vec::new();
    for seat in 20..24 {
        let held = world.hold(fan, &[seat], at(1)).await.unwrap();
        let wallet = PaymentMethod::Wallet;
        ready.push(world.request(fan, held.reservation_id, wallet, at(1)).await.unwrap());
    }
    let payments = ready.iter().map(|ready| world.confirm(fan, ready, at(2)));
    let results = join_all(payments).await;
    let (paid, refused): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!(paid.len(), 2, "there is money for two and a half");
    for result in refused {
        let reason = "INSUFFICIENT_BALANCE".into();
        assert_eq!(refusal(result), Refusal::PaymentDeclined { reason });
    }
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(50_000));
    world.finish().await;
}

/// Repeats wait for the first of them inside the batch, and find its stored answer.
#[tokio::test]
async fn repeats_in_one_batch_find_the_answer_of_the_first() {
    let world = World::planned(Plan { rows: 5, seats_per_row: 20, ..Plan::default() }).await;
    let fans = world.fans(12).await;
    let mut commands = Vec::new();
    for (seat, fan) in (0..).zip(&fans) {
        let command = world.hold_command(fan, &[seat, seat + 20], at(1));
        commands.extend(std::iter::repeat_n(command, 4));
    }
    // Repeats of one fan are mixed with the first attempts of others.
    commands.rotate_left(2);
    let store = &world.store;
    let answers = join_all(commands.into_iter().map(async |it| store.hold_seats(it).await)).await;
    let n_fresh = answers.iter().filter(|it| matches!(it, Ok(Idempotent::Fresh(_)))).count();
    let n_repeated = answers.iter().filter(|it| matches!(it, Ok(Idempotent::Replay(_)))).count();
    assert_eq!((n_fresh, n_repeated), (12, 36));
    world.finish().await;
}

/// Confirmations of one payment under several keys all read it as ready. Their changes are sent
/// together, and a command that finds the row changed runs again, alone.
#[tokio::test]
async fn a_payment_that_is_confirmed_by_several_at_once_is_paid_once() {
    let world = World::planned(Plan { rows: 5, seats_per_row: 20, ..Plan::default() }).await;
    let fans = world.fans(8).await;
    let mut ready = Vec::new();
    for (seat, fan) in (20..).zip(&fans) {
        world.charge(fan, 500_000).await;
        let held = world.hold(fan, &[seat], at(1)).await.unwrap();
        let wallet = PaymentMethod::Wallet;
        ready.push(world.request(fan, held.reservation_id, wallet, at(1)).await.unwrap());
    }
    let confirm = |(fan, ready)| join_all((0..3).map(|_| world.confirm(fan, ready, at(2))));
    let results = join_all(fans.iter().zip(&ready).map(confirm)).await;
    for (fan, results) in fans.iter().zip(results) {
        let (paid, refused): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
        assert_eq!((paid.len(), refused.len()), (1, 2));
        refused.into_iter().for_each(|result| drop(refusal(result)));
        assert_eq!(world.store.balance(fan.id).await.unwrap(), won(400_000));
    }
    world.finish().await;
}

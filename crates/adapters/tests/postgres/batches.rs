//! Commands that share a transaction do not feel each other.

use crate::world::{Plan, World, at, refusal, won};
use app::ports::keys::Once;
use app::ports::reservations::Reservations;
use app::ports::wallets::Wallets;
use domain::Refusal;
use domain::payments::PaymentMethod;
use futures::future::join_all;

/// Each of these wants one seat for itself and one that everybody wants: whoever loses has
/// claimed the first one by then.
#[tokio::test]
async fn who_fails_half_way_leaves_no_trace_and_takes_nobody_along() {
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
    assert!(quiet.iter().all(|(_, result)| result.is_ok()), "nobody else wanted these");
    assert_eq!(greedy.iter().filter(|(_, result)| result.is_ok()).count(), 1);
    let lost = greedy.into_iter().filter(|(_, result)| result.is_err());
    for (_, result) in lost {
        let wanted = vec![world.schedule.seat(0)];
        assert_eq!(refusal(result), Refusal::seat_taken(wanted));
    }
    // What the losers had claimed for a moment is free: all but one of the twenty.
    let others = world.fans(20).await;
    let mut n_free = 0;
    for (seat, fan) in (2..).step_by(2).zip(&others) {
        n_free += usize::from(world.hold(fan, &[seat], at(1)).await.is_ok());
    }
    assert_eq!(n_free, 19);
    world.is_sound(at(1)).await;
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
    world.is_sound(at(2)).await;
}

/// Repeats wait for the first of them inside the batch; what it has stored by then, they find.
#[tokio::test]
async fn repeats_in_one_batch_find_the_answer_of_the_first() {
    let world = World::planned(Plan { rows: 5, seats_per_row: 20, ..Plan::default() }).await;
    let fans = world.fans(12).await;
    let mut commands = Vec::new();
    for (seat, fan) in (0..).zip(&fans) {
        let command = world.hold_command(fan, &[seat, seat + 20], at(1));
        commands.extend(std::iter::repeat_n(command, 4));
    }
    // Repeats of one fan stand among the first tries of others.
    commands.rotate_left(2);
    let store = &world.store;
    let answers = join_all(commands.into_iter().map(async |it| store.hold_seats(it).await)).await;
    let n_fresh = answers.iter().filter(|it| matches!(it, Ok(Once::Fresh(_)))).count();
    let n_repeated = answers.iter().filter(|it| matches!(it, Ok(Once::Replay(_)))).count();
    assert_eq!((n_fresh, n_repeated), (12, 36));
    world.is_sound(at(1)).await;
}

/// Confirmations of one payment under several keys all see it ready. What they change is sent
/// together, and whoever does not find it as they saw it runs again, alone.
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
    world.is_sound(at(2)).await;
}

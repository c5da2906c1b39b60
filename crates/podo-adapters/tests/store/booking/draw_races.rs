//! Draw sales under races: the end of the window, and offers of many nodes. The controls show what
//! happens without the guards.

use crate::booking::draws::{
    CLOSE_S, FIRST_R, apply, apply_all, draw, in_order, list, offer, sale,
};
use crate::world::{Fan, Plan, World, at, broken, refusal};
use futures::future::join_all;
use podo_adapters::sql::Guard;
use podo_app::booking::jobs::draw::draw_phase;
use podo_app::catalog::phases::draws_port::{ApplicationRecord, Draws};
use podo_app::{Error, Result};
use podo_domain::booking::draws::ApplicationState;
use podo_domain::{PhaseId, Refusal};
use std::collections::BTreeSet;

const FANS: usize = 40;

/// Fans apply and withdraw while the window ends, again and again until each has an answer. Returns
/// how many were accepted after a withdrawal of every fourth.
async fn race_with_the_end(off: Vec<Guard>) -> (World, PhaseId, usize) {
    let world = World::planned(Plan { off, ..Plan::default() }).await;
    let phase = sale(&world, 10).await;
    let fans = world.fans(FANS).await;
    let go = async |number: usize, fan: &Fan| {
        // A node whose clock reads a little earlier than that of the node with the job.
        let accepted = until_decided(async || {
            apply(&world, fan, phase, ("R", 1), at(CLOSE_S - 1)).await.map(drop)
        });
        let is_in = accepted.await;
        if is_in && number.is_multiple_of(4) {
            until_decided(async || {
                world.store.withdraw_application(fan.id, phase, at(CLOSE_S - 1)).await
            })
            .await;
        }
        is_in
    };
    let end = async {
        // Somewhere in the middle of them.
        while list(&world, phase).await.len() < FANS / 4 {
            tokio::task::yield_now().await;
        }
        until_decided(async || draw_phase(&world.store, phase, at(CLOSE_S)).await.map(drop)).await;
    };
    let calls = fans.iter().enumerate().map(|(number, fan)| go(number, fan));
    let (answers, ()) = tokio::join!(join_all(calls), end);
    let n_in = answers.into_iter().filter(|is_in| *is_in).count();
    (world, phase, n_in)
}

/// Repeats a command that lost a conflict, as a client does. Returns whether it was accepted.
async fn until_decided(mut command: impl AsyncFnMut() -> Result<()>) -> bool {
    loop {
        match command().await {
            Ok(()) => return true,
            Err(Error::Refused(Refusal::DrawClosed)) => return false,
            Err(Error::Conflict(_)) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn who_is_accepted_while_the_window_ends_takes_part_in_the_draw() {
    let (world, phase, n_in) = race_with_the_end(Vec::new()).await;
    // The draw may be interrupted by a conflict; its next round completes it.
    draw_phase(&world.store, phase, at(CLOSE_S)).await.unwrap();
    let list = list(&world, phase).await;
    assert_eq!(list.len(), n_in, "each accepted application is in the list, and no other");
    let places: BTreeSet<_> = list.iter().map(|it| it.place).collect();
    assert_eq!(places, (0..u32::try_from(n_in).unwrap()).map(Some).collect(), "each place once");
    let is_decided = |it: &ApplicationRecord| {
        matches!(
            it.state,
            ApplicationState::Drawn | ApplicationState::Withdrawn | ApplicationState::Passed
        )
    };
    assert!(list.iter().all(is_decided), "{list:?}");
    world.finish().await;
}

/// An application whose transaction begins before the end of the window and comes after the draw.
async fn apply_after_the_draw(off: Vec<Guard>) -> (World, Result<ApplicationRecord>) {
    let world = World::planned(Plan { off, ..Plan::default() }).await;
    let phase = sale(&world, 10).await;
    apply_all(&world, &world.fans(3).await, phase).await;
    draw(&world, phase).await;
    let late = apply(&world, &world.fan().await, phase, ("R", 1), at(CLOSE_S - 1)).await;
    (world, late)
}

#[tokio::test]
async fn an_application_that_arrives_after_the_draw_is_refused() {
    let (world, late) = apply_after_the_draw(Vec::new()).await;
    assert_eq!(refusal(late), Refusal::DrawClosed);
    world.finish().await;
}

#[tokio::test]
async fn without_the_window_an_application_is_accepted_and_never_drawn() {
    let (world, late) = apply_after_the_draw(vec![Guard::DrawWindowIsCompared]).await;
    assert_eq!(late.unwrap().place, None);
    assert_eq!(broken(&world.store, at(1)).await, ["I30"]);
    world.abandon("an accepted application wasn't drawn");
}

/// Several nodes offer seats at once, each to the fan who is next for it. Returns how many seats are
/// offered.
async fn race_of_offers(off: Vec<Guard>, quantity: u32) -> (World, usize) {
    let world = World::planned(Plan { off, ..Plan::default() }).await;
    let phase = sale(&world, quantity).await;
    let fans = world.fans(20).await;
    apply_all(&world, &fans, phase).await;
    draw(&world, phase).await;
    let node = async |number: u32| {
        let mut n_offered = 0;
        for attempt in 0..40 {
            let next = world.store.next_to_offer(phase, "R".to_owned()).await.unwrap();
            let Some(next) = next.filter(|next| next.application.count <= next.left) else {
                return n_offered;
            };
            let seat = FIRST_R + (number * 7 + attempt) % 30;
            match offer(&world, phase, &next.application, seat, at(1)).await {
                Ok(_) => n_offered += 1,
                Err(Error::Refused(_) | Error::Conflict(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        n_offered
    };
    let offered = join_all((0..4).map(node)).await;
    (world, offered.into_iter().sum())
}

#[tokio::test]
async fn offers_of_many_nodes_never_exceed_the_quantity() {
    let (world, n_offered) = race_of_offers(Vec::new(), 5).await;
    assert_eq!(n_offered, 5);
    world.finish().await;
}

#[tokio::test]
async fn without_the_count_offers_exceed_the_quantity_and_an_invariant_says_so() {
    let (world, n_offered) = race_of_offers(vec![Guard::DrawQuantityIsCounted], 5).await;
    assert!(n_offered > 5, "{n_offered}");
    assert_eq!(broken(&world.store, at(1)).await, ["I30"]);
    world.abandon("more seats are offered than the quantity");
}

#[tokio::test]
async fn without_the_order_an_offer_jumps_the_line_and_an_invariant_says_so() {
    let off = vec![Guard::DrawOrderIsCompared];
    let world = World::planned(Plan { off, ..Plan::default() }).await;
    let phase = sale(&world, 2).await;
    apply_all(&world, &world.fans(3).await, phase).await;
    draw(&world, phase).await;
    let order = in_order(&world, phase).await;
    offer(&world, phase, &order[2], FIRST_R, at(1)).await.unwrap();
    assert_eq!(broken(&world.store, at(1)).await, ["I30"]);
    world.abandon("the last of the order got the first offer");
}

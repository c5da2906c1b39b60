//! Similar refunds of one payment, at gateways that lose responses: each is made once, and none is
//! mistaken for another.

use crate::payments::gateways::bank::{Bank, Case, Gateway, Webhook};
use crate::support::world::{PRICE, until};
use podo_testbed::gateways::{Fault, RefundFault};
use std::time::Duration;

/// Three seats of the same price, paid for by card.
async fn buy(bank: &Bank, gateway: Gateway, first_seat: u32) -> Case {
    let seats = [first_seat, first_seat + 1, first_seat + 2];
    let case = bank.start_with(gateway, &seats, (Fault::None, RefundFault::None)).await;
    bank.play(&case, Webhook::Missing).await;
    assert_eq!(case.status().await, "CAPTURED", "{gateway:?}");
    case
}

/// Waits until this many refunds of the payment are made and none is due.
async fn wait_for_refunds(bank: &Bank, case: &Case, n_refunds: usize) {
    until("the refunds are made", async || {
        bank.world.clock.advance(Duration::from_secs(2));
        let payment = case.fan.payment(&case.payment).await;
        let refunds = payment["refunds"].as_array().unwrap();
        let n_made = refunds.iter().filter(|it| it["status"] == "REFUNDED").count();
        (n_made == n_refunds && refunds.len() == n_refunds).then_some(())
    })
    .await;
}

/// The merchant refunded the price of one seat on the gateway's own page. If our refund of another
/// seat is lost, that refund must not be mistaken for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_refund_is_not_counted_as_made_by_another_of_the_same_amount() {
    let bank = Bank::open().await;
    for (turn, gateway) in (0..).zip(Gateway::ALL) {
        let case = buy(&bank, gateway, turn * 3).await;
        bank.gateways.refund_on_page(&case.order, PRICE);
        bank.gateways.fail_refunds(&case.order, RefundFault::VanishesTimes(4));
        bank.give_back(&case, turn * 3).await;
        wait_for_refunds(&bank, &case, 1).await;
        let booked = bank.gateways.order(&case.order).unwrap();
        assert_eq!((booked.n_refunds, booked.refunded), (1, 2 * PRICE), "{gateway:?}");
    }
    bank.world.finish().await;
}

/// Three refunds of the same amount at once: the first loses its response after it was made, the
/// second before.
#[tokio::test(flavor = "multi_thread")]
async fn refunds_of_the_same_amount_are_each_made_once_when_answers_get_lost() {
    let bank = Bank::open().await;
    for (turn, gateway) in (0..).zip(Gateway::ALL) {
        let case = buy(&bank, gateway, turn * 3).await;
        bank.gateways.fail_refunds(&case.order, RefundFault::Drops);
        bank.world.clock.advance(Duration::from_secs(60));
        bank.give_back(&case, turn * 3).await;
        // The clock of the node that records the next refund is behind.
        bank.world.clock.fall_back(Duration::from_secs(30));
        bank.give_back(&case, turn * 3 + 1).await;
        bank.world.clock.advance(Duration::from_secs(30));
        wait_for_refunds(&bank, &case, 2).await;
        bank.gateways.fail_refunds(&case.order, RefundFault::VanishesTimes(4));
        bank.give_back(&case, turn * 3 + 2).await;
        wait_for_refunds(&bank, &case, 3).await;
        let booked = bank.gateways.order(&case.order).unwrap();
        assert_eq!((booked.n_refunds, booked.refunded), (3, 3 * PRICE), "{gateway:?}");
    }
    bank.close().await;
}

//! Virtual accounts at the companies that issue them: each fault of the issue, of the webhook and of
//! the refund ends with a ticket or with the money back.

use crate::payments::gateways::bank::{Bank, Case, Gateway, Means, Webhook};
use crate::support::world::{PRICE, until};
use podo_testbed::gateways::{Fault, RefundFault};
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

const ACCOUNT: Means = Means { method: "VIRTUAL_ACCOUNT", on_phone: false };

/// Seconds between two looks of a test at a payment, during which the jobs have worked.
const STEP: Duration = Duration::from_secs(20);

async fn wait_for(bank: &Bank, case: &mut Case, status: &str, step: Duration) {
    for _ in 0..200 {
        if case.status().await == status {
            return;
        }
        bank.world.clock.advance(step);
        case.fan = bank.world.again(&case.fan);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{} is {} and not {status}", case.order, case.status().await);
}

/// How the issue of an account ends with this fault.
fn end_of(fault: Fault) -> &'static str {
    match fault {
        Fault::Declines | Fault::Silent => "FAILED",
        Fault::None
        | Fault::AnswersLate
        | Fault::Drops
        | Fault::Fails
        | Fault::Busy
        | Fault::WrongAmount
        | Fault::Garbage => "AWAITING_DEPOSIT",
    }
}

async fn every_fault(gateway: Gateway) {
    let bank = Bank::open().await;
    let mut cases = Vec::new();
    for (seat, fault) in (0..).zip(Fault::ALL) {
        let webhook = Webhook::ALL[seat as usize % Webhook::ALL.len()];
        let faults = (fault, RefundFault::None);
        let case = bank.start_by(gateway, ACCOUNT, &[seat], faults).await;
        bank.play(&case, webhook).await;
        cases.push((case, fault));
    }
    for (case, fault) in &mut cases {
        wait_for(&bank, case, end_of(*fault), STEP).await;
        if end_of(*fault) == "FAILED" {
            continue;
        }
        let payment = case.fan.payment(&case.payment).await;
        assert_eq!(payment["deposit"]["bank"], "SHINHAN", "{fault:?}: {payment}");
        bank.gateways.deposit(&case.order, PRICE);
    }
    // Some are told by a webhook, and the job asks about the others.
    for (case, _) in cases.iter().step_by(2) {
        bank.tell(case, "deposit").await;
    }
    for (case, fault) in &mut cases {
        if end_of(*fault) == "AWAITING_DEPOSIT" {
            wait_for(&bank, case, "CAPTURED", STEP).await;
        }
    }
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_an_account_at_toss_ends_as_named() {
    every_fault(Gateway::Toss).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_an_account_at_portone_ends_as_named() {
    every_fault(Gateway::PortOne).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_is_closed_at_the_company_before_its_seat_is_free() {
    let bank = Bank::open().await;
    let mut cases = Vec::new();
    for (seat, gateway) in [(0, Gateway::Toss), (1, Gateway::PortOne)] {
        let faults = (Fault::None, RefundFault::None);
        let case = bank.start_by(gateway, ACCOUNT, &[seat], faults).await;
        bank.play(&case, Webhook::Missing).await;
        assert_eq!(case.status().await, "AWAITING_DEPOSIT");
        cases.push(case);
    }
    bank.world.clock.advance(Duration::from_secs(2 * 86_400));
    for case in &mut cases {
        case.fan = bank.world.again(&case.fan);
        wait_for(&bank, case, "CANCELED", STEP).await;
        assert!(bank.gateways.order(&case.order).unwrap().is_voided, "{}", case.order);
        assert_eq!(case.fan.reservation(&case.reservation).await["status"], "EXPIRED");
    }
    bank.world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_goes_to_the_account_of_the_fan_once_whatever_is_lost() {
    let bank = Bank::open().await;
    for (seat, gateway) in [(0, Gateway::Toss), (1, Gateway::PortOne)] {
        let faults = (Fault::None, RefundFault::Drops);
        let mut case = bank.start_by(gateway, ACCOUNT, &[seat], faults).await;
        bank.play(&case, Webhook::Missing).await;
        bank.gateways.deposit(&case.order, PRICE);
        bank.tell(&case, "deposit").await;
        until("the deposit is seen", async || (case.status().await == "CAPTURED").then_some(()))
            .await;
        case.fan.cancel(&case.reservation).await.expect(200);
        assert_eq!(bank.gateways.order(&case.order).unwrap().n_refunds, 0, "no account yet");
        let path = format!("/api/payment/{}/refund-account", case.payment);
        let account = json!({ "bank": "KAKAO", "number": "3333-01-1234567", "holder": "김포도" });
        let request = case.fan.api.call(Method::PUT, &path).json(&account);
        crate::support::client::send(request).await.expect(204);
        wait_for(&bank, &mut case, "REFUNDED", Duration::from_secs(5)).await;
        let order = bank.gateways.order(&case.order).unwrap();
        assert_eq!((order.refunded, order.n_refunds), (PRICE, 1), "{gateway:?}");
        assert_eq!(order.refund_account.as_deref(), Some("3333011234567"));
    }
    bank.close().await;
}

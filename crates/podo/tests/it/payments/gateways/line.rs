//! The connection to a gateway degrades while fans pay: slow, narrow, silent, cut. Every payment
//! ends, and the records agree on how.

use crate::payments::gateways::bank::{Bank, Gateway, Webhook};
use crate::support::world::{PRICE, until};
use podo_testbed::Fault as Line;
use podo_testbed::gateways::{Fault, RefundFault};
use std::time::Duration;

const LINES: [(Line, &[&str]); 4] = [
    (Line::Delay(Duration::from_millis(50)), &["CAPTURED"]),
    (Line::Throttle(100_000), &["CAPTURED"]),
    // Delayed requests arrive when the connection recovers: charged late, or refunded.
    (Line::HalfOpen, &["CAPTURED", "FAILED", "REFUNDED"]),
    (Line::Cut, &["FAILED"]),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_line_to_a_payment_company_loses_no_money() {
    let bank = Bank::open().await;
    let mut cases = Vec::new();
    for gateway in Gateway::ALL {
        for (line, ends) in LINES {
            let seat = u32::try_from(cases.len()).unwrap();
            let case = bank.start(gateway, seat, (Fault::None, RefundFault::None)).await;
            bank.line.set(line);
            bank.play(&case, Webhook::Missing).await;
            bank.line.set(Line::None);
            cases.push((format!("{gateway:?} over a line with {line:?}"), ends, case));
        }
    }
    // Unknown outcomes are queried, and voided after three minutes.
    bank.world.pass_void_time().await;
    for (what, ends, case) in &cases {
        let end = until(&format!("{what} ends"), async || {
            Some(case.status().await).filter(|status| ends.contains(&status.as_str()))
        })
        .await;
        // A circuit breaker may have kept the later requests from being sent at all.
        let booked = bank.gateways.order(&case.order).unwrap();
        assert!(booked.n_captures <= 1, "{what}: {booked:?}");
        let kept = booked.captured - booked.refunded;
        assert_eq!(kept, if end == "CAPTURED" { PRICE } else { 0 }, "{what}: {booked:?}");
    }
    bank.close().await;
}

//! The line to a payment company goes bad while fans pay: slow, narrow, silent, cut. Every payment
//! ends, and the books agree on how.

use super::bank::{Bank, Gateway, Webhook};
use crate::world::{PRICE, until};
use std::time::Duration;
use testbed::Fault as Line;
use testbed::gateways::{Fault, RefundFault};

const LINES: [(Line, &[&str]); 4] = [
    (Line::Delay(Duration::from_millis(50)), &["CAPTURED"]),
    (Line::Throttle(100_000), &["CAPTURED"]),
    // What was held back arrives when the line is well again: charged late, or given back.
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
    // Whatever is unknown is asked about, and voided after three minutes.
    bank.world.clock.advance(Duration::from_secs(200));
    for (what, ends, case) in &cases {
        let end = until(&format!("{what} ends"), async || {
            Some(case.status().await).filter(|status| ends.contains(&status.as_str()))
        })
        .await;
        // A breaker may have kept the later ones from being asked at all.
        let booked = bank.gateways.order(&case.order).unwrap();
        assert!(booked.n_captures <= 1, "{what}: {booked:?}");
        let kept = booked.captured - booked.refunded;
        assert_eq!(kept, if end == "CAPTURED" { PRICE } else { 0 }, "{what}: {booked:?}");
    }
    bank.close().await;
}

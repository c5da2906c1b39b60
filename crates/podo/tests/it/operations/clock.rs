//! A clock that jumps forward and back.

use crate::support::world::{PRICE, Plan, World};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// A hold has an absolute end: a clock that falls back frees nothing early, and no sale opens
/// early.
#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumps_frees_no_seat_early_and_opens_no_sale_early() {
    let world = World::start().await;
    // They logged in earlier, because a login isn't valid before it was made.
    world.clock.fall_back(50 * MINUTE);
    let mut fans = world.fans(2).await;
    world.clock.advance(50 * MINUTE);
    let show = world.show(Plan { entry_ttl_seconds: 3_600, ..Plan::default() }).await;
    for fan in &mut fans {
        fan.go_inside(&show).await;
    }
    let (fan, other) = (&fans[0], &fans[1]);
    let reservation = fan.hold(&show, &[0]).await;

    world.clock.fall_back(40 * MINUTE);
    other.select(&show, &[0]).await.refused(409, "SEAT_TAKEN");
    other.select(&show, &[1]).await.refused(409, "SALE_NOT_OPEN");
    world.clock.advance(40 * MINUTE);
    assert_eq!(fan.reservation(&reservation).await["status"], "HELD");
    other.select(&show, &[0]).await.refused(409, "SEAT_TAKEN");
    fan.charge(PRICE).await;
    let payment = fan.ready(&reservation, "WALLET").await;
    fan.confirm(&payment).await.expect(200);

    other.hold(&show, &[1]).await;
    world.clock.advance(6 * MINUTE);
    show.wait_for_letter(&world.stranger, 1, 'A').await;
    world.finish().await;
}

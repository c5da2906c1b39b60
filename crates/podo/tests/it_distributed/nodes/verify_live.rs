//! `podo verify --live` finds what the live engine has lost.

use crate::support::world::{Plan, Show, World};
use crate::system::{Live, System};
use tokio::task::block_in_place;

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_forgot_is_found_out_and_a_node_that_starts_puts_it_right() {
    let mut system = System::start(Live::single());
    let trade = async |world: &World, show: &Show| {
        world.fan_inside(show).await.buy(show, 0).await;
        world.fan_inside(show).await.hold(show, &[1]).await;
    };
    system.prepare(Plan::default(), trade).await;
    let verify = |system: &System| block_in_place(|| system.podo(&["verify", "--live"]));
    let (is_sound, text) = verify(&system);
    assert!(is_sound && text.contains("I17") && text.contains("F1"), "{text}");

    let redis = system.live.server();
    block_in_place(|| redis.cli(&["flushall"])).unwrap();
    let (is_sound, text) = verify(&system);
    assert!(!is_sound, "{text}");
    for sign in ["is not inside as", "seat 0: ", "seat 1: ", "\n2 of "] {
        assert!(text.contains(sign), "{sign}: {text}");
    }
    let (is_sound, text) = block_in_place(|| system.podo(&["verify"]));
    assert!(is_sound, "the store is well: {text}");

    let _node = system.node("api,admitter,worker");
    let (is_sound, text) = verify(&system);
    assert!(is_sound, "{text}");
}

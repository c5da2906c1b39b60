//! Gateway webhooks: stored once, for known payments, for a while.

use crate::world::{World, at};
use podo_app::payments::port::gateway::Hint;
use podo_app::payments::port::gateway_webhooks::Webhooks;
use podo_domain::PaymentId;

fn hint(id: &str, payment: Option<PaymentId>) -> Hint {
    Hint { id: id.to_owned(), kind: "CHANGED".to_owned(), payment }
}

#[tokio::test]
async fn only_what_a_gateway_was_asked_to_make_leaves_a_row_and_not_for_ever() {
    let world = World::new().await;
    let fan = world.fan().await;
    let (_, ready) = world.start_paying(&fan, &[10], at(0)).await;
    let known = Some(ready.payment_id);
    let keep = async |gateway, hint: &Hint| {
        world.store.keep_webhook(gateway, hint, at(30), at(1)).await.unwrap()
    };
    assert!(!keep("sandbox", &hint("a", None)).await);
    assert!(!keep("sandbox", &hint("b", Some(PaymentId::new(world.id())))).await);
    assert!(!keep("toss", &hint("c", known)).await, "the payment belongs to another company");
    assert!(keep("sandbox", &hint("d", known)).await);
    assert!(!keep("sandbox", &hint("d", known)).await, "it came before");
    let taken = world.store.take_webhooks(at(30), at(60), 10).await.unwrap();
    let ids: Vec<&str> = taken.iter().map(|kept| kept.id.as_str()).collect();
    assert_eq!(ids, ["d"]);
    assert_eq!(world.store.forget_webhooks(at(1), 10).await.unwrap(), 0);
    assert_eq!(world.store.forget_webhooks(at(2), 10).await.unwrap(), 1);
    assert!(world.store.take_webhooks(at(60), at(90), 10).await.unwrap().is_empty());
    world.finish().await;
}

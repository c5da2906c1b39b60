//! What operators see while engines are down, and of other machines' clocks.

use crate::support::client::Api;
use crate::support::world::until;
use crate::system::{Live, System};

#[tokio::test(flavor = "multi_thread")]
async fn a_node_is_ready_without_redis_and_not_without_its_store() {
    let mut system = System::start(Live::single());
    let node = system.node("api,admitter,worker");
    let api = Api::at(node.url());
    let ready = api.get("/readyz?verbose").await;
    assert_eq!(ready.status, 200, "{}", ready.text);
    assert!(ready.text.contains("[+] live engine: answers"), "{}", ready.text);
    let (_, said) = system.podo(&["doctor"]);
    for what in ["store's clock", "live clock"] {
        assert!(said.lines().any(|line| line.starts_with("ok") && line.contains(what)), "{said}");
    }
    system.live.server().kill_9().unwrap();
    let ready = api.get("/readyz?verbose").await;
    assert_eq!(ready.status, 200, "{}", ready.text);
    assert!(ready.text.contains("[~] live engine: does not respond"), "{}", ready.text);
    system.postgres.stop_immediate().unwrap();
    let ready = until("the store is missed", async || {
        Some(api.get("/readyz?verbose").await).filter(|ready| ready.status == 503)
    });
    let ready = ready.await;
    assert!(ready.text.contains("[-] store: the store does not answer"), "{}", ready.text);
    assert!(ready.text.ends_with("\nthe store does not answer"), "{}", ready.text);
    assert_eq!(api.get("/livez").await.status, 200);
}

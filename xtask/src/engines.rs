//! `cargo xtask engines up`: real engines for trying things out by hand.

use anyhow::Context;
use testbed::{Postgres, Redis, RedisCluster};

const DATABASE: &str = "podo";

/// Which live engine is started beside the store.
#[derive(Clone, Copy)]
pub(crate) enum Live {
    Single,
    Cluster,
}

/// Starts the engines and stays until the end of stdin. Ctrl-C needs no handling: the engines'
/// guards see that we are gone, end them and delete their folders.
pub(crate) fn up(live: Live) -> anyhow::Result<()> {
    let store = Postgres::start()?;
    store.create_database(DATABASE)?;
    let store_url = store.url(DATABASE);
    match live {
        Live::Single => {
            let redis = Redis::start()?;
            stay(&store_url, &redis.url())
        }
        Live::Cluster => {
            let cluster = RedisCluster::start()?;
            stay(&store_url, &cluster.url())
        }
    }
}

fn stay(store_url: &str, live_url: &str) -> anyhow::Result<()> {
    print!("{}", describe(store_url, live_url));
    let read = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
    read.map(drop).context("stdin cannot be read")
}

fn describe(store_url: &str, live_url: &str) -> String {
    format!(
        "export PODO_STORE_URL={store_url}\n\
         export PODO_LIVE_URL={live_url}\n\
         \n\
         the engines are up; their data is deleted at Ctrl-C or Ctrl-D\n"
    )
}

#[test]
fn the_settings_can_be_copied_into_a_shell() {
    let text = describe("postgres://a", "redis://b");
    let settings: Vec<&str> = text.lines().take(2).collect();
    let expected = ["export PODO_STORE_URL=postgres://a", "export PODO_LIVE_URL=redis://b"];
    assert_eq!(settings, expected);
}

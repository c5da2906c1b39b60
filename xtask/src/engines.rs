//! `cargo xtask engines up`: real engines for trying things out by hand.

use anyhow::{Context, bail};
use podo_testbed::kafka::OPTIONS;
use podo_testbed::{Kafka, Postgres, Redis, RedisCluster};
use std::io::Write;

const DATABASE: &str = "podo";

/// What is started beside the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Redis is a cluster of six.
    cluster: bool,
    kafka: bool,
}

impl Wanted {
    pub(crate) fn read(options: &[&str]) -> anyhow::Result<Wanted> {
        let mut wanted = Wanted::default();
        for option in options {
            match *option {
                "--cluster" => wanted.cluster = true,
                "--kafka" => wanted.kafka = true,
                other => bail!("`engines up` does not know `{other}`; see `cargo xtask help`"),
            }
        }
        Ok(wanted)
    }
}

enum Live {
    Single(Redis),
    Cluster(RedisCluster),
}

impl Live {
    fn start(is_cluster: bool) -> anyhow::Result<Live> {
        Ok(match is_cluster {
            true => Live::Cluster(RedisCluster::start()?),
            false => Live::Single(Redis::start()?),
        })
    }

    fn url(&self) -> String {
        match self {
            Live::Single(redis) => redis.url(),
            Live::Cluster(cluster) => cluster.url(),
        }
    }
}

/// Starts the engines and stays until the end of stdin. Ctrl-C needs no handling: the engines'
/// guards see that we are gone, end them and delete their folders.
pub(crate) fn up(wanted: Wanted) -> anyhow::Result<()> {
    let store = Postgres::start()?;
    store.create_database(DATABASE)?;
    let live = Live::start(wanted.cluster)?;
    let bus = wanted.kafka.then(Kafka::start).transpose()?;
    let bus_url = bus.as_ref().map(Kafka::url);
    print!("{}", describe(&store.url(DATABASE), &live.url(), bus_url.as_deref()));
    std::io::stdout().flush()?;
    let read = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
    read.map(drop).context("stdin cannot be read")
}

/// The broker is as old as the client supports: it cannot be asked what it can do.
fn describe(store_url: &str, live_url: &str, bus_url: Option<&str>) -> String {
    let bus = bus_url.map_or_else(String::new, |url| {
        let options = OPTIONS.map(|(name, value)| format!("{name}={value}")).join(",");
        format!(
            "export PODO_BUS_URL={url} PODO_BUS_IDEMPOTENCE=off PODO_BUS_CREATE_TOPICS=off\n\
             export PODO_BUS_OPTIONS={options}\n"
        )
    });
    format!(
        "export PODO_STORE_URL={store_url}\n\
         export PODO_LIVE_URL={live_url}\n\
         {bus}\n\
         the engines are up; their data is deleted at Ctrl-C or Ctrl-D\n"
    )
}

#[test]
fn the_settings_can_be_copied_into_a_shell() {
    let settings = |bus: Option<&str>| {
        let text = describe("postgres://a", "redis://b", bus);
        text.lines().take_while(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let two = ["export PODO_STORE_URL=postgres://a", "export PODO_LIVE_URL=redis://b"];
    assert_eq!(settings(None), two);
    let with_bus = settings(Some("kafka://c"));
    assert_eq!((&with_bus[..2], with_bus.len()), (&two.map(str::to_owned)[..], 4));
    assert!(with_bus[2].starts_with("export PODO_BUS_URL=kafka://c "), "{with_bus:?}");
}

#[test]
fn options_are_read_in_any_order() {
    let both = Wanted { cluster: true, kafka: true };
    assert_eq!(Wanted::read(&["--kafka", "--cluster"]).unwrap(), both);
    assert_eq!(Wanted::read(&[]).unwrap(), Wanted::default());
    assert!(Wanted::read(&["--kafak"]).is_err());
}

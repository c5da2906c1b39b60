//! Several real processes on their own engines, which a test may break.

use crate::support::world::{Plan, Show, World};
use podo::bootstrap;
use podo::config::{Config, Overrides};
use podo_testbed::kafka::OPTIONS;
use podo_testbed::{Kafka, Launch, NotStarted, Podo, Postgres, Proxy, Redis, RedisCluster};
use std::process::Command;
use tempfile::TempDir;

const DATABASE: &str = "podo";

/// The live engine, on one server or on six.
pub(crate) enum Live {
    Single(Redis),
    Cluster(RedisCluster),
}

/// Between the nodes and their engines.
pub(crate) struct Lines {
    pub(crate) store: Proxy,
    pub(crate) live: Proxy,
}

impl Live {
    pub(crate) fn single() -> Live {
        Live::Single(Redis::start().unwrap())
    }

    pub(crate) fn cluster() -> Live {
        Live::Cluster(RedisCluster::start().unwrap())
    }

    pub(crate) fn server(&mut self) -> &mut Redis {
        match self {
            Live::Single(redis) => redis,
            Live::Cluster(_) => panic!("this test runs on one server"),
        }
    }

    pub(crate) fn servers(&mut self) -> &mut RedisCluster {
        match self {
            Live::Cluster(cluster) => cluster,
            Live::Single(_) => panic!("this test runs on a cluster"),
        }
    }
}

pub(crate) struct System {
    pub(crate) postgres: Postgres,
    /// Follows the store, and may be promoted.
    pub(crate) standby: Option<Postgres>,
    pub(crate) live: Live,
    /// Without it, messages stay in the process.
    pub(crate) kafka: Option<Kafka>,
    /// Proxies to the store and to the live engine, to which a test can add faults.
    pub(crate) lines: Option<Lines>,
    /// Contains the secret key, which all nodes share.
    folder: TempDir,
}

impl System {
    pub(crate) fn start(live: Live) -> System {
        System::on(Postgres::start().unwrap(), live)
    }

    pub(crate) fn on(postgres: Postgres, live: Live) -> System {
        postgres.create_database(DATABASE).unwrap();
        let folder = TempDir::with_prefix("podo-").unwrap();
        System { postgres, standby: None, live, kafka: None, lines: None, folder }
    }

    /// The same with a broker between the nodes.
    pub(crate) fn with_kafka() -> System {
        let kafka = Some(Kafka::start().unwrap());
        System { kafka, ..System::start(Live::single()) }
    }

    /// The same with a proxy to the broker that can inject faults.
    pub(crate) fn with_kafka_line() -> System {
        let kafka = Some(Kafka::start_behind_a_line().unwrap());
        System { kafka, ..System::start(Live::single()) }
    }

    /// The same with proxies between the nodes and their engines that can inject faults.
    pub(crate) fn with_lines() -> System {
        let mut system = System::start(Live::single());
        let store = Proxy::to_port(system.postgres.port()).unwrap();
        let live = Proxy::to_port(system.live.server().port()).unwrap();
        system.lines = Some(Lines { store, live });
        system
    }

    /// The same with a second server that has everything the first has acknowledged.
    pub(crate) fn with_synchronous_standby() -> System {
        let mut system = System::start(Live::single());
        system.standby = Some(system.postgres.replica().unwrap());
        // After the copy, because the promoted standby must not wait for a standby of its own.
        system.ask("alter system set synchronous_standby_names = '*'");
        system.ask("select pg_reload_conf()");
        let is_followed = "select count(*) from pg_stat_replication where sync_state = 'sync'";
        while system.ask(is_followed) != "1" {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        system
    }

    /// Promotes the standby to the store.
    pub(crate) fn promote_standby(&mut self) {
        let standby = self.standby.as_mut().expect("this test runs with a standby");
        standby.promote().unwrap();
        std::mem::swap(&mut self.postgres, standby);
    }

    pub(crate) fn lines(&self) -> &Lines {
        self.lines.as_ref().expect("this test runs over lines of its own")
    }

    /// The URL of an engine, through its proxy if there is one.
    fn over(&self, url: String, port: u16, line: impl Fn(&Lines) -> &Proxy) -> String {
        match &self.lines {
            Some(lines) => url.replace(&format!(":{port}"), &format!(":{}", line(lines).port())),
            None => url,
        }
    }

    fn live_url(&self) -> String {
        match &self.live {
            Live::Single(redis) => self.over(redis.url(), redis.port(), |lines| &lines.live),
            Live::Cluster(cluster) => cluster.url(),
        }
    }

    fn store_url(&self) -> String {
        let (url, port) = (self.postgres.url(DATABASE), self.postgres.port());
        match &self.standby {
            // In a fixed order, whichever of them is the store.
            Some(standby) => {
                let mut ports = [port, standby.port()];
                ports.sort_unstable();
                url.replace(&format!(":{port}/"), &format!(":{},127.0.0.1:{}/", ports[0], ports[1]))
            }
            None => self.over(url, port, |lines| &lines.store),
        }
    }

    pub(crate) fn broker(&mut self) -> &mut Kafka {
        self.kafka.as_mut().expect("this test runs on Kafka")
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = vec![
            ("PODO_STORE_URL", self.store_url()),
            ("PODO_LIVE_URL", self.live_url()),
            ("PODO_LISTEN", "127.0.0.1:0".to_owned()),
            ("PODO_LIMITS", "off".to_owned()),
            ("PODO_ADMIT_EVERY_MS", "50".to_owned()),
            ("PODO_SWEEP_EVERY_MS", "200".to_owned()),
        ];
        settings.extend(self.kafka.iter().flat_map(kafka_settings));
        settings
    }

    /// The settings of every node.
    pub(crate) fn config(&self) -> Config {
        let settings = self.settings();
        let data = Some(self.folder.path().to_owned());
        let overrides = Overrides { data, ..Overrides::default() };
        let find = |name: &str| {
            let found = settings.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| value.clone())
        };
        Config::load(&overrides, find).unwrap()
    }

    /// Creates a sale and what it needs in this process, then stops.
    pub(crate) async fn prepare<T>(
        &self,
        plan: Plan,
        more: impl AsyncFnOnce(&World, &Show) -> T,
    ) -> (Show, T) {
        let config = self.config();
        let world = World::on(&config, bootstrap::context(&config).await.unwrap()).await;
        let show = world.show(plan).await;
        let made = more(&world, &show).await;
        world.running.stop().await;
        (show, made)
    }

    /// A node with some of the roles.
    pub(crate) fn node(&self, roles: &str) -> Podo {
        self.node_with(roles, &[])
    }

    /// The same with more settings.
    pub(crate) fn node_with(&self, roles: &str, more: &[(&str, String)]) -> Podo {
        self.launch(roles, more).start().unwrap()
    }

    /// The same for a node that may die before it is ready.
    pub(crate) fn try_node(
        &self,
        roles: &str,
        more: &[(&str, String)],
    ) -> Result<Podo, NotStarted> {
        self.launch(roles, more).start()
    }

    pub(crate) fn launch(&self, roles: &str, more: &[(&str, String)]) -> Launch {
        let launch = Launch::new(env!("CARGO_BIN_EXE_podo")).data(self.folder.path());
        let settings = self.settings();
        let settings = settings.iter().filter(|(name, _)| *name != "PODO_LISTEN");
        let launch = settings.fold(launch, |launch, (name, value)| launch.env(name, value));
        let launch = more.iter().fold(launch, |launch, (name, value)| launch.env(name, value));
        launch.arg("--roles").arg(roles)
    }

    /// Runs a `podo` command on the engines: whether it succeeded, and what it printed.
    pub(crate) fn podo(&self, arguments: &[&str]) -> (bool, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_podo"));
        command.env_clear().envs(self.settings()).args(arguments);
        let output = command.arg("--data").arg(self.folder.path()).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    }

    /// Every invariant holds.
    #[track_caller]
    pub(crate) fn verify(&self) {
        let (is_sound, text) = self.podo(&["verify"]);
        assert!(is_sound, "{text}");
    }

    /// One value from the store.
    pub(crate) fn ask(&self, sql: &str) -> String {
        self.postgres.psql(DATABASE, sql).unwrap()
    }
}

/// The settings that make a node use this broker.
pub(crate) fn kafka_settings(kafka: &Kafka) -> [(&'static str, String); 4] {
    let options = OPTIONS.map(|(key, value)| format!("{key}={value}"));
    [
        ("PODO_BUS_URL", kafka.url()),
        ("PODO_BUS_OPTIONS", options.join(",")),
        ("PODO_BUS_IDEMPOTENCE", "off".to_owned()),
        ("PODO_BUS_CREATE_TOPICS", "off".to_owned()),
    ]
}

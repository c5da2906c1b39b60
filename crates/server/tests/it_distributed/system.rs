//! Several real processes on engines of their own, which a test may hurt.

use crate::world::{Plan, Show, World};
use server::config::{Config, Overrides};
use server::wire;
use std::process::Command;
use tempfile::TempDir;
use testbed::kafka::OPTIONS;
use testbed::{Kafka, Launch, Podo, Postgres, Redis, RedisCluster};

const DATABASE: &str = "podo";

/// What may be forgotten, on one server or on six.
pub(crate) enum Live {
    Single(Redis),
    Cluster(RedisCluster),
}

impl Live {
    pub(crate) fn single() -> Live {
        Live::Single(Redis::start().unwrap())
    }

    pub(crate) fn cluster() -> Live {
        Live::Cluster(RedisCluster::start().unwrap())
    }

    fn url(&self) -> String {
        match self {
            Live::Single(redis) => redis.url(),
            Live::Cluster(cluster) => cluster.url(),
        }
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
    pub(crate) live: Live,
    /// Without it messages stay in the process.
    pub(crate) kafka: Option<Kafka>,
    /// The secret key is in here: all nodes share it.
    folder: TempDir,
}

impl System {
    pub(crate) fn start(live: Live) -> System {
        System::on(Postgres::start().unwrap(), live)
    }

    pub(crate) fn on(postgres: Postgres, live: Live) -> System {
        postgres.create_database(DATABASE).unwrap();
        let folder = TempDir::with_prefix("podo-").unwrap();
        System { postgres, live, kafka: None, folder }
    }

    /// The same with a broker between the nodes.
    pub(crate) fn with_kafka() -> System {
        let kafka = Some(Kafka::start().unwrap());
        System { kafka, ..System::start(Live::single()) }
    }

    pub(crate) fn broker(&mut self) -> &mut Kafka {
        self.kafka.as_mut().expect("this test runs on Kafka")
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = vec![
            ("PODO_STORE_URL", self.postgres.url(DATABASE)),
            ("PODO_LIVE_URL", self.live.url()),
            ("PODO_LISTEN", "127.0.0.1:0".to_owned()),
            ("PODO_LIMITS", "off".to_owned()),
            ("PODO_ADMIT_EVERY_MS", "50".to_owned()),
            ("PODO_SWEEP_EVERY_MS", "200".to_owned()),
        ];
        settings.extend(self.kafka.iter().flat_map(kafka_settings));
        settings
    }

    /// Makes a sale and what it needs inside this process, then leaves.
    pub(crate) async fn prepare<T>(
        &self,
        plan: Plan,
        more: impl AsyncFnOnce(&World, &Show) -> T,
    ) -> (Show, T) {
        let settings = self.settings();
        let data = Some(self.folder.path().to_owned());
        let overrides = Overrides { data, ..Overrides::default() };
        let find = |name: &str| {
            let found = settings.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| value.clone())
        };
        let config = Config::load(&overrides, find).unwrap();
        let world = World::on(&config, wire::platform(&config).await.unwrap()).await;
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
        let launch = Launch::new(env!("CARGO_BIN_EXE_podo")).data(self.folder.path());
        let settings = self.settings();
        let settings = settings.iter().filter(|(name, _)| *name != "PODO_LISTEN");
        let launch = settings.fold(launch, |launch, (name, value)| launch.env(name, value));
        let launch = more.iter().fold(launch, |launch, (name, value)| launch.env(name, value));
        launch.arg("--roles").arg(roles).start().unwrap()
    }

    /// Runs a command of `podo` on the engines: whether it succeeded, and what it printed.
    pub(crate) fn podo(&self, arguments: &[&str]) -> (bool, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_podo"));
        command.env_clear().envs(self.settings()).args(arguments);
        let output = command.arg("--data").arg(self.folder.path()).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    }

    /// Every promise holds.
    #[track_caller]
    pub(crate) fn verify(&self) {
        let (is_sound, text) = self.podo(&["verify"]);
        assert!(is_sound, "{text}");
    }

    /// One number or word out of the store.
    pub(crate) fn ask(&self, sql: &str) -> String {
        self.postgres.psql(DATABASE, sql).unwrap()
    }
}

/// What makes a node use this broker.
pub(crate) fn kafka_settings(kafka: &Kafka) -> [(&'static str, String); 4] {
    let options = OPTIONS.map(|(key, value)| format!("{key}={value}"));
    [
        ("PODO_BUS_URL", kafka.url()),
        ("PODO_BUS_OPTIONS", options.join(",")),
        ("PODO_BUS_IDEMPOTENCE", "off".to_owned()),
        ("PODO_BUS_CREATE_TOPICS", "off".to_owned()),
    ]
}

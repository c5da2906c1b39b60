//! The engine under test: dedicated Redis servers.

use podo_adapters::live::memory::QueueBlocks;
use podo_adapters::live::redis::{Address, Connection};
use podo_domain::Timestamp;
use podo_domain::waiting_room::QueueRules;
use podo_testbed::{Redis, RedisCluster};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const START: Timestamp = Timestamp::from_ms(1_900_000_000_000);

enum Servers {
    Single(Redis),
    Cluster(RedisCluster),
}

pub(crate) struct Engine {
    connection: Connection,
    blocks: Arc<QueueBlocks>,
    servers: Servers,
}

impl Engine {
    pub(crate) async fn single() -> Engine {
        Engine::on(Servers::Single(Redis::start().unwrap())).await
    }

    /// A server that can lose its last writes.
    pub(crate) async fn single_with_log() -> Engine {
        Engine::on(Servers::Single(Redis::start_with_log().unwrap())).await
    }

    pub(crate) async fn cluster() -> Engine {
        Engine::on(Servers::Cluster(RedisCluster::start().unwrap())).await
    }

    pub(crate) async fn single_with_tls() -> Engine {
        Engine::on(Servers::Single(Redis::start_with_tls().unwrap())).await
    }

    pub(crate) async fn cluster_with_tls() -> Engine {
        Engine::on(Servers::Cluster(RedisCluster::start_with_tls().unwrap())).await
    }

    async fn on(servers: Servers) -> Engine {
        let connection = connect(&servers).await;
        Engine { connection, blocks: Arc::default(), servers }
    }

    pub(crate) fn connection(&self) -> Connection {
        self.connection.clone()
    }

    /// The source of numbers of all nodes on these servers.
    pub(crate) fn blocks(&self) -> Arc<QueueBlocks> {
        self.blocks.clone()
    }

    /// A separate connection, as another node has.
    pub(crate) async fn another(&self) -> Connection {
        connect(&self.servers).await
    }

    pub(crate) fn kill(&mut self) {
        self.single_server().kill_9().unwrap();
    }

    pub(crate) fn restart(&mut self) {
        self.single_server().restart().unwrap();
    }

    /// Returns once the connection is restored.
    pub(crate) async fn lose_last_writes(&mut self, n_writes: usize) {
        self.single_server().lose_last_writes(n_writes).unwrap();
        while self.connection.clock_ms().await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(crate) fn pause(&mut self) {
        self.single_server().pause().unwrap();
    }

    pub(crate) fn resume(&mut self) {
        self.single_server().resume().unwrap();
    }

    pub(crate) fn cluster_servers(&mut self) -> &mut RedisCluster {
        match &mut self.servers {
            Servers::Cluster(servers) => servers,
            Servers::Single(_) => panic!("a single server has no masters"),
        }
    }

    /// A number in the hash of a schedule's room.
    pub(crate) fn room_field(&self, rules: &QueueRules, name: &str) -> Option<u64> {
        let key = format!("test:{{{}}}:queue:room", rules.schedule.uuid());
        self.ask(&["hget", &key, name]).parse().ok()
    }

    pub(crate) fn assert_every_key_ends(&self) {
        for key in self.ask(&["keys", "*"]).lines() {
            let left_ms: i64 = self.ask(&["pttl", key]).parse().unwrap();
            assert!(left_ms > 0, "{key} would stay for ever");
        }
    }

    /// Sends a command to the single server.
    pub(crate) fn ask(&self, command: &[&str]) -> String {
        match &self.servers {
            Servers::Single(server) => server.cli(command).unwrap(),
            Servers::Cluster(_) => panic!("a test says which server of a cluster it means"),
        }
    }

    fn single_server(&mut self) -> &mut Redis {
        match &mut self.servers {
            Servers::Single(server) => server,
            Servers::Cluster(_) => panic!("a test says which server of a cluster it means"),
        }
    }
}

async fn connect(servers: &Servers) -> Connection {
    let (url, certificate) = match servers {
        Servers::Single(server) => (server.url(), server.certificate()),
        Servers::Cluster(cluster) => (cluster.url(), cluster.certificate()),
    };
    let trusted = (!certificate.is_empty()).then(|| certificate.into());
    Connection::open(Address { url, trusted, prefix: "test:".into() }).await.unwrap()
}

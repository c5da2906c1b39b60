//! The engine under test: Redis servers of its own.

use adapters::redis::Connection;
use domain::Timestamp;
use testbed::{Redis, RedisCluster};

pub(crate) const START: Timestamp = Timestamp::from_ms(1_900_000_000_000);

enum Servers {
    Single(Redis),
    Cluster(RedisCluster),
}

pub(crate) struct Engine {
    connection: Connection,
    servers: Servers,
}

impl Engine {
    pub(crate) async fn single() -> Engine {
        Engine::on(Servers::Single(Redis::start().unwrap())).await
    }

    pub(crate) async fn cluster() -> Engine {
        Engine::on(Servers::Cluster(RedisCluster::start().unwrap())).await
    }

    async fn on(servers: Servers) -> Engine {
        let connection = connect(&servers).await;
        Engine { connection, servers }
    }

    pub(crate) fn connection(&self) -> Connection {
        self.connection.clone()
    }

    /// A connection of its own, as another node has.
    pub(crate) async fn another(&self) -> Connection {
        connect(&self.servers).await
    }

    pub(crate) fn kill(&mut self) {
        self.single_server().kill_9().unwrap();
    }

    pub(crate) fn restart(&mut self) {
        self.single_server().restart().unwrap();
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

    fn single_server(&mut self) -> &mut Redis {
        match &mut self.servers {
            Servers::Single(server) => server,
            Servers::Cluster(_) => panic!("a test says which server of a cluster it means"),
        }
    }
}

async fn connect(servers: &Servers) -> Connection {
    let url = match servers {
        Servers::Single(server) => server.url(),
        Servers::Cluster(cluster) => cluster.url(),
    };
    Connection::open(&url, "test:").await.unwrap()
}

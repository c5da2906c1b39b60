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
        let url = match &servers {
            Servers::Single(server) => server.url(),
            Servers::Cluster(cluster) => cluster.url(),
        };
        let connection = Connection::open(&url, "test:").await.unwrap();
        Engine { connection, servers }
    }

    pub(crate) fn connection(&self) -> Connection {
        self.connection.clone()
    }

    /// Ends the server that stands alone; a cluster loses its first master.
    pub(crate) fn kill(&mut self) {
        match &mut self.servers {
            Servers::Single(server) => server.kill_9().unwrap(),
            Servers::Cluster(cluster) => drop(cluster.kill_master(0).unwrap()),
        }
    }
}

//! The transport of commands: a socket to one server, or one to each node of a cluster.

use redis::aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig};
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::{Client, Cmd, Pipeline, RedisFuture, RedisResult, Value};

/// How to open a link, and to reopen it.
pub(crate) enum Opener {
    Single(Client, Box<ConnectionManagerConfig>),
    Cluster(ClusterClient),
}

impl Opener {
    pub(crate) async fn open(&self) -> RedisResult<Link> {
        match self {
            Opener::Single(client, config) => {
                let config = (**config).clone();
                let manager = ConnectionManager::new_with_config(client.clone(), config).await;
                manager.map(Link::Single)
            }
            Opener::Cluster(client) => client.get_async_connection().await.map(Link::Cluster),
        }
    }
}

/// A cheap handle: clones share the sockets.
#[derive(Clone)]
pub(crate) enum Link {
    Single(ConnectionManager),
    Cluster(ClusterConnection),
}

impl ConnectionLike for Link {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Link::Single(link) => link.req_packed_command(command),
            Link::Cluster(link) => link.req_packed_command(command),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        commands: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Link::Single(link) => link.req_packed_commands(commands, offset, count),
            Link::Cluster(link) => link.req_packed_commands(commands, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Link::Single(link) => link.get_db(),
            Link::Cluster(link) => link.get_db(),
        }
    }
}

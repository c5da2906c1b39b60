//! One connection that all callers of a process share. Whatever goes wrong on it is
//! `Unavailable`: nobody is let through on a guess.

use super::cluster::Cluster;
use app::{Error, Result};
use redis::aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig};
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::io::tcp::TcpSettings;
use redis::{
    Client, Cmd, FromRedisValue, IntoConnectionInfo, Pipeline, RedisFuture, RedisResult,
    ScriptInvocation, TlsCertificates, Value,
};
use std::sync::Arc;
use std::time::Duration;

const CONNECT_WITHIN: Duration = Duration::from_secs(2);

/// How long one attempt may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

/// How long a caller waits in all, over every attempt: a cluster may be choosing a new master.
const CALL_WITHIN: Duration = Duration::from_secs(3);
const _: () = assert!(ANSWER_WITHIN.as_millis() < CALL_WITHIN.as_millis());

/// Where to connect to.
#[derive(Clone, Debug, Default)]
pub struct Address {
    /// `redis://host:port` or `redis-cluster://host:port,host:port,…`; with `rediss` instead of
    /// `redis` the connection is encrypted.
    pub url: String,
    /// Certificates to trust instead of the system's, as PEM.
    pub trusted: Option<Vec<u8>>,
    /// Every key begins with it, so that several systems can share a server. It has no braces,
    /// because they choose a key's node.
    pub prefix: String,
}

/// A cheap handle: clones share the socket, and their commands travel together.
#[derive(Clone)]
pub struct Connection {
    source: Source,
    prefix: String,
}

#[derive(Clone)]
enum Source {
    Single(ConnectionManager),
    Cluster(Arc<Cluster>),
}

/// What one command travels on.
enum Link {
    Single(ConnectionManager),
    Cluster(ClusterConnection),
}

impl Connection {
    pub async fn open(address: Address) -> std::result::Result<Connection, String> {
        let Address { url, trusted, prefix } = address;
        if prefix.contains(['{', '}']) {
            return Err(format!("key prefix `{prefix}`: leave out the braces"));
        }
        let certificates = TlsCertificates { client_tls: None, root_cert: trusted };
        // Several crates bring cryptography of their own; it is chosen once for the process.
        rustls::crypto::aws_lc_rs::default_provider().install_default().ok();
        let opening = match url.split_once("-cluster://") {
            Some(("redis", nodes)) => open_cluster("redis", nodes, None).await,
            Some(("rediss", nodes)) => open_cluster("rediss", nodes, Some(certificates)).await,
            Some(_) | None => open_single(&url, certificates).await,
        };
        // The URL may hold a password, so it is not part of the text.
        let source = opening.map_err(|error| format!("cannot connect to Redis: {error}"))?;
        Ok(Connection { source, prefix })
    }

    /// What the server's clock says, in milliseconds since 1970.
    pub async fn clock_ms(&self) -> Result<i64> {
        let (seconds, micros): (i64, i64) = self.query(&redis::cmd("TIME")).await?;
        Ok(seconds * 1_000 + micros / 1_000)
    }

    pub(super) fn key(&self, name: impl std::fmt::Display) -> String {
        format!("{}{name}", self.prefix)
    }

    pub(super) async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T> {
        let mut link = self.link();
        self.within(command.query_async(&mut link)).await
    }

    /// Runs a script by its hash; a server that does not know it is sent the text.
    pub(super) async fn run<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Result<T> {
        let mut link = self.link();
        self.within(script.invoke_async(&mut link)).await
    }

    fn link(&self) -> Link {
        match &self.source {
            Source::Single(manager) => Link::Single(manager.clone()),
            Source::Cluster(cluster) => Link::Cluster(cluster.connection()),
        }
    }

    async fn within<T>(&self, call: impl Future<Output = RedisResult<T>>) -> Result<T> {
        let answer = match tokio::time::timeout(CALL_WITHIN, call).await {
            Ok(answer) => answer.map_err(|error| Error::Unavailable(format!("Redis: {error}"))),
            Err(late) => Err(Error::Unavailable(format!("Redis did not answer: {late}"))),
        };
        if let Source::Cluster(cluster) = &self.source {
            cluster.note(answer.is_ok()).await;
        }
        answer
    }
}

/// Off by default in the client; then small commands would wait for each other's answers.
fn tcp_settings() -> TcpSettings {
    TcpSettings::default().set_nodelay(true)
}

async fn open_single(url: &str, certificates: TlsCertificates) -> RedisResult<Source> {
    let address = url.into_connection_info()?.set_tcp_settings(tcp_settings());
    let settings = ConnectionManagerConfig::new()
        .set_connection_timeout(Some(CONNECT_WITHIN))
        .set_response_timeout(Some(ANSWER_WITHIN));
    let client = match url.starts_with("rediss://") {
        true => Client::build_with_tls(address, certificates)?,
        false => Client::open(address)?,
    };
    Ok(Source::Single(ConnectionManager::new_with_config(client, settings).await?))
}

async fn open_cluster(
    scheme: &str,
    nodes: &str,
    certificates: Option<TlsCertificates>,
) -> RedisResult<Source> {
    let nodes = nodes.split(',').map(|node| format!("{scheme}://{node}"));
    let mut client = ClusterClient::builder(nodes)
        .tcp_settings(tcp_settings())
        .connection_timeout(CONNECT_WITHIN)
        .response_timeout(ANSWER_WITHIN)
        .overall_response_timeout(Some(CALL_WITHIN));
    if let Some(certificates) = certificates {
        client = client.certs(certificates);
    }
    Ok(Source::Cluster(Cluster::open(client.build()?).await?))
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

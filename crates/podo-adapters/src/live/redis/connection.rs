//! One connection that all callers of a process share. Every failure on it is `Unavailable`: no fan
//! is admitted on a guess.

use crate::live::redis::link::Opener;
use crate::live::redis::renewal::{Outcome, Renewal};
use podo_app::{Error, Result};
use redis::aio::ConnectionManagerConfig;
use redis::cluster::ClusterClient;
use redis::io::tcp::{TcpSettings, socket2::TcpKeepalive};
use redis::{
    Client, Cmd, FromRedisValue, IntoConnectionInfo, RedisResult, ScriptInvocation, TlsCertificates,
};
use std::sync::Arc;
use std::time::Duration;

const CONNECT_WITHIN: Duration = Duration::from_secs(2);

/// The timeout of one attempt.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

/// The total timeout of a call over all attempts: a cluster may be electing a new master.
const CALL_WITHIN: Duration = Duration::from_secs(3);
const _: () = assert!(ANSWER_WITHIN.as_millis() < CALL_WITHIN.as_millis());

/// TCP keepalive, after which the kernel closes a dead connection.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);
const KEEPALIVE_EVERY: Duration = Duration::from_secs(2);
const OVERDUE: Duration = Duration::from_secs(10);

/// The connection settings.
#[derive(Clone, Debug, Default)]
pub struct Address {
    /// `redis://host:port` or `redis-cluster://:password@host:port,host:port,…`; `rediss` instead
    /// of `redis` uses TLS.
    pub url: String,
    /// Trusted CA certificates instead of the system's, as PEM.
    pub trusted: Option<Vec<u8>>,
    /// The prefix of every key, so that several installations can share a server. It has no braces,
    /// because they select a key's cluster node.
    pub prefix: String,
}

/// A cheap handle: clones share the socket and pipeline their commands.
#[derive(Clone)]
pub struct Connection {
    renewal: Arc<Renewal>,
    prefix: String,
}

impl Connection {
    pub async fn open(address: Address) -> std::result::Result<Connection, String> {
        let Address { url, trusted, prefix } = address;
        if prefix.contains(['{', '}']) {
            return Err(format!("key prefix `{prefix}`: leave out the braces"));
        }
        let certificates = TlsCertificates { client_tls: None, root_cert: trusted };
        // Several crates bring their own crypto provider; the process installs one default.
        rustls::crypto::aws_lc_rs::default_provider().install_default().ok();
        let opener = match url.split_once("-cluster://") {
            Some(("redis", nodes)) => cluster("redis", nodes, None),
            Some(("rediss", nodes)) => cluster("rediss", nodes, Some(certificates)),
            Some(_) | None => single(&url, certificates),
        };
        // The URL may contain a password, so the text omits it.
        let explain = |error| format!("cannot connect to Redis: {error}");
        let renewal = Renewal::open(opener.map_err(explain)?).await.map_err(explain)?;
        Ok(Connection { renewal, prefix })
    }

    /// The server's clock, in milliseconds since 1970.
    pub async fn clock_ms(&self) -> Result<i64> {
        let (seconds, micros): (i64, i64) = self.query(&redis::cmd("TIME")).await?;
        Ok(seconds * 1_000 + micros / 1_000)
    }

    pub(crate) fn key(&self, name: impl std::fmt::Display) -> String {
        format!("{}{name}", self.prefix)
    }

    pub(crate) async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T> {
        let mut link = self.renewal.link();
        self.within(command.query_async(&mut link)).await
    }

    /// Runs a script by its hash, and sends its text to a server that doesn't have it.
    pub(crate) async fn run<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Result<T> {
        let mut link = self.renewal.link();
        self.within(script.invoke_async(&mut link)).await
    }

    async fn within<T>(&self, call: impl Future<Output = RedisResult<T>>) -> Result<T> {
        let (outcome, answer) = match tokio::time::timeout(CALL_WITHIN, call).await {
            Ok(Ok(answer)) => (Outcome::Answered, Ok(answer)),
            Ok(Err(error)) => {
                let outcome = if error.is_timeout() { Outcome::Silent } else { Outcome::Failed };
                (outcome, Err(Error::Unavailable(format!("Redis: {error}"))))
            }
            Err(late) => {
                let why = format!("Redis did not answer: {late}");
                (Outcome::Silent, Err(Error::Unavailable(why)))
            }
        };
        self.renewal.note(outcome).await;
        answer
    }
}

/// TCP_NODELAY, because small commands would otherwise wait for each other's answers, and
/// keepalive, so that the kernel detects a dead server.
fn tcp_settings() -> TcpSettings {
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_IDLE).with_interval(KEEPALIVE_EVERY);
    TcpSettings::default().set_nodelay(true).set_keepalive(keepalive).set_user_timeout(OVERDUE)
}

fn single(url: &str, certificates: TlsCertificates) -> RedisResult<Opener> {
    let address = url.into_connection_info()?.set_tcp_settings(tcp_settings());
    let settings = ConnectionManagerConfig::new()
        .set_connection_timeout(Some(CONNECT_WITHIN))
        .set_response_timeout(Some(ANSWER_WITHIN));
    let client = match url.starts_with("rediss://") {
        true => Client::build_with_tls(address, certificates)?,
        false => Client::open(address)?,
    };
    Ok(Opener::Single(client, Box::new(settings)))
}

/// The first node's user name and password apply to all nodes.
fn each_node(scheme: &str, nodes: &str) -> Vec<String> {
    let first = nodes.split(',').next().unwrap_or_default();
    let who = first.rsplit_once('@').map(|(who, _)| who);
    let url = |node: &str| match who.filter(|_| !node.contains('@')) {
        Some(who) => format!("{scheme}://{who}@{node}"),
        None => format!("{scheme}://{node}"),
    };
    nodes.split(',').map(url).collect()
}

fn cluster(
    scheme: &str,
    nodes: &str,
    certificates: Option<TlsCertificates>,
) -> RedisResult<Opener> {
    let nodes = each_node(scheme, nodes);
    let mut client = ClusterClient::builder(nodes)
        .tcp_settings(tcp_settings())
        .connection_timeout(CONNECT_WITHIN)
        .response_timeout(ANSWER_WITHIN)
        .overall_response_timeout(Some(CALL_WITHIN));
    if let Some(certificates) = certificates {
        client = client.certs(certificates);
    }
    Ok(Opener::Cluster(client.build()?))
}

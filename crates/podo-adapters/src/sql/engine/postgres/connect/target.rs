//! Connection targets: one server, or the one of several that accepts writes.

use crate::sql::engine::postgres::connect::logins::Login;
use crate::sql::engine::postgres::connect::tls;
use crate::sql::engine::postgres::error_text::explain;
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Connect timeout per server: its host may be dead, or its process frozen.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);

/// TCP keepalive: the kernel probes after this much silence and closes the connection after three
/// unanswered probes, or when sent data stays unacknowledged.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);
const KEEPALIVE_EVERY: Duration = Duration::from_secs(2);
const KEEPALIVES_MAX: u32 = 3;
const OVERDUE: Duration = Duration::from_secs(10);

/// The same on the server's side, so a dead node's locks don't stay locked.
const SERVER_KEEPALIVES: &str = "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 \
                                 -c tcp_keepalives_count=3 -c tcp_user_timeout=10000";

pub(crate) type TlsConnection =
    Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// Which servers of a URL qualify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Of several servers, the one that accepts writes.
    Primary,
    Any,
}

pub(crate) struct Target {
    /// One entry per server, so that one that doesn't answer can't block the next.
    servers: Vec<Config>,
    /// The server to try first: the last one that accepted us.
    first: AtomicUsize,
    tls: MakeRustlsConnect,
}

impl Target {
    pub(crate) fn new(url: &str, wanted: Wanted, ca: Option<&Path>) -> Result<Target, String> {
        let (url, proof) = tls::read_mode(url, ca.is_some())?;
        let has_attributes = url.contains("target_session_attrs=");
        let urls = each_host(&url);
        let finds_primary = wanted == Wanted::Primary && urls.len() > 1 && !has_attributes;
        let server = |url: &String| {
            let mut config =
                Config::from_str(url).map_err(|it| format!("the database's URL: {it}"))?;
            tls::insist(&mut config, proof)?;
            if finds_primary {
                config.target_session_attrs(TargetSessionAttrs::ReadWrite);
            }
            config.connect_timeout(CONNECT_WITHIN).tcp_user_timeout(OVERDUE);
            config.keepalives_idle(KEEPALIVE_IDLE).keepalives_interval(KEEPALIVE_EVERY);
            config.keepalives_retries(KEEPALIVES_MAX);
            Ok(config)
        };
        let servers = urls.iter().map(server).collect::<Result<_, String>>()?;
        let tls = tls::connector(proof, ca)?;
        let target = Target { servers, first: AtomicUsize::new(0), tls };
        Ok(target.with_options(SERVER_KEEPALIVES))
    }

    /// Adds session options.
    pub(crate) fn with_options(mut self, more: &str) -> Target {
        for config in &mut self.servers {
            let options = config.get_options().unwrap_or_default();
            let options = format!("{options} {more}");
            config.options(options.trim_start());
        }
        self
    }

    /// Replaces the user and the password.
    pub(crate) fn with_login(mut self, login: &Login) -> Target {
        for config in &mut self.servers {
            config.user(&login.name).password(&login.password);
        }
        self
    }

    /// Sets the application name that the server shows.
    pub(crate) fn named(mut self, name: &str) -> Target {
        for config in &mut self.servers {
            config.application_name(name);
        }
        self
    }

    /// Tries one server after the other, starting with the last one that accepted us.
    pub(crate) async fn connect(&self) -> Result<(Client, TlsConnection), String> {
        let mut why = Vec::new();
        let start = self.first.load(Ordering::Relaxed);
        for at in (0..self.servers.len()).map(|step| (start + step) % self.servers.len()) {
            let connecting = Box::pin(self.servers[at].connect(self.tls.clone()));
            match tokio::time::timeout(CONNECT_WITHIN, connecting).await {
                Ok(Ok(connected)) => {
                    self.first.store(at, Ordering::Relaxed);
                    return Ok(connected);
                }
                Ok(Err(error)) => why.push(explain(&error)),
                Err(_late) => why.push("no answer in time".to_owned()),
            }
            // A caller without time for the next server leaves it to the next caller.
            self.first.store((at + 1) % self.servers.len(), Ordering::Relaxed);
        }
        Err(why.join("; "))
    }

    #[cfg(test)]
    pub(crate) fn servers(&self) -> &[Config] {
        &self.servers
    }
}

/// `postgres://user@a:1,b:2/name` once for each host. Keeps other forms as they are.
fn each_host(url: &str) -> Vec<String> {
    let Some((scheme, rest)) = url.split_once("://") else { return vec![url.to_owned()] };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (place, path) = rest.split_at(end);
    let (who, hosts) = place
        .rsplit_once('@')
        .map_or(("", place), |(_, hosts)| (&place[..place.len() - hosts.len()], hosts));
    hosts.split(',').map(|host| format!("{scheme}://{who}{host}{path}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_of_a_url_is_asked_alone() {
        let one = |url: &str| each_host(url);
        assert_eq!(
            one("postgres://podo:p%40ss@a:1,b:2/podo?sslmode=require"),
            [
                "postgres://podo:p%40ss@a:1/podo?sslmode=require",
                "postgres://podo:p%40ss@b:2/podo?sslmode=require"
            ]
        );
        assert_eq!(one("postgres://a,b"), ["postgres://a", "postgres://b"]);
        assert_eq!(one("host=a,b user=podo"), ["host=a,b user=podo"]);
    }

    #[test]
    fn of_several_servers_the_one_that_takes_writes_is_wanted() {
        let attributes = |url: &str, wanted| {
            let target = Target::new(url, wanted, None).unwrap();
            target.servers().iter().map(Config::get_target_session_attrs).collect::<Vec<_>>()
        };
        let (any, writes) = (TargetSessionAttrs::Any, TargetSessionAttrs::ReadWrite);
        assert_eq!(attributes("postgres://podo@a,b/podo", Wanted::Primary), [writes, writes]);
        assert_eq!(attributes("postgres://podo@a,b/podo", Wanted::Any), [any, any]);
        assert_eq!(attributes("postgres://podo@a/podo", Wanted::Primary), [any]);
        let asked = "postgres://podo@a/podo?target_session_attrs=read-write";
        assert_eq!(attributes(asked, Wanted::Primary), [writes]);
    }

    #[test]
    fn a_dead_host_is_noticed_on_every_connection() {
        let target = Target::new("postgres://podo@a,b/podo", Wanted::Primary, None).unwrap();
        for config in target.servers() {
            assert_eq!(config.get_tcp_user_timeout(), Some(&OVERDUE));
            assert!(config.get_keepalives());
            assert_eq!(config.get_keepalives_idle(), KEEPALIVE_IDLE);
        }
    }
}

//! A real nginx in front of nodes, with the configuration that we ship.

use crate::NotStarted;
use crate::engine::{self, Kind, Process, port};
use rustix::process::Signal;
use std::io::{Error, ErrorKind, Result};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

const KIND: Kind = Kind { name: "nginx", end: Signal::TERM };

/// Debian installs it outside the path of ordinary users.
const PROGRAMS: [&str; 2] = ["/usr/sbin/nginx", "nginx"];

/// An account that every Debian has.
const ACCOUNT: &str = "www-data";

const MISSING: &str = "nginx is not installed; install Debian's package `nginx-light`, \
     or run `cargo xtask test --only packages` as root";

/// The configuration that we ship. Only the listen address differs, and the limits allow all fans
/// of a test to share one address.
const SETTINGS: &str = include_str!("../../../../deploy/nginx/nginx.conf");
const LISTEN: &str = "listen 0.0.0.0:8080";
const LIMITS: [(&str, &str); 5] = [
    ("rate=100r/s", "rate=100000r/s"),
    ("rate=1000r/s", "rate=100000r/s"),
    ("burst=100 ", "burst=100000 "),
    ("burst=1000 ", "burst=100000 "),
    ("limit_conn open 200", "limit_conn open 10000"),
];

/// Servers that share a group of routes.
pub struct Group<'g> {
    /// `queue`, `booking`, `payment`, `catalog` or `admin`.
    pub name: &'g str,
    pub servers: Vec<SocketAddr>,
}

/// A dedicated load balancer on 127.0.0.1. Dropping it ends it.
pub struct Nginx {
    process: Option<Process>,
    port: u16,
    /// Last, because the process must end before its folder is deleted.
    folder: TempDir,
}

impl Nginx {
    /// Starts it as an ordinary user. All five groups must be given.
    pub fn start(groups: &[Group<'_>]) -> std::result::Result<Nginx, NotStarted> {
        let folder = TempDir::with_prefix("podo-nginx-")
            .map_err(|error| NotStarted::new(KIND.name, &error, String::new()))?;
        let mut nginx = Nginx { process: None, port: 0, folder };
        port::on_free_port(|port| {
            let started = port.and_then(|port| {
                nginx.port = port;
                nginx.serve(groups)
            });
            nginx.process = Some(started.map_err(|error| nginx.not_started(&error))?);
            Ok(())
        })?;
        Ok(nginx)
    }

    /// Its URL, for example `http://127.0.0.1:12345`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The file with everything that it wrote.
    pub fn log_path(&self) -> PathBuf {
        engine::log_path(self.folder.path())
    }

    fn serve(&self, groups: &[Group<'_>]) -> Result<Process> {
        let folder = self.folder.path();
        let file = folder.join("nginx.conf");
        std::fs::write(&file, settings(self.port)?)?;
        std::fs::write(folder.join("upstreams.conf"), upstreams(groups))?;
        let is_root = rustix::process::geteuid().is_root();
        if is_root {
            engine::run(Command::new("chown").arg("-R").arg(ACCOUNT).arg(folder))?;
        }
        let mut command = command(is_root)?;
        command
            .args(["-g", "daemon off;", "-e", "stderr"])
            .arg("-p")
            .arg(folder)
            .arg("-c")
            .arg(&file);
        command.current_dir("/");
        let mut process = Process::spawn(KIND, &mut command, folder)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        process.wait_until_ready(|| Ok(std::net::TcpStream::connect(address).is_ok()))?;
        Ok(process)
    }

    fn not_started(&self, error: &Error) -> NotStarted {
        engine::not_started(KIND, self.folder.path(), error)
    }
}

/// Not as root, because its workers then couldn't read our folder.
fn command(is_root: bool) -> Result<Command> {
    let none = || Error::new(ErrorKind::NotFound, MISSING);
    let answers = |program: &&&str| engine::run(Command::new(program).arg("-v")).is_ok();
    let program = PROGRAMS.iter().find(answers).ok_or_else(none)?;
    if !is_root {
        return Ok(Command::new(program));
    }
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={ACCOUNT}"), format!("--regid={ACCOUNT}")]);
    command.args(["--init-groups", "--", program]);
    Ok(command)
}

fn settings(port: u16) -> Result<String> {
    let listen = format!("listen 127.0.0.1:{port}");
    let changes = LIMITS.into_iter().chain([(LISTEN, listen.as_str())]);
    changes.into_iter().try_fold(SETTINGS.to_owned(), |settings, (ours, theirs)| {
        let gone = || Error::other(format!("deploy/nginx/nginx.conf does not say `{ours}`"));
        settings.contains(ours).then(|| settings.replace(ours, theirs)).ok_or_else(gone)
    })
}

/// deploy/nginx/upstreams.conf for these groups.
fn upstreams(groups: &[Group<'_>]) -> String {
    let group = |Group { name, servers }: &Group<'_>| {
        let servers = servers.iter().map(|it| format!("server {it} max_fails=1 fail_timeout=1s; "));
        format!("upstream podo_{name} {{ {}keepalive 64; }}\n", servers.collect::<String>())
    };
    groups.iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::http;

    #[test]
    fn each_path_goes_to_its_servers() {
        let queue = http::tests::serve(&[201]);
        let rest = http::tests::serve(&[202]);
        let rest = ["booking", "payment", "catalog", "admin"]
            .map(|name| Group { name, servers: vec![rest] });
        let queue = Group { name: "queue", servers: vec![queue] };
        let groups: Vec<Group<'_>> = rest.into_iter().chain([queue]).collect();
        let nginx = Nginx::start(&groups).unwrap();
        let address = http::address(&nginx.url()).unwrap();
        assert_eq!(http::get_status(address, "/api/queue/enter").unwrap(), 201);
        assert_eq!(http::get_status(address, "/api/events").unwrap(), 202);
        assert_eq!(http::get_status(address, "/metrics").unwrap(), 404, "not for the world");
    }
}

//! A real nginx in front of nodes, as a load balancer.

use crate::NotStarted;
use crate::engine::{self, Kind, Process, port};
use rustix::process::Signal;
use std::fmt::Write;
use std::io::{Error, ErrorKind, Result};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const KIND: Kind = Kind { name: "nginx", end: Signal::TERM };

/// Debian keeps it outside the path of ordinary users.
const PROGRAMS: [&str; 2] = ["/usr/sbin/nginx", "nginx"];

/// An account that every Debian has.
const ACCOUNT: &str = "www-data";

const MISSING: &str = "nginx is not installed; install Debian's package `nginx-light`, \
     or run `cargo xtask test --only packages` as root";

/// Paths that begin so go to these servers in turn.
pub struct Route<'r> {
    pub path: &'r str,
    pub servers: Vec<SocketAddr>,
}

/// A load balancer that nobody else uses, on 127.0.0.1. It is gone when dropped.
pub struct Nginx {
    process: Option<Process>,
    port: u16,
    /// Last, because the process must end before its folder is deleted.
    folder: TempDir,
}

impl Nginx {
    /// Starts it as an ordinary user; the longest path that fits is taken.
    pub fn start(routes: &[Route<'_>]) -> std::result::Result<Nginx, NotStarted> {
        let folder = TempDir::with_prefix("podo-nginx-")
            .map_err(|error| NotStarted::new(KIND.name, &error, String::new()))?;
        let mut nginx = Nginx { process: None, port: 0, folder };
        port::on_free_port(|port| {
            let started = port.and_then(|port| {
                nginx.port = port;
                nginx.serve(routes)
            });
            nginx.process = Some(started.map_err(|error| nginx.not_started(&error))?);
            Ok(())
        })?;
        Ok(nginx)
    }

    /// Where it listens, for example `http://127.0.0.1:12345`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The file with everything that it wrote.
    pub fn log_path(&self) -> PathBuf {
        engine::log_path(self.folder.path())
    }

    fn serve(&self, routes: &[Route<'_>]) -> Result<Process> {
        let folder = self.folder.path();
        let file = folder.join("nginx.conf");
        std::fs::write(&file, settings(folder, self.port, routes))?;
        let is_root = rustix::process::geteuid().is_root();
        if is_root {
            engine::run(Command::new("chown").arg("-R").arg(ACCOUNT).arg(folder))?;
        }
        let mut command = command(is_root)?;
        command.arg("-e").arg("stderr").arg("-p").arg(folder).arg("-c").arg(&file);
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

/// Not as root: then its workers could not read a folder of ours.
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

fn settings(folder: &Path, port: u16, routes: &[Route<'_>]) -> String {
    let mut upstreams = String::new();
    let mut locations = String::new();
    for (index, Route { path, servers }) in routes.iter().enumerate() {
        let servers: String = servers.iter().map(|it| format!("server {it};")).collect();
        let upstream = format!("upstream u{index} {{ {servers} keepalive 64; }}\n");
        let location = format!("location {path} {{ proxy_pass http://u{index}; }}\n");
        upstreams.write_str(&upstream).expect("writing to a string does not fail");
        locations.write_str(&location).expect("writing to a string does not fail");
    }
    let folders: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|name| format!("{name}_temp_path {}/{name};\n", folder.display()))
        .collect();
    // A server that does not answer is left out for a second. nginx sends a POST to another one
    // only when nothing of it was sent yet: what moves money is repeated by its key, not blindly.
    format!(
        "daemon off;\nworker_processes 1;\npid {pid};\nevents {{ worker_connections 4096; }}\n\
         http {{\naccess_log off;\n{folders}{upstreams}\
         server {{\nlisten 127.0.0.1:{port};\nproxy_http_version 1.1;\n\
         proxy_set_header Connection \"\";\nproxy_set_header Host $host;\n\
         proxy_connect_timeout 2s;\n{locations}}}\n}}\n",
        pid = folder.join("nginx.pid").display(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http;

    #[test]
    fn each_path_goes_to_its_servers() {
        let queue = http::tests::serve(&[201]);
        let rest = http::tests::serve(&[202]);
        let routes = [
            Route { path: "/", servers: vec![rest] },
            Route { path: "/api/queue/", servers: vec![queue] },
        ];
        let nginx = Nginx::start(&routes).unwrap();
        let address = http::address(&nginx.url()).unwrap();
        assert_eq!(http::get_status(address, "/api/queue/enter").unwrap(), 201);
        assert_eq!(http::get_status(address, "/api/events").unwrap(), 202);
    }
}

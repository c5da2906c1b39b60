//! `podo doctor`: checks whether this machine and these settings are ready for a sale. Read-only.

mod clocks;
mod gateways;
mod replication;

use crate::bootstrap::Store;
use crate::config::secret;
use crate::config::{Config, Switch};
use anyhow::Result;
use rustix::process::{Resource, getrlimit};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Each connection is an open file, and each waiting fan has a connection.
const FILES_MIN: u64 = 65_536;

/// Our listen backlog, which the kernel caps at this value.
const BACKLOG_MIN: u64 = 4_096;

/// A larger difference between clocks breaks holds, which last minutes; a smaller one only makes
/// countdowns wrong.
const APART_BAD_MS: i64 = 2_000;
const APART_ADVICE_MS: i64 = 250;

const DISK_MIN: u64 = 1 << 30;

const ANSWER_WITHIN: Duration = Duration::from_secs(2);

enum Verdict {
    Good,
    /// It works, but should change in production.
    Advice(String),
    Bad(String),
}

pub(super) async fn run(config: &Config) -> Result<ExitCode> {
    let mut is_fit = true;
    let mut findings = examine(config);
    findings.push(("store's clock", clock(clocks::of_store(config).await)));
    findings.push(("live clock", clock(clocks::of_live(config).await)));
    findings.push(("replication", replication::examine(config).await));
    findings.extend(gateways::examine(config).await);
    for (what, verdict) in findings {
        let (mark, words) = match verdict {
            Verdict::Good => ("ok", String::new()),
            Verdict::Advice(words) => ("--", words),
            Verdict::Bad(words) => {
                is_fit = false;
                ("!!", words)
            }
        };
        println!("{mark}  {what:<16} {words}");
    }
    Ok(if is_fit { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn examine(config: &Config) -> Vec<(&'static str, Verdict)> {
    let is_public = !config.public_url.is_empty();
    vec![
        ("data folder", data_folder(&config.data)),
        ("disk", disk(&config.data)),
        ("secret.key", secret_key(&config.data)),
        ("store", store(config)),
        ("live engine", engine(&config.live_url)),
        ("bus", engine(&config.bus.bus_url)),
        ("open files", open_files()),
        ("backlog", backlog()),
        ("pictures", advise(config.live_url != "memory:" && config.media.is_local(), PICTURES)),
        ("sandbox", advise(is_public && config.has_sandbox(), SANDBOX)),
        ("limits", advise(config.limits == Switch::Off, LIMITS)),
        ("second factor", advise(is_public && config.people.admin_codes == Switch::Off, CODES)),
        ("proxies", advise(is_public && config.trusted_proxies.is_empty(), PROXIES)),
    ]
}

const SANDBOX: &str =
    "the sandbox is on, so any fan can buy for nothing: configure a payment gateway";
const PICTURES: &str = "media_url names a folder and live_url is shared with other nodes: each of \
                        them needs the same volume there, or set media_url = \"s3://…\"";
const LIMITS: &str = "limits = \"off\" is for benchmarks";
const CODES: &str = "organisers log in with a password alone: set admin_codes = \"on\"";
const PROXIES: &str = "public_url is set and no proxy is trusted: behind a proxy all fans share its \
                       address and its limits";

fn advise(is_due: bool, words: &str) -> Verdict {
    if is_due { Verdict::Advice(words.to_owned()) } else { Verdict::Good }
}

fn data_folder(data: &Path) -> Verdict {
    if !data.exists() {
        return Verdict::Advice(format!("{} will be created at the first start", data.display()));
    }
    match tempfile_in(data) {
        Ok(()) => Verdict::Good,
        Err(error) => Verdict::Bad(format!("cannot write to {}: {error}", data.display())),
    }
}

fn tempfile_in(data: &Path) -> std::io::Result<()> {
    let probe = data.join(format!("doctor-{}", std::process::id()));
    std::fs::write(&probe, b"")?;
    std::fs::remove_file(probe)
}

fn disk(data: &Path) -> Verdict {
    let there = data.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."));
    match rustix::fs::statvfs(there).map(|disk| disk.f_bavail * disk.f_frsize) {
        Ok(free) if free < DISK_MIN => Verdict::Bad(format!(
            "only {} MB are free; the store's disk must not fill up",
            free >> 20
        )),
        Ok(_) => Verdict::Good,
        Err(error) => Verdict::Advice(format!("cannot read the free space: {error}")),
    }
}

fn secret_key(data: &Path) -> Verdict {
    match std::fs::metadata(data.join(secret::FILE)) {
        Ok(file) if file.permissions().mode() & 0o077 != 0 => {
            Verdict::Bad("other users can read it: run chmod 600".to_owned())
        }
        Ok(_) => Verdict::Good,
        Err(_) => Verdict::Advice(
            "will be created at the first start; all nodes need the same one".to_owned(),
        ),
    }
}

fn store(config: &Config) -> Verdict {
    match Store::named_by(&config.store_url, &config.data) {
        Ok(Store::Sqlite(_)) => Verdict::Good,
        Ok(Store::Postgres(url)) => engine(&url),
        Err(error) => Verdict::Bad(error.to_string()),
    }
}

/// Whether every address of this URL accepts a connection.
fn engine(url: &str) -> Verdict {
    let silent: Vec<String> =
        addresses(url).into_iter().filter(|address| !answers(address)).collect();
    match silent.is_empty() {
        true => Verdict::Good,
        false => Verdict::Bad(format!("no connection to {}", silent.join(", "))),
    }
}

/// The addresses of `scheme://user:password@host:port,host:port/rest?options`; `memory:` has none.
fn addresses(url: &str) -> Vec<String> {
    let Some((scheme, rest)) = url.split_once("://") else { return Vec::new() };
    let place = rest.split(['/', '?']).next().unwrap_or_default();
    let hosts = place.rsplit_once('@').map_or(place, |(_, hosts)| hosts);
    let port = match scheme {
        "postgres" | "postgresql" => "5432",
        "kafka" => "9092",
        _ => "6379",
    };
    let whole = |host: &str| {
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        if has_port { host.to_owned() } else { format!("{host}:{port}") }
    };
    hosts.split(',').filter(|host| !host.is_empty()).map(whole).collect()
}

fn answers(address: &str) -> bool {
    let found = address.to_socket_addrs().into_iter().flatten();
    found.into_iter().any(|it| TcpStream::connect_timeout(&it, ANSWER_WITHIN).is_ok())
}

/// Holds, entries and tokens expire by the clock of the node that checks them, so the clocks of all
/// machines must agree.
fn clock(apart_ms: Option<i64>) -> Verdict {
    match apart_ms {
        Some(ms) if ms.abs() >= APART_BAD_MS => Verdict::Bad(format!(
            "{ms} ms ahead of this machine: synchronize all machines with one time source (chrony)"
        )),
        Some(ms) if ms.abs() >= APART_ADVICE_MS => Verdict::Advice(format!(
            "{ms} ms ahead of this machine; below {APART_ADVICE_MS} is better (chrony)"
        )),
        Some(_) | None => Verdict::Good,
    }
}

fn open_files() -> Verdict {
    match getrlimit(Resource::Nofile).current {
        Some(files) if files < FILES_MIN => Verdict::Advice(format!(
            "the limit is {files}; raise it (`ulimit -n`, LimitNOFILE) above the number of \
             fans waiting on this node"
        )),
        Some(_) | None => Verdict::Good,
    }
}

fn backlog() -> Verdict {
    let text = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap_or_default();
    match text.trim().parse::<u64>() {
        Ok(n_waiting) if n_waiting < BACKLOG_MIN => Verdict::Advice(format!(
            "the limit is {n_waiting}; set sysctl net.core.somaxconn={BACKLOG_MIN}"
        )),
        Ok(_) | Err(_) => Verdict::Good,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_in_every_kind_of_url() {
        assert_eq!(addresses("memory:"), Vec::<String>::new());
        assert_eq!(
            addresses("postgres://a:p@db.example/podo?sslmode=require"),
            ["db.example:5432"]
        );
        assert_eq!(addresses("redis-cluster://a:1,b:2"), ["a:1", "b:2"]);
        assert_eq!(addresses("kafka://k1,k2:9093"), ["k1:9092", "k2:9093"]);
    }

    #[test]
    fn clocks_that_differ_are_reported() {
        assert!(matches!(clock(None), Verdict::Good));
        assert!(matches!(clock(Some(-100)), Verdict::Good));
        assert!(matches!(clock(Some(-300)), Verdict::Advice(_)));
        assert!(matches!(clock(Some(5_000)), Verdict::Bad(_)));
    }

    #[test]
    fn an_engine_that_does_not_answer_is_bad() {
        assert!(matches!(engine("redis://127.0.0.1:1"), Verdict::Bad(_)));
        assert!(matches!(engine("memory:"), Verdict::Good));
    }
}

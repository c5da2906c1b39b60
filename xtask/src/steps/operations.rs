//! `cargo xtask test --only operations`: runs the commands of docs/operations.md as a reader would
//! paste them, then buys tickets while each node in turn is killed.
//!
//! Two things differ from a reader's machine: the ports are free ones, and `cargo build --release`
//! does nothing, because the debug build of the test run stands in for it.

use crate::podo;
use crate::shell::{copy_files, root};
use crate::steps::clients;
use crate::steps::clients::Clients;
use anyhow::{Context, bail, ensure};
use podo_testbed::network::http;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const PAGE: &str = "docs/operations.md";
const SECTION: &str = "## Three nodes on your own machine";
const PORTS: [u16; 4] = [8080, 8081, 8082, 8083];
const NGINX_FOLDER: &str = "/tmp/podo-nginx";
const PASSWORD: &str = "sour green grapes";
const EMAIL: &str = "you@example.com";
const PATIENCE: Duration = Duration::from_secs(60);

/// nginx does not use a server for so long after it refused a connection (`fail_timeout`), and shows
/// nowhere when it does again.
const LEFT_OUT: Duration = Duration::from_millis(1_100);

pub(crate) fn check() -> anyhow::Result<()> {
    let commands = commands_of(&fs::read_to_string(root().join(PAGE))?)?;
    let clients = clients::build()?;
    let mut shop = Shop::prepare()?;
    let log = shop.folder.join("log");
    run(&commands, &clients, &mut shop).with_context(|| format!("see {}", log.display()))
}

fn run(commands: &[String], clients: &Clients, shop: &mut Shop) -> anyhow::Result<()> {
    for command in commands {
        shop.paste(command)?;
    }
    let settings = [("PODO_URL", shop.url()), ("PODO_EMAIL", EMAIL.to_owned())];
    let settings = settings.into_iter().chain([("PODO_PASSWORD", PASSWORD.to_owned())]);
    let settings: Vec<(&str, String)> = settings.collect();
    shop.wait_until_ready()?;
    clients.buy_with_typescript(&settings)?;
    let nodes = commands.iter().filter(|command| command.starts_with("podo serve"));
    for node in nodes {
        shop.kill(node)?;
        clients.buy_with_python(&settings)?;
        shop.paste(node)?;
        shop.wait_until_ready()?;
        std::thread::sleep(LEFT_OUT);
    }
    Ok(())
}

/// The lines of the section's `sh` blocks.
fn commands_of(page: &str) -> anyhow::Result<Vec<String>> {
    let (_, section) = page.split_once(SECTION).with_context(|| format!("{PAGE}: no {SECTION}"))?;
    let section = section.split("\n## ").next().unwrap_or_default();
    let blocks = section.split("```sh\n").skip(1).filter_map(|text| text.split_once("```"));
    let lines = blocks.flat_map(|(block, _)| block.lines());
    Ok(lines.filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// A copy of what the commands read, and the processes that they started.
struct Shop {
    folder: PathBuf,
    /// The page's port, and the free one that replaces it.
    ports: BTreeMap<u16, u16>,
    /// The `export` lines so far: a reader repeats them in every terminal.
    exports: Vec<String>,
    running: Vec<(String, Child)>,
}

impl Shop {
    fn prepare() -> anyhow::Result<Shop> {
        let folder = root().join("target/operations");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let release = folder.join("target/release");
        fs::create_dir_all(&release)?;
        symlink(podo::build()?, release.join("podo"))?;
        write_cargo(&folder.join("bin"))?;
        let ports = free_ports()?;
        let shop = Shop { folder, ports, exports: Vec::new(), running: Vec::new() };
        let nginx = shop.folder.join("deploy/nginx");
        copy_files(&root().join("deploy/nginx"), &nginx, str::to_owned)?;
        for name in ["nginx.conf", "upstreams.conf"] {
            let text = fs::read_to_string(nginx.join(name))?;
            fs::write(nginx.join(name), shop.with_free_ports(&text))?;
        }
        Ok(shop)
    }

    fn with_free_ports(&self, text: &str) -> String {
        self.ports.iter().fold(text.to_owned(), |text, (theirs, ours)| {
            text.replace(&format!(":{theirs}"), &format!(":{ours}"))
        })
    }

    fn url(&self) -> String {
        format!("http://{}", self.address(PORTS[0]))
    }

    fn address(&self, port: u16) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.ports[&port]))
    }

    fn paste(&mut self, line: &str) -> anyhow::Result<()> {
        println!("$ {line}");
        let command = self.with_free_ports(line);
        let command = command.replace(NGINX_FOLDER, &self.folder.join("nginx").to_string_lossy());
        if line.starts_with("export ") {
            self.exports.push(command);
            return Ok(());
        }
        let stays = ["podo serve", "nginx ", "cargo xtask engines"];
        if !stays.iter().any(|start| line.starts_with(start)) {
            return self.run(&command);
        }
        let log = fs::File::options().create(true).append(true).open(self.folder.join("log"))?;
        let mut child = self.shell(&format!("exec {command}")).stderr(log).spawn()?;
        if line.starts_with("cargo xtask engines") {
            self.exports.extend(read_exports(&mut child)?);
        }
        self.running.push((line.to_owned(), child));
        Ok(())
    }

    /// Runs a command that ends; one that asks for a password gets it.
    fn run(&self, command: &str) -> anyhow::Result<()> {
        let mut child = self.shell(command).spawn()?;
        let mut input = child.stdin.take().context("no stdin")?;
        // A command that reads nothing has closed its end.
        input.write_all(format!("{PASSWORD}\n").as_bytes()).ok();
        drop(input);
        let status = child.wait()?;
        ensure!(status.success(), "`{command}` failed ({status})");
        Ok(())
    }

    fn shell(&self, command: &str) -> Command {
        let path = format!("PATH='{}':\"$PATH\":/usr/sbin", self.folder.join("bin").display());
        let script = format!("set -e\n{path}\n{}\n{command}", self.exports.join("\n"));
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).current_dir(&self.folder);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        shell
    }

    fn wait_until_ready(&self) -> anyhow::Result<()> {
        for port in PORTS.iter().rev() {
            http::wait_for_ok(self.address(*port), "/readyz", PATIENCE, || true)
                .with_context(|| format!("the server of port {port}"))?;
        }
        Ok(())
    }

    /// Kills a node without a warning.
    fn kill(&mut self, line: &str) -> anyhow::Result<()> {
        println!("kill -9: {line}");
        let at = self.running.iter().position(|(running, _)| running == line);
        let (_, mut child) = self.running.remove(at.context("this node does not run")?);
        child.kill()?;
        child.wait()?;
        Ok(())
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        for (_, child) in self.running.iter_mut().rev() {
            end(child);
        }
    }
}

/// By SIGTERM, so that nginx ends its workers; the engines end when their stdin does.
fn end(child: &mut Child) {
    drop(child.stdin.take());
    let ended = Command::new("kill").arg(child.id().to_string()).status();
    if ended.is_ok() {
        child.wait().ok();
    }
}

/// A `cargo` in front of the real one: `cargo xtask` is this program, and there is nothing to build.
fn write_cargo(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    let xtask = std::env::current_exe()?;
    let script = format!(
        "#!/bin/sh\ncase $1 in\n  xtask) shift; exec '{}' \"$@\" ;;\n  build) ;;\n  *) exit 2 ;;\nesac\n",
        xtask.display()
    );
    let cargo = folder.join("cargo");
    fs::write(&cargo, script)?;
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// Reads up to the empty line behind the `export` lines.
fn read_exports(engines: &mut Child) -> anyhow::Result<Vec<String>> {
    let output = engines.stdout.take().context("no stdout")?;
    let mut exports = Vec::new();
    for line in BufReader::new(output).lines() {
        let line = line?;
        match line.starts_with("export ") {
            true => exports.push(line),
            false => return Ok(exports),
        }
    }
    bail!("the engines did not start");
}

fn free_ports() -> anyhow::Result<BTreeMap<u16, u16>> {
    let listeners = PORTS.map(|port| (port, TcpListener::bind((Ipv4Addr::LOCALHOST, 0))));
    let free = listeners.into_iter().map(|(port, free)| Ok((port, free?.local_addr()?.port())));
    free.collect()
}

#[test]
fn the_page_has_commands_for_engines_nodes_and_a_proxy() {
    let page = fs::read_to_string(root().join(PAGE)).unwrap();
    let commands = commands_of(&page).unwrap();
    let count = |start: &str| commands.iter().filter(|it| it.starts_with(start)).count();
    assert_eq!((count("cargo xtask engines up"), count("podo serve"), count("nginx")), (1, 3, 1));
    assert!(commands.iter().all(|command| !command.ends_with('\\')), "one line each");
}

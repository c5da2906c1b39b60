//! `cargo xtask test --only clients`: clients that other people's generators make from
//! docs/openapi.json buy a ticket. A document that is not true does not compile or does not buy.

use crate::podo::Server;
use crate::shell::{command, copy_files, python_tool, root, run};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "tests/clients";
const DOCUMENT: &str = "docs/openapi.json";
const PYTHON_GENERATOR: &str = "0.29.1";

pub(crate) fn check() -> anyhow::Result<()> {
    let clients = build()?;
    let server = Server::start("clients-server")?;
    clients.buy_with_typescript(&server.settings())?;
    clients.buy_with_python(&server.settings())
}

/// Both clients, generated and ready to run.
pub(crate) struct Clients {
    folder: PathBuf,
    python: PathBuf,
}

pub(crate) fn build() -> anyhow::Result<Clients> {
    let folder = root().join("target/clients");
    copy_files(&root().join(SOURCE), &folder, str::to_owned)?;
    build_typescript(&folder)?;
    let python = build_python(&folder)?;
    Ok(Clients { folder, python })
}

fn build_typescript(folder: &Path) -> anyhow::Result<()> {
    run(command("npm", &["ci", "--no-audit", "--no-fund"]).current_dir(folder))?;
    let mut generate = command("node_modules/.bin/openapi-typescript", &[]);
    run(generate.current_dir(folder).arg(root().join(DOCUMENT)).args(["--output", "podo.d.ts"]))?;
    run(command("node_modules/.bin/tsc", &[]).current_dir(folder))
}

/// Returns the interpreter that has what the client needs.
fn build_python(folder: &Path) -> anyhow::Result<PathBuf> {
    let program = "openapi-python-client";
    let generator = python_tool(program, PYTHON_GENERATOR, program)?;
    let python = generator.with_file_name("python3");
    let mut generate = Command::new(generator);
    generate.current_dir(folder).args(["generate", "--overwrite", "--meta", "none"]);
    generate.args(["--output-path", "podo_client", "--path"]).arg(root().join(DOCUMENT));
    run(&mut generate)?;
    Ok(python)
}

impl Clients {
    /// Makes an event as the organiser and buys a ticket as a fan.
    pub(crate) fn buy_with_typescript<V: AsRef<OsStr>>(
        &self,
        settings: &[(&str, V)],
    ) -> anyhow::Result<()> {
        self.run_with(Command::new("node").arg("built/purchase.js"), settings)
    }

    /// Buys a ticket for the event that the TypeScript client made.
    pub(crate) fn buy_with_python<V: AsRef<OsStr>>(
        &self,
        settings: &[(&str, V)],
    ) -> anyhow::Result<()> {
        self.run_with(Command::new(&self.python).arg("purchase.py"), settings)
    }

    fn run_with<V: AsRef<OsStr>>(
        &self,
        client: &mut Command,
        settings: &[(&str, V)],
    ) -> anyhow::Result<()> {
        let settings = settings.iter().map(|(name, value)| (name, value));
        run(client.current_dir(&self.folder).envs(settings))
    }
}

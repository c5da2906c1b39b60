//! `cargo xtask test --only clients`: clients that other people's generators make from
//! docs/openapi.json buy a ticket. A document that is not true does not compile or does not buy.

use crate::podo::Server;
use crate::shell::{command, copy_files, python_tool, root, run};
use std::path::Path;
use std::process::Command;

const SOURCE: &str = "tests/clients";
const DOCUMENT: &str = "docs/openapi.json";
const PYTHON_GENERATOR: &str = "0.29.1";

pub(crate) fn check() -> anyhow::Result<()> {
    let folder = root().join("target/clients");
    copy_files(&root().join(SOURCE), &folder, str::to_owned)?;
    let server = Server::start("clients-server")?;
    buy_with_typescript(&folder, &server)?;
    buy_with_python(&folder, &server)
}

fn buy_with_typescript(folder: &Path, server: &Server) -> anyhow::Result<()> {
    run(command("npm", &["ci", "--no-audit", "--no-fund"]).current_dir(folder))?;
    let mut generate = command("node_modules/.bin/openapi-typescript", &[]);
    run(generate.current_dir(folder).arg(root().join(DOCUMENT)).args(["--output", "podo.d.ts"]))?;
    run(command("node_modules/.bin/tsc", &[]).current_dir(folder))?;
    run(command("node", &["built/purchase.js"]).current_dir(folder).envs(server.settings()))
}

fn buy_with_python(folder: &Path, server: &Server) -> anyhow::Result<()> {
    let program = "openapi-python-client";
    let generator = python_tool(program, PYTHON_GENERATOR, program)?;
    let python = generator.with_file_name("python3");
    let mut generate = Command::new(generator);
    generate.current_dir(folder).args(["generate", "--overwrite", "--meta", "none"]);
    generate.args(["--output-path", "podo_client", "--path"]).arg(root().join(DOCUMENT));
    run(&mut generate)?;
    let mut buy = Command::new(python);
    run(buy.current_dir(folder).arg("purchase.py").envs(server.settings()))
}

//! `cargo xtask test --only clients`: clients generated from docs/openapi.json buy a ticket
//! (examples/typescript, examples/python). If the document is wrong, they don't compile or don't buy.

use crate::podo::Server;
use crate::shell::{command, copy_files, python_tool, root, run};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "examples";
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
    typescript: PathBuf,
    python: PathBuf,
    /// The interpreter that has what the Python client needs.
    interpreter: PathBuf,
}

pub(crate) fn build() -> anyhow::Result<Clients> {
    let copy = |name: &str| {
        let folder = root().join("target/clients").join(name);
        copy_files(&root().join(SOURCE).join(name), &folder, str::to_owned)?;
        anyhow::Ok(folder)
    };
    let (typescript, python) = (copy("typescript")?, copy("python")?);
    build_typescript(&typescript)?;
    let interpreter = build_python(&python)?;
    Ok(Clients { typescript, python, interpreter })
}

fn build_typescript(folder: &Path) -> anyhow::Result<()> {
    run(command("npm", &["ci", "--no-audit", "--no-fund"]).current_dir(folder))?;
    let mut generate = command("node_modules/.bin/openapi-typescript", &[]);
    run(generate.current_dir(folder).arg(root().join(DOCUMENT)).args(["--output", "podo.d.ts"]))?;
    run(command("node_modules/.bin/tsc", &[]).current_dir(folder))
}

fn build_python(folder: &Path) -> anyhow::Result<PathBuf> {
    let program = "openapi-python-client";
    let generator = python_tool(program, PYTHON_GENERATOR, program)?;
    let interpreter = generator.with_file_name("python3");
    let mut generate = Command::new(generator);
    generate.current_dir(folder).args(["generate", "--overwrite", "--meta", "none"]);
    generate.args(["--output-path", "podo_client", "--path"]).arg(root().join(DOCUMENT));
    run(&mut generate)?;
    Ok(interpreter)
}

impl Clients {
    /// Puts a date on sale as the organiser and buys tickets for it as a fan.
    pub(crate) fn buy_with_typescript<V: AsRef<OsStr>>(
        &self,
        settings: &[(&str, V)],
    ) -> anyhow::Result<()> {
        for program in ["built/organise.js", "built/purchase.js"] {
            let mut node = Command::new("node");
            run_with(node.arg(program).current_dir(&self.typescript), settings)?;
        }
        Ok(())
    }

    /// Buys tickets for the date that the TypeScript client put on sale.
    pub(crate) fn buy_with_python<V: AsRef<OsStr>>(
        &self,
        settings: &[(&str, V)],
    ) -> anyhow::Result<()> {
        let mut python = Command::new(&self.interpreter);
        run_with(python.arg("purchase.py").current_dir(&self.python), settings)
    }
}

fn run_with<V: AsRef<OsStr>>(client: &mut Command, settings: &[(&str, V)]) -> anyhow::Result<()> {
    run(client.envs(settings.iter().map(|(name, value)| (name, value))))
}

#[test]
fn the_python_example_names_the_generator_that_is_tested() {
    let page = std::fs::read_to_string(root().join("examples/python/README.md")).unwrap();
    assert!(page.contains(&format!("openapi-python-client=={PYTHON_GENERATOR}\n")), "{page}");
}

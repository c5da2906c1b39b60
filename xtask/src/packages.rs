//! What the other steps need from the machine, and how it gets there.

use crate::shell::{command, read, run, succeeds};
use anyhow::bail;

/// Something that a step cannot do without.
struct Need {
    look_for: LookFor,
    /// The Debian package that has it.
    package: &'static str,
    why: &'static str,
}

#[cfg_attr(not(test), expect(dead_code, reason = "engines outside PATH are found by their file"))]
enum LookFor {
    Command(&'static str),
    File(&'static str),
}

/// The only list: an engine that tests start is one more line here.
const NEEDS: &[Need] = &[Need {
    look_for: LookFor::Command("cc"),
    package: "gcc",
    why: "compiles the embedded database and the cryptography",
}];

/// Installs what is missing where that is allowed, otherwise says what is missing.
pub(crate) fn provide() -> anyhow::Result<()> {
    let missing: Vec<&Need> = NEEDS.iter().filter(|need| !is_there(&need.look_for)).collect();
    if missing.is_empty() {
        println!("{} of {} packages are there", NEEDS.len(), NEEDS.len());
    } else {
        install(&missing)?;
    }
    provide_nextest()
}

fn is_there(look_for: &LookFor) -> bool {
    match look_for {
        LookFor::Command(name) => succeeds(&mut command("sh", &["-c", "command -v \"$0\"", name])),
        LookFor::File(path) => std::path::Path::new(path).exists(),
    }
}

fn install(missing: &[&Need]) -> anyhow::Result<()> {
    let may_install = is_there(&LookFor::Command("apt-get")) && is_root();
    if !may_install {
        bail!("{}", describe_missing(missing));
    }
    let mut packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    packages.dedup();
    let mut install = command("apt-get", &["install", "-y", "--no-install-recommends"]);
    install.args(packages).env("DEBIAN_FRONTEND", "noninteractive");
    run(&mut command("apt-get", &["update"]))?;
    run(&mut install)
}

fn describe_missing(missing: &[&Need]) -> String {
    let lines = missing.iter().map(|need| format!("\n  {}: {}", need.package, need.why));
    format!(
        "these packages are missing; install them, or run as root on Debian:{}",
        lines.collect::<String>()
    )
}

fn is_root() -> bool {
    read(&mut command("id", &["-u"])).is_ok_and(|id| id.trim() == "0")
}

fn provide_nextest() -> anyhow::Result<()> {
    if succeeds(&mut command("cargo", &["nextest", "--version"])) {
        return Ok(());
    }
    run(&mut command("cargo", &["install", "cargo-nextest", "--locked"]))
}

#[test]
fn commands_and_files_are_looked_for() {
    assert!(is_there(&LookFor::Command("sh")));
    assert!(!is_there(&LookFor::Command("no-such-command")));
    assert!(is_there(&LookFor::File("/")));
    assert!(!is_there(&LookFor::File("/no/such/file")));
}

#[test]
fn what_is_missing_is_said_with_its_reason() {
    let need = Need { look_for: LookFor::File("/x"), package: "redis-server", why: "runs" };
    let text = describe_missing(&[&need]);
    assert!(text.ends_with("\n  redis-server: runs"), "{text}");
}

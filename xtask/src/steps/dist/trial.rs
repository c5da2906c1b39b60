//! `cargo xtask test --only dist`: makes the packages, unpacks them, and runs the program from them.

use super::{CHECKSUMS, DOCS, Profile, Release, UNIT, debian, guards};
use crate::podo;
use crate::shell::{built, command, read, root, run, succeeds};
use anyhow::{Context, ensure};
use podo_testbed::{Launch, TempDir};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// A build without optimisation on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn check() -> anyhow::Result<()> {
    check_guards()?;
    let release = Release::read(podo::build()?, Profile::Dev)?;
    let scratch = TempDir::with_prefix("podo-dist-")?;
    let folder = scratch.path().join("dist");
    release.pack(&folder)?;
    check_sums(&release, &folder)?;
    check_tarball(&release, &folder)?;
    check_again(&release, &folder, &scratch.path().join("again"))?;
    let (unpacked, control) = (scratch.path().join("root"), scratch.path().join("control"));
    let package = folder.join(debian::name(&release)?);
    run(command("dpkg-deb", &["--extract"]).arg(&package).arg(&unpacked))?;
    run(command("dpkg-deb", &["--control"]).arg(&package).arg(&control))?;
    check_control(&control, &unpacked)?;
    check_units(&unpacked)?;
    serve_from(&unpacked, &release.version)
}

/// The store as it is shipped, without optimisation: a release build would take minutes. `cargo xtask
/// dist` looks into the release binary itself.
fn check_guards() -> anyhow::Result<()> {
    let build = ["build", "--quiet", "--package", "podo-adapters", "--lib"];
    run(command("cargo", &build).args(["--features", "kafka-tls"]))?;
    guards::check(&built("debug").join("libpodo_adapters.rlib"))
}

fn check_sums(release: &Release, folder: &Path) -> anyhow::Result<()> {
    run(command("sha256sum", &["--check", "--strict", CHECKSUMS]).current_dir(folder))?;
    let sums = fs::read_to_string(folder.join(CHECKSUMS))?;
    let summed: BTreeSet<&str> = sums.lines().filter_map(|line| line.get(66..)).collect();
    let names = [release.tarball_name(), debian::name(release)?, release.sbom_name()];
    ensure!(summed == names.iter().map(String::as_str).collect(), "{CHECKSUMS} lists {summed:?}");
    Ok(())
}

fn check_tarball(release: &Release, folder: &Path) -> anyhow::Result<()> {
    let list = command("tar", &["--list", "--verbose", "--gzip", "--file"])
        .arg(folder.join(release.tarball_name()))
        .output()?;
    let list = String::from_utf8(list.stdout)?;
    let entry = |line: &str| {
        let mut words = line.split_whitespace();
        let (mode, owner) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        format!("{mode} {owner} {}", words.last().unwrap_or_default())
    };
    let found: BTreeSet<String> = list.lines().map(entry).collect();
    let files = ["podo.manual.toml", "podo.service", "podo.toml"].into_iter().chain(DOCS);
    let name = release.name();
    let mut expected: BTreeSet<String> =
        files.map(|file| format!("-rw-r--r-- 0/0 {name}/{file}")).collect();
    expected.insert(format!("drwxr-xr-x 0/0 {name}/"));
    expected.insert(format!("-rwxr-xr-x 0/0 {name}/podo"));
    ensure!(found == expected, "the tarball has {found:#?}, expected {expected:#?}");
    Ok(())
}

/// The same commit and binary give the same bytes.
fn check_again(release: &Release, first: &Path, again: &Path) -> anyhow::Result<()> {
    release.pack(again)?;
    let (first, again) = (first.join(CHECKSUMS), again.join(CHECKSUMS));
    let (first, again) = (fs::read_to_string(first)?, fs::read_to_string(again)?);
    ensure!(first == again, "packed twice, the packages differ:\n{first}\n{again}");
    Ok(())
}

fn check_control(control: &Path, unpacked: &Path) -> anyhow::Result<()> {
    for script in ["postinst", "prerm", "postrm"] {
        run(command("sh", &["-n"]).arg(control.join(script)))?;
        run(command("test", &["-x"]).arg(control.join(script)))?;
    }
    let postinst = fs::read_to_string(control.join("postinst"))?;
    ensure!(postinst.contains("adduser --system"), "postinst creates no account");
    let conffiles = fs::read_to_string(control.join("conffiles"))?;
    for path in conffiles.lines() {
        ensure!(unpacked.join(&path[1..]).is_file(), "{path} is not in the package");
    }
    let fields = fs::read_to_string(control.join("control"))?;
    ensure!(fields.contains("\nDepends: adduser, ca-certificates, libc6 (>= "), "{fields}");
    ensure!(!fields.contains('@') || !fields.contains("@V"), "{fields}");
    Ok(())
}

/// Both units, with the path of the unpacked program, because systemd looks whether it exists.
fn check_units(unpacked: &Path) -> anyhow::Result<()> {
    if !succeeds(&mut command("systemd-analyze", &["--version"])) {
        println!("NOT CHECKED: the units. There is no systemd-analyze on this machine.");
        return Ok(());
    }
    let packaged = unpacked.join("usr/lib/systemd/system/podo.service");
    let program = unpacked.join("usr/bin/podo");
    for (number, unit) in [root().join(UNIT), packaged].iter().enumerate() {
        let text = fs::read_to_string(unit).with_context(|| unit.display().to_string())?;
        let start = text.lines().find_map(|line| line.strip_prefix("ExecStart="));
        let original = start.and_then(|start| start.split(' ').next()).context("no ExecStart")?;
        let text = text.replace(original, &program.display().to_string());
        let copy = unpacked.join(format!("podo-{number}.service"));
        fs::write(&copy, text)?;
        run(command("systemd-analyze", &["verify", "--man=no"]).arg(copy))?;
    }
    Ok(())
}

fn serve_from(unpacked: &Path, version: &str) -> anyhow::Result<()> {
    let (program, settings) = (unpacked.join("usr/bin/podo"), unpacked.join("etc/podo/podo.toml"));
    let said = read(command("env", &["-i"]).arg(&program).arg("--version"))?;
    ensure!(said.trim() == format!("podo {version}"), "the program is {said}");
    let data = TempDir::with_prefix("podo-dist-data-")?;
    let launch = Launch::new(program).data(data.path()).patience(PATIENCE);
    let mut podo = launch.arg("--config").arg(settings).start()?;
    println!("the packaged program is ready at {}", podo.url());
    ensure!(podo.terminate()?.success(), "the packaged program did not end well");
    Ok(())
}

//! The Debian package, made by `dpkg-deb` from a laid-out folder.

use super::{DOCS, MANUAL, Profile, Release, SETTINGS, Stage, UNIT};
use crate::shell::{command, read, root, run};
use anyhow::{Context, bail, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];
const DOCUMENTS: &str = "usr/share/doc/podo";

/// Which Debian package brings a library that the program is linked to. `libc6` gets the version that
/// the program's symbols ask for.
const LIBRARIES: [(&str, &str); 9] = [
    ("ld-linux-aarch64.so.1", "libc6"),
    ("ld-linux-x86-64.so.2", "libc6"),
    ("libc.so.6", "libc6"),
    ("libcrypto.so.3", "libssl3"),
    ("libgcc_s.so.1", "libgcc-s1"),
    ("libm.so.6", "libc6"),
    ("libssl.so.3", "libssl3"),
    ("libstdc++.so.6", "libstdc++6"),
    ("libz.so.1", "zlib1g"),
];

/// What it needs besides libraries: the authorities it trusts, and what postinst calls.
const ALWAYS: [&str; 2] = ["adduser", "ca-certificates"];

pub(super) fn architecture() -> anyhow::Result<String> {
    Ok(read(&mut command("dpkg", &["--print-architecture"]))?.trim().to_owned())
}

pub(super) fn name(release: &Release) -> anyhow::Result<String> {
    Ok(format!("podo_{}_{}.deb", release.version, architecture()?))
}

pub(super) fn write(release: &Release, folder: &Path) -> anyhow::Result<()> {
    let stage = Stage::empty()?;
    stage.program(&release.binary, "usr/bin/podo")?;
    stage.text(&unit()?, "usr/lib/systemd/system/podo.service")?;
    stage.file(SETTINGS, "etc/podo/podo.toml")?;
    stage.file(MANUAL, &format!("{DOCUMENTS}/podo.manual.toml"))?;
    stage.file("deploy/debian/copyright", &format!("{DOCUMENTS}/copyright"))?;
    for doc in DOCS {
        stage.file(doc, &format!("{DOCUMENTS}/{doc}"))?;
    }
    for script in SCRIPTS {
        let from = root().join("deploy/debian").join(script);
        stage.program(&from, &format!("DEBIAN/{script}"))?;
    }
    stage.file("deploy/debian/conffiles", "DEBIAN/conffiles")?;
    stage.text(&control(release)?, "DEBIAN/control")?;
    run(command("chmod", &["-R", "u=rwX,go=rX"]).arg(stage.path()))?;
    let compression: &[&str] = match release.profile {
        Profile::Dist => &["-Zxz"],
        Profile::Dev => &["-Zgzip", "-z1"],
    };
    let mut build = command("dpkg-deb", &["--root-owner-group"]);
    build.args(compression).arg("--build").arg(stage.path()).arg(folder.join(name(release)?));
    run(build.env("SOURCE_DATE_EPOCH", &release.epoch))
}

/// The shipped unit, for a program in /usr/bin and an account that the package creates: with it,
/// `sudo -u podo podo verify` may read the data too.
fn unit() -> anyhow::Result<String> {
    let mut unit = fs::read_to_string(root().join(UNIT)).context(UNIT)?;
    let edits = [("/usr/local/bin/podo", "/usr/bin/podo"), ("DynamicUser=yes", "User=podo")];
    for (from, to) in edits {
        ensure!(unit.contains(from), "{UNIT} has no `{from}`");
        unit = unit.replace(from, to);
    }
    Ok(unit)
}

fn control(release: &Release) -> anyhow::Result<String> {
    let template = "deploy/debian/control.in";
    let text = fs::read_to_string(root().join(template)).context(template)?;
    let n_bytes = fs::metadata(&release.binary)?.len();
    let mut objdump = command("objdump", &["--private-headers", "--dynamic-syms"]);
    let headers = read(objdump.arg(&release.binary))?;
    let edits = [
        ("@VERSION@", release.version.clone()),
        ("@ARCHITECTURE@", architecture()?),
        ("@SIZE@", n_bytes.div_ceil(1024).to_string()),
        ("@DEPENDS@", depends(&headers)?),
    ];
    Ok(edits.iter().fold(text, |text, (mark, value)| text.replace(mark, value)))
}

/// The packages that a program depends on, from what `objdump -pT` says about it.
fn depends(headers: &str) -> anyhow::Result<String> {
    let mut packages: BTreeSet<String> = ALWAYS.iter().map(|name| (*name).to_owned()).collect();
    let needed = headers.lines().filter_map(|line| line.trim().strip_prefix("NEEDED"));
    for library in needed.map(str::trim) {
        let known = LIBRARIES.iter().find(|(name, _)| *name == library);
        let Some((_, package)) = known else { bail!("which package has {library}?") };
        packages.insert(match *package {
            "libc6" => format!("libc6 (>= {})", glibc_of(headers)?),
            other => other.to_owned(),
        });
    }
    Ok(packages.into_iter().collect::<Vec<_>>().join(", "))
}

/// The newest version among the symbols of glibc.
fn glibc_of(headers: &str) -> anyhow::Result<String> {
    let versions = headers.split("GLIBC_").skip(1).filter_map(|rest| {
        let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(rest.len());
        rest[..end].split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u32>>>()
    });
    let newest = versions.max().context("the program asks for no version of glibc")?;
    Ok(newest.iter().map(u32::to_string).collect::<Vec<_>>().join("."))
}

#[test]
fn dependencies_are_read_from_the_program() {
    let headers = "  NEEDED               libssl.so.3\n  NEEDED               libc.so.6\n\
                   Version References:\n    0x06 0x00 12 GLIBC_2.9\n    0x06 0x00 11 GLIBC_2.34\n\
                   0000      DF *UND*  0000 (GLIBC_2.2.5) free\n";
    assert_eq!(depends(headers).unwrap(), "adduser, ca-certificates, libc6 (>= 2.34), libssl3");
    assert!(depends("  NEEDED               libfoo.so.1\n").is_err());
}

#[test]
fn the_unit_of_the_package_runs_its_program_as_its_account() {
    let unit = unit().unwrap();
    assert!(unit.contains("ExecStart=/usr/bin/podo serve "), "{unit}");
    assert!(unit.contains("\nUser=podo\n") && !unit.contains("DynamicUser"), "{unit}");
}

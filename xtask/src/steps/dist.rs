//! `cargo xtask dist`: a tarball, a Debian package, a bill of materials and their checksums. The same
//! commit and binary give the same bytes.

mod debian;
mod guards;
mod sbom;
mod stage;
mod trial;

use crate::podo;
use crate::shell::{built, command, read, root, run as run_command};
use anyhow::{Context, bail};
use stage::Stage;
use std::fs;
use std::path::{Path, PathBuf};
pub(crate) use trial::check;

const FOLDER: &str = "target/packages";
const CHECKSUMS: &str = "SHA256SUMS";

/// The unit and the settings for it.
const UNIT: &str = "deploy/systemd/podo.service";
const SETTINGS: &str = "deploy/systemd/podo.toml";

/// The manual of all settings, which is also the file of defaults.
const MANUAL: &str = "crates/podo/src/config.default.toml";

/// What the tarball holds beside the program.
const DOCS: [&str; 5] =
    ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "LICENSE-OFL"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Profile {
    Dist,
    /// The debug binary that is already built: its packages are for the tests.
    Dev,
}

pub(crate) fn run(options: &[&str]) -> anyhow::Result<()> {
    let profile = profile_of(options)?;
    let binary = match profile {
        Profile::Dist => build_dist()?,
        Profile::Dev => find_debug()?,
    };
    let folder = root().join(FOLDER);
    Release::read(binary, profile)?.pack(&folder)?;
    println!("wrote {}", folder.display());
    Ok(())
}

fn profile_of(options: &[&str]) -> anyhow::Result<Profile> {
    match options {
        [] | ["--profile", "dist"] => Ok(Profile::Dist),
        ["--profile", "dev"] => Ok(Profile::Dev),
        _ => bail!("`cargo xtask dist` takes only `--profile dist` or `--profile dev`"),
    }
}

/// With the same features as the container image.
fn build_dist() -> anyhow::Result<PathBuf> {
    let build = ["build", "--profile", "dist", "--locked", "--package", "podo", "--bin", "podo"];
    run_command(command("cargo", &build).args(["--features", "kafka-tls"]))?;
    let binary = built("dist").join("podo");
    guards::check(&binary)?;
    Ok(binary)
}

fn find_debug() -> anyhow::Result<PathBuf> {
    let binary = built("debug").join("podo");
    if binary.exists() { Ok(binary) } else { podo::build() }
}

/// What is packed, and under which names.
struct Release {
    binary: PathBuf,
    profile: Profile,
    version: String,
    /// The triple of this machine: we build on the processor that we build for.
    target: String,
    /// The time of the commit, which all files get.
    epoch: String,
}

impl Release {
    fn read(binary: PathBuf, profile: Profile) -> anyhow::Result<Release> {
        let version = read(command("cargo", &["pkgid", "--package", "podo"]).env("NO_COLOR", "1"))?;
        let (_, version) = version.trim().rsplit_once(['#', '@']).context("no version")?;
        let compiler = read(&mut command("rustc", &["--version", "--verbose"]))?;
        let target = compiler.lines().find_map(|line| line.strip_prefix("host: "));
        let epoch = read(&mut command("git", &["log", "-1", "--format=%ct"]))?;
        Ok(Release {
            binary,
            profile,
            version: version.to_owned(),
            target: target.context("rustc names no host")?.to_owned(),
            epoch: epoch.trim().to_owned(),
        })
    }

    /// Writes everything into the folder, which is emptied before.
    fn pack(&self, folder: &Path) -> anyhow::Result<()> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        self.write_tarball(folder)?;
        debian::write(self, folder)?;
        let document = sbom::make(self)?;
        fs::write(folder.join(self.sbom_name()), document)?;
        write_checksums(folder)
    }

    /// `podo-0.1.0-x86_64-unknown-linux-gnu`: the tarball's name and its only folder.
    fn name(&self) -> String {
        format!("podo-{}-{}", self.version, self.target)
    }

    fn tarball_name(&self) -> String {
        format!("{}.tar.gz", self.name())
    }

    fn sbom_name(&self) -> String {
        format!("{}.cdx.json", self.name())
    }

    fn write_tarball(&self, folder: &Path) -> anyhow::Result<()> {
        let stage = Stage::empty()?;
        let inside = |name: &str| format!("{}/{name}", self.name());
        stage.program(&self.binary, &inside("podo"))?;
        for doc in DOCS {
            stage.file(doc, &inside(doc))?;
        }
        stage.file(UNIT, &inside("podo.service"))?;
        stage.file(SETTINGS, &inside("podo.toml"))?;
        stage.file(MANUAL, &inside("podo.manual.toml"))?;
        let level = if self.profile == Profile::Dist { "gzip -n9" } else { "gzip -n1" };
        let mut tar = command("tar", &["--sort=name", "--owner=0", "--group=0"]);
        tar.args(["--numeric-owner", "--mode=u=rwX,go=rX", "--format=ustar"]);
        tar.arg(format!("--mtime=@{}", self.epoch)).args(["--use-compress-program", level]);
        tar.arg("--directory").arg(stage.path()).arg("--create").arg("--file");
        run_command(tar.arg(folder.join(self.tarball_name())).arg(self.name()))
    }
}

fn write_checksums(folder: &Path) -> anyhow::Result<()> {
    let mut names = crate::shell::file_names(folder)?;
    names.sort_unstable();
    let sums = read(command("sha256sum", &["--"]).args(names).current_dir(folder))?;
    fs::write(folder.join(CHECKSUMS), sums).context("the checksums cannot be written")
}

#[test]
fn packages_are_made_of_a_dist_build_unless_another_profile_is_named() {
    assert_eq!(profile_of(&[]).unwrap(), Profile::Dist);
    assert_eq!(profile_of(&["--profile", "dev"]).unwrap(), Profile::Dev);
    assert!(profile_of(&["--profile", "fast"]).is_err());
    assert!(profile_of(&["--release"]).is_err());
}

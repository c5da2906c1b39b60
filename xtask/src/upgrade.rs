//! `cargo xtask upgrade --from REF`: the version of REF and this one on the same engines in the middle
//! of a sale (F15). The old one sells, this one migrates under it, both sell, the old one leaves, and
//! comes back for a moment as after a change of mind. Nothing acknowledged may be lost.

use crate::podo;
use crate::shell::{command, root, run, succeeds};
use crate::shop::Shop;
use anyhow::{Context, bail, ensure};
use podo_testbed::{Launch, Podo, Postgres, Redis, TempDir};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

const DATABASE: &str = "podo";
const ORGANISER: (&str, &str) = ("organiser@podo.example", "green-grapes-2026");

/// Fans of each crowd, and the seconds in which they come.
const FANS: &str = "120";
const OVER_S: &str = "15";

/// Purchases after which the next step is made: in the middle of a sale.
const SOME: u64 = 15;

/// A build without optimisation on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

pub(crate) fn check(from: &str) -> anyhow::Result<()> {
    let old = build_old(from)?;
    let system = System::start(podo::build()?)?;
    let mut old_node = system.node(&old)?;
    let shop = Shop::open(old_node.url(), ORGANISER)?;
    println!("the version of {from} sells");
    let first = system.crowd(&shop, old_node.url(), "first")?;
    system.wait_for(SOME)?;
    println!("this version migrates under it: {}", system.migrate()?);
    let mut new_node = system.node(&system.new)?;
    let second = system.crowd(&shop, new_node.url(), "second")?;
    system.wait_for(system.n_bought()? + 2 * SOME)?;
    println!("both have sold side by side");
    let mut n_bought = first.end()?;
    ensure!(old_node.terminate()?.success(), "the old node did not end well");
    println!("the old one has left");
    n_bought += second.end()?;

    let mut back = system.node(&old)?;
    n_bought += system.crowd(&shop, back.url(), "third")?.end()?;
    ensure!(back.terminate()?.success(), "the old node did not end well the second time");
    ensure!(new_node.terminate()?.success(), "the new node did not end well");
    println!("the old one was back for a moment");
    let kept = system.n_bought()?;
    ensure!(kept == n_bought, "{n_bought} purchases were acknowledged, {kept} are there");
    system.verify()?;
    println!("{n_bought} purchases were acknowledged and all are there; every invariant holds");
    Ok(())
}

/// The program of another commit, in a tree and with a target folder of its own: what it depends on
/// is compiled once and stays.
fn build_old(from: &str) -> anyhow::Result<PathBuf> {
    let home = root().join("target/upgrade");
    let tree = home.join("tree");
    std::fs::create_dir_all(&home)?;
    let path = tree.to_str().context("the path is no text")?;
    if tree.exists() {
        run(command("git", &["checkout", "--detach", from]).current_dir(&tree))?;
    } else {
        // A tree whose folder was deleted is still on the list.
        succeeds(&mut command("git", &["worktree", "prune"]));
        run(&mut command("git", &["worktree", "add", "--detach", path, from]))?;
    }
    let target = home.join("target");
    let mut build = command("cargo", &["build", "--bin", "podo"]);
    run(build.current_dir(&tree).env("CARGO_TARGET_DIR", &target))?;
    Ok(target.join("debug/podo"))
}

/// The engines, and what all nodes share.
struct System {
    new: PathBuf,
    postgres: Postgres,
    redis: Redis,
    folder: TempDir,
}

impl System {
    fn start(new: PathBuf) -> anyhow::Result<System> {
        let postgres = Postgres::start()?;
        postgres.create_database(DATABASE)?;
        let folder = TempDir::with_prefix("podo-upgrade-")?;
        Ok(System { new, postgres, redis: Redis::start()?, folder })
    }

    fn settings(&self) -> [(&'static str, String); 5] {
        [
            ("PODO_STORE_URL", self.postgres.url(DATABASE)),
            ("PODO_LIVE_URL", self.redis.url()),
            ("PODO_LIMITS", "off".to_owned()),
            ("PODO_ADMIN_EMAIL", ORGANISER.0.to_owned()),
            ("PODO_ADMIN_PASSWORD", ORGANISER.1.to_owned()),
        ]
    }

    fn node(&self, binary: &Path) -> anyhow::Result<Podo> {
        let launch = Launch::new(binary).data(self.folder.path()).patience(PATIENCE);
        let settings = self.settings();
        let launch = settings.iter().fold(launch, |launch, (name, value)| launch.env(name, value));
        Ok(launch.start()?)
    }

    /// This version's program on the engines.
    fn podo(&self, arguments: &[&str]) -> Command {
        let mut podo = Command::new(&self.new);
        podo.env_clear().envs(self.settings()).args(arguments);
        podo.arg("--data").arg(self.folder.path());
        podo
    }

    /// Says which version the schema had and has.
    fn migrate(&self) -> anyhow::Result<String> {
        let version = "select max(version) from common.refinery_schema_history";
        let before = self.postgres.psql(DATABASE, version)?;
        run(&mut self.podo(&["migrate"]))?;
        let after = self.postgres.psql(DATABASE, version)?;
        Ok(format!("V{} is V{} now", before.trim(), after.trim()))
    }

    fn verify(&self) -> anyhow::Result<()> {
        run(&mut self.podo(&["verify"]))
    }

    fn n_bought(&self) -> anyhow::Result<u64> {
        let sql =
            "select count(*) from reservation_service.reservations where status = 'CONFIRMED'";
        let text = self.postgres.psql(DATABASE, sql)?;
        text.trim().parse().with_context(|| format!("`{text}` is no number"))
    }

    fn wait_for(&self, n_bought: u64) -> anyhow::Result<()> {
        let start = Instant::now();
        while self.n_bought()? < n_bought {
            if start.elapsed() > PATIENCE {
                bail!("{n_bought} purchases did not come within {PATIENCE:?}");
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }

    /// Fans who sign up and buy at this node.
    fn crowd(&self, shop: &Shop, url: &str, name: &str) -> anyhow::Result<Crowd> {
        let report = self.folder.path().join(format!("{name}.json"));
        let mut bench = self.podo(&["bench", "--url", url, "--schedule", &shop.schedule]);
        bench.args(["--fans", FANS, "--over", OVER_S, "--card", "0.3", "--json"]).arg(&report);
        bench.stdout(std::process::Stdio::null());
        Ok(Crowd { process: bench.spawn()?, report })
    }
}

struct Crowd {
    process: Child,
    report: PathBuf,
}

impl Crowd {
    /// Waits until everybody is home: how many purchases were acknowledged. No answer may have been
    /// one that should not be.
    fn end(mut self) -> anyhow::Result<u64> {
        ensure!(self.process.wait()?.success(), "the crowd could not play");
        let text = std::fs::read_to_string(&self.report)?;
        let report: serde_json::Value = serde_json::from_str(&text)?;
        let sale = &report["sale"];
        ensure!(sale["unexpected"] == 0, "unexpected answers: {}", sale["samples"]);
        let purchases = sale["purchases"].as_array().context("the report has no purchases")?;
        Ok(purchases.len() as u64)
    }
}

